"""The pendulum with torsional spring and damper of Jay and Negrut, and a prescribed mass."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from genalpha.mechanisms._build import NO_MULTIPLIER, Matrix, StateHistory, Vector, assemble, ready
from genalpha.model import Mechanism, Motion, Reference

_REST = 1.5 * pi


@dataclass(frozen=True)
class _Rod:
    """A rod of length 2 L hinged at the origin: its centre (x, y) and its angle."""

    rod_mass: float
    length: float
    spring: float
    damper: float
    gravity: float

    @property
    def mass(self) -> Matrix:
        m = self.rod_mass
        return np.diag([m, m, m * self.length**2 / 3.0])

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        torque = -self.damper * float(v[2]) - self.spring * (float(q[2]) - _REST)
        return np.array([0.0, -self.rod_mass * self.gravity, torque])

    def holonomic(self, t: float, q: Vector) -> Vector:
        x, y, theta = q.tolist()
        return np.array([x - self.length * cos(theta), y - self.length * sin(theta)])

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        theta = float(q[2])
        return np.array(
            [[1.0, 0.0, self.length * sin(theta)], [0.0, 1.0, -self.length * cos(theta)]]
        )

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        theta, (vx, vy, omega) = float(q[2]), v.tolist()
        arm = self.length * omega
        return np.array([vx + arm * sin(theta), vy - arm * cos(theta)])

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        theta, pull = float(q[2]), self.length * float(v[2]) ** 2
        return np.array([pull * cos(theta), pull * sin(theta)])

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        theta, (lam1, lam2) = float(q[2]), lam.tolist()
        matrix = np.zeros((3, 3))
        matrix[2, 2] = self.spring + self.length * (lam1 * cos(theta) + lam2 * sin(theta))
        return matrix

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        matrix = np.zeros((3, 3))
        matrix[2, 2] = self.damper
        return matrix

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        vx, vy, omega = v.tolist()
        kinetic = 0.5 * self.rod_mass * (vx * vx + vy * vy + (self.length * omega) ** 2 / 3.0)
        strain = 0.5 * self.spring * (float(q[2]) - _REST) ** 2
        return float(kinetic + strain + self.rod_mass * self.gravity * q[1])

    def angular(self, angle: float, rate: float) -> float:
        """Return theta'' from the underlying ODE printed in section 5.2 of the 2007 paper."""
        m, length = self.rod_mass, self.length
        torque = -self.damper * rate - self.spring * (angle - _REST)
        return (torque - m * self.gravity * length * cos(angle)) / (4.0 * m * length**2 / 3.0)

    def motion(self, angle: float, rate: float) -> Motion:
        """Return the motion of all coordinates for the angle and its rate."""
        m, length, s, c = self.rod_mass, self.length, sin(angle), cos(angle)
        turn = self.angular(angle, rate)
        ax = -length * (s * turn + c * rate**2)
        ay = length * (c * turn - s * rate**2)
        return Motion(
            np.array([length * c, length * s, angle]),
            np.array([-length * s * rate, length * c * rate, rate]),
            np.array([ax, ay, turn]),
            np.array([-m * ax, -m * (self.gravity + ay)]),
            NO_MULTIPLIER,
        )


@ready
def pendulum_jn(
    rod_mass: float = 5.0,
    length: float = 2.0,
    spring: float = 3000.0,
    damper: float = 100.0,
    gravity: float = 9.81,
    angle0: float = _REST,
    rate0: float = 10.0,
) -> Mechanism:
    """Return the pendulum (16) of Jay and Negrut 2008, also 5.2 of their 2007 paper.

    A rod hinged at the origin, its centre at distance L, with a torsional spring and damper:
    3 coordinates (x, y, theta), 2 holonomic constraints. The reference integrates the
    equation of theta that the 2007 paper prints; the multipliers follow from it in closed form. An
    energy is given only without damper.

    Parameters
    ----------
    rod_mass : float
        In kg.
    length : float
        L, distance of the centre from the hinge (m).
    spring : float
        N m, at rest for theta = 3 pi / 2.
    damper : float
        In N m s.
    gravity : float
        In m/s^2.
    angle0, rate0 : float
        Initial theta (rad) and its rate (rad/s).
    """
    model = _Rod(rod_mass, length, spring, damper, gravity)

    def rhs(t: float, x: Vector) -> Vector:
        angle, rate = x.tolist()
        return np.array([rate, model.angular(angle, rate)])

    history = StateHistory(rhs, 0.0, np.array([angle0, rate0]), segment=0.05)
    start = model.motion(angle0, rate0)
    return assemble(
        model, q0=start.q, v0=start.v, lam0=start.lam,
        energy=model.energy if damper == 0.0 else None,
        reference=Reference(
            source="DOP853 on the equation of theta in section 5.2 of Jay and Negrut 2007",
            motion=lambda t: model.motion(*history(t).tolist()),
            digits=12.0,
        ),
        constraint_names=["hinge x", "hinge y"],
        coordinate_names=["x", "y", "theta"], name="pendulum_jn",
    )  # fmt: skip


@dataclass(frozen=True)
class _Prescribed:
    point_mass: float
    acceleration: float

    @property
    def mass(self) -> Matrix:
        return np.array([[self.point_mass]])

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.zeros(1)

    def holonomic(self, t: float, q: Vector) -> Vector:
        return q - 0.5 * self.acceleration * t * t

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        return np.ones((1, 1))

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return v - self.acceleration * t

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([-self.acceleration])

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return np.zeros((1, 1))

    damping = stiffness

    def motion(self, t: float) -> Motion:
        a = self.acceleration
        lam = np.array([-self.point_mass * a])
        return Motion(
            np.array([0.5 * a * t * t]), np.array([a * t]), np.array([a]), lam, NO_MULTIPLIER
        )


@ready
def prescribed_mass(point_mass: float = 1.0, acceleration: float = 3.0) -> Mechanism:
    """Return a mass on a line whose position is prescribed as x = a t^2 / 2.

    The smallest rheonomic mechanism: no force, and the reaction -lam must be m a, so that
    lam = -m a exactly.

    Parameters
    ----------
    point_mass : float
        In kg.
    acceleration : float
        In m/s^2.
    """
    model = _Prescribed(point_mass, acceleration)
    start = model.motion(0.0)
    return assemble(
        model, q0=start.q, v0=start.v, lam0=start.lam, constraint_names=["x(t)"],
        reference=Reference(source="exact solution", motion=model.motion, digits=15.0),
        coordinate_names=["x"], name="prescribed_mass",
    )  # fmt: skip
