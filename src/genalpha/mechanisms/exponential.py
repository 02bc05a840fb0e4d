"""The papers' mathematical test problems: q = (e^t, e^-2t) solves all three.

None is a mechanism: the mass matrix of two of them is not symmetric, and the reactions are
nonlinear in the multipliers. They test orders of convergence in every component.
"""

from __future__ import annotations

from math import cos, exp, sin

import numpy as np

from genalpha.mechanisms._build import NO_MULTIPLIER, Matrix, Vector, assemble, ready
from genalpha.model import Mechanism, Motion, Reference


def _exact(name: str, holonomic: bool, nonholonomic: str | None) -> Reference:
    """Return q = (e^t, e^-2t) with lam = e^-t and psi = e^t or e^-t where they exist."""
    sign = {"growing": 1.0, "decaying": -1.0, None: 0.0}[nonholonomic]

    def motion(t: float) -> Motion:
        up, down = exp(t), exp(-2.0 * t)
        return Motion(
            np.array([up, down]),
            np.array([up, -2.0 * down]),
            np.array([up, 4.0 * down]),
            np.array([exp(-t)]) if holonomic else NO_MULTIPLIER,
            np.array([exp(sign * t)]) if nonholonomic else NO_MULTIPLIER,
        )

    return Reference(source=f"exact solution, {name}", motion=motion, digits=15.0)


class _Surface:
    """The holonomic constraint q1^2 q2 = 1 of (15c), and of 5.1 in the 2007 paper."""

    @staticmethod
    def holonomic(t: float, q: Vector) -> Vector:
        q1, q2 = q.tolist()
        return np.array([q1 * q1 * q2 - 1.0])

    @staticmethod
    def holonomic_jacobian(t: float, q: Vector) -> Matrix:
        q1, q2 = q.tolist()
        return np.array([[2.0 * q1 * q2, q1 * q1]])

    @staticmethod
    def holonomic_rate(t: float, q: Vector, v: Vector) -> Vector:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        return np.array([2.0 * q1 * q2 * v1 + q1 * q1 * v2])

    @staticmethod
    def holonomic_acceleration(t: float, q: Vector, v: Vector) -> Vector:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        return np.array([2.0 * v1 * (q2 * v1 + 2.0 * q1 * v2)])


class _HHT(_Surface):
    @staticmethod
    def force(t: float, q: Vector, v: Vector) -> Vector:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        return np.array([q1 * v2 + 2.0 * q2 * v1, q2 * v2 * (0.5 - 2.0 * q1 * v1)])

    @staticmethod
    def reaction(t: float, q: Vector, v: Vector, lam: Vector, psi: Vector) -> Vector:
        lam1 = float(lam[0])
        return np.array([exp(t) * q[0] * lam1, q[1] * lam1 * lam1])

    @staticmethod
    def reaction_jacobian(t: float, q: Vector, v: Vector, lam: Vector, psi: Vector) -> Matrix:
        return np.array([[exp(t) * q[0]], [2.0 * q[1] * lam[0]]])

    @staticmethod
    def stiffness(t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector) -> Matrix:
        (q1, q2), (v1, v2), lam1 = q.tolist(), v.tolist(), float(lam[0])
        return -np.array(
            [
                [v2 + exp(t) * lam1, 2.0 * v1],
                [-2.0 * q2 * v1 * v2, v2 * (0.5 - 2.0 * q1 * v1) + lam1 * lam1],
            ]
        )

    @staticmethod
    def damping(t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector) -> Matrix:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        return -np.array([[2.0 * q2, q1], [-2.0 * q1 * q2 * v2, q2 * (0.5 - 2.0 * q1 * v1)]])


class _Jay:
    """Problem (7.1) of Jay; (15) of Jay and Negrut 2008 adds terms to it."""

    @staticmethod
    def mass(t: float, q: Vector) -> Matrix:
        q1, q2 = q.tolist()
        return np.array([[q1, q2 - exp(-2.0 * t)], [sin(q1 - exp(t)), q1 * q2]])

    @staticmethod
    def force(t: float, q: Vector, v: Vector) -> Vector:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        up = exp(t)
        return np.array([up * (q1 * v2 + 2.0 * q2 * v1), q2 * v2 * (0.5 - 2.0 * q1 * v1) / up])

    @staticmethod
    def nonholonomic(t: float, q: Vector, v: Vector) -> Vector:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        return np.array([v1 * v1 * v2 + 6.0 * q1 * q2 * v1 - 4.0])

    @staticmethod
    def nonholonomic_jacobian(t: float, q: Vector, v: Vector) -> Matrix:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        return np.array([[2.0 * v1 * v2 + 6.0 * q1 * q2, v1 * v1]])

    @staticmethod
    def nonholonomic_acceleration(t: float, q: Vector, v: Vector) -> Vector:
        (q1, q2), (v1, v2) = q.tolist(), v.tolist()
        return np.array([6.0 * v1 * (q2 * v1 + q1 * v2)])

    @staticmethod
    def reaction(t: float, q: Vector, v: Vector, lam: Vector, psi: Vector) -> Vector:
        psi1 = float(psi[0])
        return np.array([exp(2.0 * t) * q[0] * psi1, exp(-t) * q[1] * psi1 * psi1])

    @staticmethod
    def reaction_jacobian(t: float, q: Vector, v: Vector, lam: Vector, psi: Vector) -> Matrix:
        return np.array([[exp(2.0 * t) * q[0]], [2.0 * exp(-t) * q[1] * psi[0]]])

    @staticmethod
    def stiffness(t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector) -> Matrix:
        (q1, q2), (v1, v2), (a1, a2) = q.tolist(), v.tolist(), vdot.tolist()
        up, mult = exp(t), float(psi[0])
        return np.array(
            [
                [a1 - up * v2 - up * up * mult, a2 - 2.0 * up * v1],
                [
                    cos(q1 - up) * a1 + q2 * a2 + 2.0 * q2 * v1 * v2 / up,
                    q1 * a2 - (v2 * (0.5 - 2.0 * q1 * v1) + mult * mult) / up,
                ],
            ]
        )

    @staticmethod
    def damping(t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector) -> Matrix:
        (q1, q2), (v1, v2), up = q.tolist(), v.tolist(), exp(t)
        return np.array(
            [
                [-2.0 * up * q2, -up * q1],
                [2.0 * q1 * q2 * v2 / up, -q2 * (0.5 - 2.0 * q1 * v1) / up],
            ]
        )


class _JayNegrut(_Surface):
    mass = staticmethod(_Jay.mass)

    @staticmethod
    def force(t: float, q: Vector, v: Vector) -> Vector:
        force = _Jay.force(t, q, v)
        force += (-2.0, exp(3.0 * t))
        return force

    @staticmethod
    def nonholonomic(t: float, q: Vector, v: Vector) -> Vector:
        v1, v2 = v.tolist()
        return np.array([q[0] * v1 * v2 + 2.0])

    @staticmethod
    def nonholonomic_jacobian(t: float, q: Vector, v: Vector) -> Matrix:
        v1, v2 = v.tolist()
        return np.array([[q[0] * v2, q[0] * v1]])

    @staticmethod
    def nonholonomic_acceleration(t: float, q: Vector, v: Vector) -> Vector:
        v1, v2 = v.tolist()
        return np.array([v1 * v1 * v2])

    @staticmethod
    def reaction(t: float, q: Vector, v: Vector, lam: Vector, psi: Vector) -> Vector:
        (q1, q2), (v1, v2), lam1, psi1 = q.tolist(), v.tolist(), float(lam[0]), float(psi[0])
        return np.array(
            [
                q1 * (exp(2.0 * t) * lam1 - v2 * psi1),
                q2 * (exp(-t) * lam1 * lam1 - q1 * v1 * psi1**3),
            ]
        )

    @staticmethod
    def reaction_jacobian(t: float, q: Vector, v: Vector, lam: Vector, psi: Vector) -> Matrix:
        (q1, q2), (v1, v2), lam1, psi1 = q.tolist(), v.tolist(), float(lam[0]), float(psi[0])
        return np.array(
            [
                [exp(2.0 * t) * q1, -q1 * v2],
                [2.0 * exp(-t) * q2 * lam1, -3.0 * q1 * q2 * v1 * psi1 * psi1],
            ]
        )

    @staticmethod
    def stiffness(t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector) -> Matrix:
        (q1, q2), (v1, v2), psi1 = q.tolist(), v.tolist(), float(psi[0])
        cube = v1 * psi1**3
        added = np.array([[v2 * psi1, 0.0], [q2 * cube, q1 * cube]])
        # lam stands in (15b) where psi stands in (7.1b)
        return _Jay.stiffness(t, q, v, vdot, psi, lam) + added

    @staticmethod
    def damping(t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector) -> Matrix:
        q1, q2, psi1 = float(q[0]), float(q[1]), float(psi[0])
        added = np.array([[0.0, q1 * psi1], [q1 * q2 * psi1**3, 0.0]])
        return _Jay.damping(t, q, v, vdot, lam, psi) + added


_START = {"q0": np.array([1.0, 1.0]), "v0": np.array([1.0, -2.0])}


@ready
def jay_negrut_test() -> Mechanism:
    """Return test problem (15) of Jay and Negrut 2008, 2 coordinates, m = l = 1.

    The right-hand side of (15b) is split: the terms without multipliers are `force`, the rest
    is `reaction`, which is nonlinear in lam and psi. Exact: q = (e^t, e^-2t), lam = e^-t,
    psi = e^t. No parameters, no units.
    """
    return assemble(
        _JayNegrut, **_START, lam0=np.ones(1), psi0=np.ones(1),
        reference=_exact("(15) of Jay and Negrut 2008", True, "growing"),
        constraint_names=["g of (15c)", "k of (15e)"], name="jay_negrut_test",
    )  # fmt: skip


@ready
def jay_test() -> Mechanism:
    """Return test problem (7.1) of Jay, 2 coordinates, one nonholonomic constraint.

    The reaction is nonlinear in psi. Exact: q = (e^t, e^-2t), psi = e^-t. No parameters.
    """
    return assemble(
        _Jay, **_START, psi0=np.ones(1), reference=_exact("(7.1) of Jay", False, "decaying"),
        constraint_names=["k of (7.1c)"], name="jay_test",
    )  # fmt: skip


@ready
def hht_test() -> Mechanism:
    """Return the test problem of section 5.1 of Jay and Negrut 2007.

    2 coordinates, one holonomic constraint, identity mass; the reaction is nonlinear in lam.
    Exact: q = (e^t, e^-2t), lam = e^-t. No parameters, no units.
    """
    return assemble(
        _HHT, **_START, lam0=np.ones(1),
        reference=_exact("section 5.1 of Jay and Negrut 2007", True, None),
        constraint_names=["g of 5.1"], name="hht_test",
    )  # fmt: skip
