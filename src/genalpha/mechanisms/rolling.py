"""The rolling disk of Jay: five coordinates, two nonholonomic constraints."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin

import numpy as np

from genalpha.mechanisms._build import NO_MULTIPLIER, Matrix, StateHistory, Vector, assemble, ready
from genalpha.model import Mechanism, Motion, Reference


@dataclass(frozen=True)
class _Disk:
    """Notation of Jay: q = (contact x, contact y, tilt, heading, roll), c3 = cos q3, ..."""

    disk_mass: float
    radius: float
    I1: float
    I2: float
    gravity: float

    def _constants(self) -> tuple[float, float, float]:
        """Return m r, m r^2 + I2 - I1 and m g r, which most terms share."""
        mr = self.disk_mass * self.radius
        return mr, mr * self.radius + self.I2 - self.I1, mr * self.gravity

    def mass(self, t: float, q: Vector) -> Matrix:
        m, mr = self.disk_mass, self.disk_mass * self.radius
        _, _, q3, q4, _ = q.tolist()
        s3, c3, s4, c4 = sin(q3), cos(q3), sin(q4), cos(q4)
        a, b = -mr * c3 * s4, mr * c3 * c4
        c, d, e = -mr * s3 * c4, -mr * s3 * s4, self.I2 * s3
        yaw = mr * self.radius * s3 * s3 + self.I1 * c3 * c3 + e * s3
        return np.array(
            [
                [m, 0.0, a, c, 0.0],
                [0.0, m, b, d, 0.0],
                [a, b, mr * self.radius + self.I1, 0.0, 0.0],
                [c, d, 0.0, yaw, e],
                [0.0, 0.0, 0.0, e, self.I2],
            ]
        )

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        mr, j, mgr = self._constants()
        _, _, q3, q4, _ = q.tolist()
        _, _, v3, v4, v5 = v.tolist()
        s3, c3, s4, c4 = sin(q3), cos(q3), sin(q4), cos(q4)
        radial, cross = mr * s3 * (v3 * v3 + v4 * v4), 2.0 * mr * c3 * v3 * v4
        return np.array(
            [
                cross * c4 - radial * s4,
                cross * s4 + radial * c4,
                v4 * c3 * (j * v4 * s3 + self.I2 * v5) + mgr * s3,
                -v3 * c3 * (2.0 * j * v4 * s3 + self.I2 * v5),
                -self.I2 * v3 * v4 * c3,
            ]
        )

    def nonholonomic(self, t: float, q: Vector, v: Vector) -> Vector:
        q4, r5, (v1, v2) = float(q[3]), self.radius * float(v[4]), v[:2].tolist()
        return np.array([v1 - r5 * cos(q4), v2 - r5 * sin(q4)])

    def nonholonomic_jacobian(self, t: float, q: Vector, v: Vector) -> Matrix:
        q4, r = float(q[3]), self.radius
        return np.array([[1.0, 0.0, 0.0, 0.0, -r * cos(q4)], [0.0, 1.0, 0.0, 0.0, -r * sin(q4)]])

    def nonholonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        q4, turn = float(q[3]), self.radius * float(v[4]) * float(v[3])
        return np.array([turn * sin(q4), -turn * cos(q4)])

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        mr, j, mgr = self._constants()
        (_, _, q3, q4, _), (_, _, v3, v4, v5) = q.tolist(), v.tolist()
        (a1, a2, a3, a4, a5), (psi1, psi2), i2 = vdot.tolist(), psi.tolist(), self.I2
        s3, c3, s4, c4 = sin(q3), cos(q3), sin(q4), cos(q4)
        square, twice = v3 * v3 + v4 * v4, 2.0 * v3 * v4
        along, across = a1 * c4 + a2 * s4, a1 * s4 - a2 * c4
        inward, tangential = a3 * s3 + c3 * square, a4 * c3 - s3 * twice
        outward, sideways = a4 * s3 + c3 * twice, a3 * c3 - s3 * square
        double = c3 * c3 - s3 * s3
        matrix = np.zeros((5, 5))
        matrix[:, 2] = (
            mr * (inward * s4 - tangential * c4),
            mr * (-inward * c4 - tangential * s4),
            -j * v4 * v4 * double + i2 * v4 * v5 * s3 + mr * s3 * across - mgr * c3,
            i2 * (a5 * c3 - v3 * v5 * s3) - mr * c3 * along
            + 2.0 * j * (a4 * s3 * c3 + v3 * v4 * double),
            i2 * (a4 * c3 - v3 * v4 * s3),
        )  # fmt: skip
        matrix[:, 3] = (
            mr * (outward * s4 - sideways * c4),
            -mr * (sideways * s4 + outward * c4),
            -mr * c3 * along,
            mr * s3 * across,
            self.radius * (psi1 * s4 - psi2 * c4),
        )
        return matrix

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        mr, j, _ = self._constants()
        _, _, q3, q4, _ = q.tolist()
        _, _, v3, v4, v5 = v.tolist()
        s3, c3, s4, c4, i2 = sin(q3), cos(q3), sin(q4), cos(q4), self.I2
        radial3, cross3 = 2.0 * mr * s3 * v3, 2.0 * mr * c3 * v4
        radial4, cross4 = 2.0 * mr * s3 * v4, 2.0 * mr * c3 * v3
        spin = c3 * (2.0 * j * v4 * s3 + i2 * v5)
        return np.array(
            [
                [0.0, 0.0, radial3 * s4 - cross3 * c4, radial4 * s4 - cross4 * c4, 0.0],
                [0.0, 0.0, -radial3 * c4 - cross3 * s4, -radial4 * c4 - cross4 * s4, 0.0],
                [0.0, 0.0, 0.0, -spin, -i2 * v4 * c3],
                [0.0, 0.0, spin, 2.0 * j * v3 * s3 * c3, i2 * v3 * c3],
                [0.0, 0.0, i2 * v4 * c3, i2 * v3 * c3, 0.0],
            ]
        )

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        potential = self.disk_mass * self.gravity * self.radius * cos(float(q[2]))
        return float(0.5 * v @ self.mass(t, q) @ v) + potential

    def reduced(self, q: Vector, u: Vector) -> tuple[Vector, Vector, Vector]:
        """Return v and vdot for the free velocities u = (v3, v4, v5), and their rates.

        v = B u with B from the constraints, hence B^T M B u' = B^T (f - M B' u).
        """
        r, q4 = self.radius, float(q[3])
        basis, rate = np.zeros((5, 3)), np.zeros(5)
        basis[2:] = np.eye(3)
        basis[0, 2], basis[1, 2] = r * cos(q4), r * sin(q4)
        rate[0], rate[1] = -r * sin(q4) * u[1] * u[2], r * cos(q4) * u[1] * u[2]
        mass, v = self.mass(0.0, q), basis @ u
        right = basis.T @ (self.force(0.0, q, v) - mass @ rate)
        udot = np.linalg.solve(basis.T @ mass @ basis, right)
        return v, basis @ udot + rate, udot

    def motion(self, x: Vector) -> Motion:
        """Return the motion for x = (q, u); the first two equations give psi."""
        q = x[:5]
        v, vdot, _ = self.reduced(q, x[5:])
        psi = (self.force(0.0, q, v) - self.mass(0.0, q) @ vdot)[:2]
        return Motion(q, v, vdot, NO_MULTIPLIER, psi)


@ready
def rolling_disk(
    disk_mass: float = 2.0,
    radius: float = 1.0,
    I1: float = 2.0,
    I2: float = 2.0,
    gravity: float = 10.0,
    q0: tuple[float, ...] = (0.1, 0.0, 0.3, 0.0, 1.0),
    u0: tuple[float, float, float] = (0.02, -0.02, 0.1),
) -> Mechanism:
    """Return the rolling disk (7.2) of Jay, from the Lagrangian printed under it.

    q = (x, y of the contact point, tilt, heading, roll angle); rolling without slipping is
    v1 = r v5 cos q4, v2 = r v5 sin q4. Erratum: the printed f_4 lacks -I2 v3 v5 cos q3, which
    the Lagrangian demands; with it the energy is conserved, without it it is not. All other
    printed terms agree with the Lagrangian. The reference integrates the equations in
    (q, v3, v4, v5), from which the constraints are eliminated. From the paper's start the disk
    falls, after about one second through the plane, which nothing holds up here.

    Parameters
    ----------
    disk_mass : float
        In kg.
    radius : float
        In m.
    I1, I2 : float
        Moments of inertia about a diameter and about the axis (kg m^2).
    gravity : float
        In m/s^2.
    q0 : tuple[float, ...]
        Initial position.
    u0 : tuple[float, float, float]
        Initial rates of tilt, heading and roll; v1, v2 follow from the constraints.
    """
    model = _Disk(disk_mass, radius, I1, I2, gravity)

    def rhs(t: float, x: Vector) -> Vector:
        v, _, udot = model.reduced(x[:5], x[5:])
        return np.concatenate([v, udot])

    x0 = np.array([*q0, *u0], dtype=float)
    history = StateHistory(rhs, 0.0, x0, segment=0.1)
    start = model.motion(x0)
    return assemble(
        model, q0=start.q, v0=start.v, psi0=start.psi,
        reference=Reference(
            source="DOP853 on the equations without multipliers, relative tolerance 1e-13",
            motion=lambda t: model.motion(history(t)), digits=12.0,
        ),
        constraint_names=["rolling x", "rolling y"],
        coordinate_names=["contact x", "contact y", "tilt", "heading", "roll"], name="rolling_disk",
    )  # fmt: skip
