"""Skates: the knife edge on an incline and the Chaplygin sleigh."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from genalpha.mechanisms._build import (
    NO_MULTIPLIER,
    Matrix,
    StateHistory,
    Vector,
    assemble,
    index_one,
    parts_of,
    ready,
)
from genalpha.model import Mechanism, Motion, Reference


@dataclass(frozen=True)
class _Skate:
    """Blade at distance `offset` behind the centre (x, y); phi is the blade's direction."""

    body_mass: float
    inertia: float
    pull: float
    offset: float

    @property
    def mass(self) -> Matrix:
        return np.diag([self.body_mass, self.body_mass, self.inertia])

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([self.pull, 0.0, 0.0])

    def nonholonomic(self, t: float, q: Vector, v: Vector) -> Vector:
        (vx, vy, rate), phi = v.tolist(), float(q[2])
        return np.array([vx * sin(phi) - vy * cos(phi) + self.offset * rate])

    def nonholonomic_jacobian(self, t: float, q: Vector, v: Vector) -> Matrix:
        phi = float(q[2])
        return np.array([[sin(phi), -cos(phi), self.offset]])

    def nonholonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        (vx, vy, rate), phi = v.tolist(), float(q[2])
        return np.array([rate * (vx * cos(phi) + vy * sin(phi))])

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        phi, psi1 = float(q[2]), float(psi[0])
        matrix = np.zeros((3, 3))
        matrix[0, 2], matrix[1, 2] = psi1 * cos(phi), psi1 * sin(phi)
        return matrix

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return np.zeros((3, 3))

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        vx, vy, rate = v.tolist()
        kinetic = 0.5 * (self.body_mass * (vx * vx + vy * vy) + self.inertia * rate * rate)
        return float(kinetic - self.pull * q[0])


@ready
def knife_edge(
    body_mass: float = 1.25,
    inertia: float = 0.13,
    gravity: float = 9.81,
    incline: float = 0.25 * pi,
    rate0: float = pi / 3.0,
) -> Mechanism:
    """Return the knife edge on an inclined plane (Bloch 2015, section 1.6), exact solution.

    q = (x down the slope, y across it, phi); k = x' sin phi - y' cos phi = 0. It starts at
    rest in x and y with phi' = Omega, and does not slide down for ever: x stays bounded.

    Parameters
    ----------
    body_mass : float
        In kg.
    inertia : float
        In kg m^2.
    gravity : float
        In m/s^2.
    incline : float
        Angle of the plane (rad).
    rate0 : float
        Rate Omega of the turn (rad/s), not zero.
    """
    slope = gravity * sin(incline)
    model = _Skate(body_mass, inertia, body_mass * slope, 0.0)

    def motion(t: float) -> Motion:
        phi, w = rate0 * t, rate0
        s, c = sin(phi), cos(phi)
        return Motion(
            np.array([0.5 * slope / w**2 * s * s, 0.5 * slope / w**2 * (phi - s * c), phi]),
            np.array([slope / w * s * c, slope / w * s * s, w]),
            np.array([slope * (c * c - s * s), 2.0 * slope * s * c, 0.0]),
            NO_MULTIPLIER,
            np.array([2.0 * body_mass * slope * s]),
        )

    return assemble(
        model, q0=np.zeros(3), v0=np.array([0.0, 0.0, rate0]), psi0=np.zeros(1),
        reference=Reference(source="exact solution (Bloch 2015, 1.6)", motion=motion, digits=14.0),
        constraint_names=["blade"], coordinate_names=["x", "y", "heading"], name="knife_edge",
    )  # fmt: skip


@ready
def chaplygin_sleigh(
    body_mass: float = 1.0,
    inertia: float = 0.2,
    offset: float = 0.5,
    speed0: float = 0.3,
    rate0: float = 2.0,
) -> Mechanism:
    """Return the Chaplygin sleigh: a body on a plane with a blade behind its centre of mass.

    q = (x, y of the centre, phi), k = x' sin phi - y' cos phi + a phi' = 0. In the speed s
    along the blade and w = phi', the equations are s' = a w^2, (J + m a^2) w' = -m a s w
    (Bloch 2015, section 1.7); the reference integrates them with the position.

    Parameters
    ----------
    body_mass : float
        In kg.
    inertia : float
        J about the centre (kg m^2).
    offset : float
        Distance a from the blade to the centre of mass (m).
    speed0, rate0 : float
        Initial s (m/s) and w (rad/s); phi = 0, x = y = 0.
    """
    model = _Skate(body_mass, inertia, 0.0, offset)
    parts = parts_of(model)
    pull = body_mass * offset / (inertia + body_mass * offset**2)

    def velocity(phi: float, s: float, w: float) -> tuple[float, float]:
        side = offset * w
        return s * cos(phi) - side * sin(phi), s * sin(phi) + side * cos(phi)

    def rhs(t: float, x: Vector) -> Vector:
        _, _, phi, s, w = x.tolist()
        return np.array([*velocity(phi, s, w), w, offset * w * w, -pull * s * w])

    def motion_at(t: float, x: Vector) -> Motion:
        _, _, phi, s, w = x.tolist()
        return index_one(parts, t, x[:3], np.array([*velocity(phi, s, w), w]))

    x0 = np.array([0.0, 0.0, 0.0, speed0, rate0])
    history = StateHistory(rhs, 0.0, x0, segment=0.1)
    start = motion_at(0.0, x0)
    return assemble(
        model, q0=start.q, v0=start.v, psi0=start.psi,
        reference=Reference(
            source="DOP853 on the equations in blade coordinates, relative tolerance 1e-13",
            motion=lambda t: motion_at(t, history(t)), digits=12.0,
        ),
        constraint_names=["blade"], coordinate_names=["x", "y", "heading"],
        name="chaplygin_sleigh",
    )  # fmt: skip
