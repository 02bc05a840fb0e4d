"""Mechanisms in space: the spherical pendulum and the heavy top with unit quaternions."""

from __future__ import annotations

import numpy as np

from genalpha.mechanisms._build import (
    Matrix,
    StateHistory,
    Vector,
    assemble,
    index_one,
    index_reduced_reference,
    parts_of,
    ready,
)
from genalpha.model import Mechanism, Motion, Reference


class _Spherical:
    def __init__(self, point_mass: float, length: float, gravity: float) -> None:
        self.mass = point_mass * np.eye(3)
        self.length = length
        self._weight = np.array([0.0, 0.0, -point_mass * gravity])

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        return self._weight.copy()

    def holonomic(self, t: float, q: Vector) -> Vector:
        return np.array([0.5 * (float(q @ q) - self.length**2)])

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        return q.reshape(1, 3).copy()

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([q @ v])

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([v @ v])

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return float(lam[0]) * np.eye(3)

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return np.zeros((3, 3))

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        return float(0.5 * self.mass[0, 0] * (v @ v) - self._weight @ q)


@ready
def spherical_pendulum(
    point_mass: float = 1.0,
    length: float = 1.0,
    gravity: float = 9.81,
    angle0: float = 1.0,
    speed0: float = 2.0,
) -> Mechanism:
    """Return the spherical pendulum in Cartesian coordinates.

    g(q) = (|q|^2 - L^2) / 2. It starts in the plane y = 0 with a horizontal velocity. Energy
    and the vertical angular momentum are conserved.

    Parameters
    ----------
    point_mass : float
        In kg.
    length : float
        In m.
    gravity : float
        In m/s^2.
    angle0 : float
        Initial angle from the downward vertical (rad).
    speed0 : float
        Initial speed in y (m/s).
    """
    model = _Spherical(point_mass, length, gravity)
    parts = parts_of(model)
    q0 = length * np.array([np.sin(angle0), 0.0, -np.cos(angle0)])
    v0 = np.array([0.0, speed0, 0.0])
    return assemble(
        model, q0=q0, v0=v0, lam0=index_one(parts, 0.0, q0, v0).lam, constraint_names=["rod"],
        reference=index_reduced_reference(parts, (0.0, q0, v0), 0.1, 12.0),
        coordinate_names=["x", "y", "z"], name="spherical_pendulum",
    )  # fmt: skip


def _skew(w: Vector) -> Matrix:
    x, y, z = w.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _rate_matrix(p: Vector) -> Matrix:
    """Return E(p), 3 x 4, with body angular velocity 2 E(p) p' and E(p) x = -E(x) p."""
    e0, e1, e2, e3 = p.tolist()
    return np.array([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])


def _transposed_by(w: Vector) -> Matrix:
    """Return N(w), 4 x 4, with E(p)^T w = N(w) p."""
    matrix = np.zeros((4, 4))
    matrix[0, 1:], matrix[1:, 0], matrix[1:, 1:] = -w, w, -_skew(w)
    return matrix


def _turned_point(arm: Vector) -> Matrix:
    """Return A, 3 x 4 x 4 and symmetric, with R(p) arm = p^T A p for unit quaternions p."""
    tensor = np.zeros((3, 4, 4))
    tensor[:, 0, 0] = arm
    tensor[:, 0, 1:] = tensor[:, 1:, 0] = -_skew(arm)
    for i, unit in enumerate(np.eye(3)):
        tensor[i, 1:, 1:] = np.outer(unit, arm) + np.outer(arm, unit) - arm[i] * np.eye(3)
    return tensor


class _HeavyTop:
    """q = (x, p): centre of mass and unit quaternion (scalar first, body to space)."""

    def __init__(self, body_mass: float, inertia: Vector, arm: Vector, gravity: float) -> None:
        self.body_mass, self.arm, self.gravity = body_mass, arm, gravity
        self.J = np.diag(inertia)
        self.A = _turned_point(arm)
        # p^T p p'' + |p'|^2 p^T vanishes on |p| = 1: weighted by c it makes the mass regular
        # and changes neither the motion nor the multipliers.
        self.c = 4.0 * float(np.mean(inertia))

    def mass(self, t: float, q: Vector) -> Matrix:
        p = q[3:]
        E = _rate_matrix(p)
        matrix = np.zeros((7, 7))
        matrix[:3, :3] = self.body_mass * np.eye(3)
        matrix[3:, 3:] = 4.0 * E.T @ self.J @ E + self.c * np.outer(p, p)
        return matrix

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        p, p1 = q[3:], v[3:]
        force = np.zeros(7)
        force[2] = -self.body_mass * self.gravity
        spin = self.J @ (_rate_matrix(p) @ p1)
        force[3:] = -8.0 * (_rate_matrix(p1).T @ spin) - self.c * float(p1 @ p1) * p
        return force

    def holonomic(self, t: float, q: Vector) -> Vector:
        p = q[3:]
        return np.append(q[:3] - (self.A @ p) @ p, 0.5 * (p @ p - 1.0))

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        matrix = np.zeros((4, 7))
        matrix[:3, :3] = np.eye(3)
        matrix[:3, 3:] = -2.0 * (self.A @ q[3:])
        matrix[3, 3:] = q[3:]
        return matrix

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        p, p1 = q[3:], v[3:]
        return np.append(v[:3] - 2.0 * ((self.A @ p) @ p1), p @ p1)

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        p1 = v[3:]
        return np.append(-2.0 * ((self.A @ p1) @ p1), p1 @ p1)

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        p, p1, p2, c = q[3:], v[3:], vdot[3:], self.c
        E, E1, E2 = _rate_matrix(p), _rate_matrix(p1), _rate_matrix(p2)
        block = 4.0 * (_transposed_by(self.J @ (E @ p2)) - E.T @ self.J @ E2)
        block += c * np.outer(p, p2) - 8.0 * (E1.T @ self.J @ E1)
        block -= 2.0 * np.tensordot(lam[:3], self.A, 1)
        block[np.diag_indices(4)] += c * float(p @ p2 + p1 @ p1) + float(lam[3])
        matrix = np.zeros((7, 7))
        matrix[3:, 3:] = block
        return matrix

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        p, p1 = q[3:], v[3:]
        E = _rate_matrix(p)
        matrix = np.zeros((7, 7))
        matrix[3:, 3:] = 8.0 * (_transposed_by(self.J @ (E @ p1)) + _rate_matrix(p1).T @ self.J @ E)
        matrix[3:, 3:] += 2.0 * self.c * np.outer(p, p1)
        return matrix

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        spin = 2.0 * _rate_matrix(q[3:]) @ v[3:]
        kinetic = 0.5 * (self.body_mass * (v[:3] @ v[:3]) + spin @ self.J @ spin)
        return float(kinetic + self.body_mass * self.gravity * q[2])

    def place(self, x: Vector) -> tuple[Vector, Vector]:
        """Return (q, v) for the state (p, body angular velocity)."""
        p, spin = x[:4] / np.linalg.norm(x[:4]), x[4:]
        p1 = 0.5 * _rate_matrix(p).T @ spin
        turned = self.A @ p
        return np.append(turned @ p, p), np.append(2.0 * (turned @ p1), p1)

    def euler(self, t: float, x: Vector) -> Vector:
        """Return the rate of (p, body angular velocity): Euler's equations about the tip."""
        p, spin = x[:4], x[4:]
        about_tip = self.J + self.body_mass * (
            float(self.arm @ self.arm) * np.eye(3) - np.outer(self.arm, self.arm)
        )
        down = -self.body_mass * self.gravity * _third_row(p)  # the weight in the body frame
        moment = np.cross(self.arm, down) - np.cross(spin, about_tip @ spin)
        return np.append(0.5 * _rate_matrix(p).T @ spin, np.linalg.solve(about_tip, moment))


def _third_row(p: Vector) -> Vector:
    """Return R(p)^T (0, 0, 1)."""
    e0, e1, e2, e3 = p.tolist()
    return np.array(
        [2.0 * (e1 * e3 - e0 * e2), 2.0 * (e2 * e3 + e0 * e1), e0**2 - e1**2 - e2**2 + e3**2]
    )


@ready
def heavy_top(
    body_mass: float = 15.0,
    inertia: tuple[float, float, float] = (0.234375, 0.46875, 0.234375),
    arm: tuple[float, float, float] = (0.0, 1.0, 0.0),
    spin0: tuple[float, float, float] = (0.0, 150.0, -4.61538),
    gravity: float = 9.81,
) -> Mechanism:
    """Return the heavy top of the Lie-group benchmarks, with a unit quaternion.

    q = (x, p): the centre of mass and the quaternion (scalar first, body to space) with
    g = (x - R(p) X, (|p|^2 - 1) / 2). The quaternion equations follow from the kinetic energy
    2 p'^T E^T J E p'; a term that vanishes on |p| = 1 makes the mass matrix regular without
    changing motion or multipliers. The reference integrates Euler's equations about the tip;
    published values (5 digits) and a table of 14 digits are in `references/heavy_top.json`.

    Parameters
    ----------
    body_mass : float
        In kg.
    inertia : tuple[float, float, float]
        Principal moments about the centre of mass (kg m^2).
    arm : tuple[float, float, float]
        X, the centre of mass in the body frame, from the tip (m).
    spin0 : tuple[float, float, float]
        Initial angular velocity in the body frame (rad/s); R(0) = I.
    gravity : float
        In m/s^2.
    """
    model = _HeavyTop(body_mass, np.array(inertia), np.array(arm), gravity)
    parts = parts_of(model)
    x0 = np.array([1.0, 0.0, 0.0, 0.0, *spin0])
    history = StateHistory(model.euler, 0.0, x0, segment=0.005)

    def motion(t: float) -> Motion:
        return index_one(parts, t, *model.place(history(t)))

    start = motion(0.0)
    return assemble(
        model, q0=start.q, v0=start.v, lam0=start.lam,
        constraint_names=["tip x", "tip y", "tip z", "unit quaternion"],
        reference=Reference(
            source="DOP853 on Euler's equations about the tip, relative tolerance 1e-13",
            motion=motion, digits=10.0,
        ),
        coordinate_names=["x", "y", "z", "e0", "e1", "e2", "e3"], name="heavy_top",
    )  # fmt: skip
