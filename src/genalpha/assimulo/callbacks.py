"""The callbacks of a mechanism that was read from a problem: evaluations of its residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.assimulo.probing import Rows
from genalpha.assimulo.residual import Residual
from genalpha.model import Motion
from genalpha.model.differences import scale

Array = np.ndarray
Matrix = Any  # np.ndarray or a sparse array

#: Derivatives that enter the equations are taken from `jac` only if they are this exact.
AGREEMENT = 1e-7
#: Factor c in dF/dyd = (jac(c) - jac(0)) / c: so large that dF/dy costs dF/dyd no digits.
LARGE = 2.0**40


class FromResidual:
    """What every mechanism needs, with multipliers as the problem means them.

    Parameters
    ----------
    F : Residual
    rows : Rows
        What the rows of F are.
    t, y : float, array
        The start.
    """

    def __init__(self, F: Residual, rows: Rows, t: float, y: Array) -> None:
        self.F, self.rows, self.layout = F, rows, rows.layout
        self.t, self.start = t, rows.layout.split(y)
        self.motion = slice(self.layout.n_q, 2 * self.layout.n_q)
        self.still, self.v0 = np.zeros(self.layout.n_q), self.start[1]
        # multipliers of the force without reaction; a nonlinear reaction may not know zero
        self.free = tuple(np.zeros(x.size) if rows.linear else x for x in self.start[2:])

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `Mechanism`."""
        q, v, lam, psi = self.start
        reacts = bool(lam.size + psi.size)
        return {
            "mass": self.constant(self.mass),
            "force": self.force,
            "q0": q,
            "v0": v,
            "t0": self.t,
            "holonomic": self.holonomic if lam.size else None,
            "nonholonomic": self.nonholonomic if psi.size else None,
            "reaction": self.reaction if reacts else None,
            "reaction_jacobian": self.reaction_jacobian if reacts and self.rows.linear else None,
            "lam0": lam,
            "psi0": psi,
            "name": None if self.F.problem.name == "---" else self.F.problem.name,
            "constraint_names": [
                f"res[{row}]" for row in (*self.rows.position, *self.rows.velocity)
            ],
        }

    def state(self, *motion: Array) -> tuple[Array, Array]:
        """Return y and yd of q, v, vdot, lam, psi."""
        return self.layout.assemble(Motion(*motion))

    def _rows(self, t: float, *motion: Array) -> Array:
        return self.F(t, *self.state(*motion))

    def force(self, t: float, q: Array, v: Array) -> Array:
        """Return the equations of motion without accelerations and multipliers, as a force."""
        return -self.rows.signs * self._rows(t, q, v, self.still, *self.free)[self.motion]

    def reaction(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Array:
        """Return what the multipliers add to the force."""
        loaded = -self.rows.signs * self._rows(t, q, v, self.still, lam, psi)[self.motion]
        return loaded - self.force(t, q, v)

    def reaction_jacobian(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Array:
        """Return the reaction to each unit multiplier, where it is linear in them."""
        m, units = self.layout.n_lam, np.eye(self.layout.n_lam + self.layout.n_psi)
        return np.array([self.reaction(t, q, v, unit[:m], unit[m:]) for unit in units]).T

    def holonomic(self, t: float, q: Array) -> Array:
        """Return g."""
        return self._rows(t, q, self.v0, self.still, *self.free)[self.rows.position]

    def nonholonomic(self, t: float, q: Array, v: Array) -> Array:
        """Return k."""
        return self._rows(t, q, v, self.still, *self.free)[self.rows.velocity]

    def mass(self, t: float, q: Array) -> Array:
        """Return the change of the equations of motion with each unit acceleration."""
        base = self.force(t, q, self.v0)
        changes = [
            self.rows.signs * self._rows(t, q, self.v0, unit, *self.free)[self.motion]
            for unit in np.eye(self.layout.n_q)
        ]
        return (np.array(changes) + base).T

    def constant(self, mass: Callable[[float, Array], Matrix]) -> Any:
        """Return the mass matrix if it is constant, otherwise the callback."""
        if self.F.switches:  # it may change with them
            return mass
        q, here, random = self.start[0], mass(self.t, self.start[0]), np.random.default_rng(4)
        for _ in range(2):
            moved = q + 0.1 * scale(q) * random.uniform(-1.0, 1.0, q.size)
            there = mass(self.t + random.uniform(), moved)
            if abs(there - here).max() > 1e-11 * abs(here).max():
                return mass
        return here


class FromJacobian:
    """Derivatives from the problem's `jac`.

    It may be rough, as Newton's iteration allows, and then serves for stiffness and damping
    only; what enters the equations (G, K, the reactions, a sparse mass) must agree with the
    residual at a random point near the start.
    """

    def __init__(self, callbacks: FromResidual) -> None:
        self.base = callbacks
        n, m = callbacks.layout.n_q, callbacks.layout.n_lam + callbacks.layout.n_psi
        self.q, self.v, self.multipliers = slice(n), slice(n, 2 * n), slice(2 * n, 2 * n + m)

    def arguments(self) -> dict[str, Any]:
        """Return arguments of `Mechanism` that are better than those from the residual."""
        o, base = self._point(), self.base
        chosen: dict[str, Any] = {"stiffness": self.stiffness, "damping": self.damping}
        m, l = base.layout.n_lam, base.layout.n_psi  # noqa: E741
        if m and self._agree(self.holonomic_jacobian(o[0], o[1]), base.holonomic, o[:2]):
            chosen["holonomic_jacobian"] = self.holonomic_jacobian
        if l and self._agree(self.nonholonomic_jacobian(*o[:3]), base.nonholonomic, o[:3]):
            chosen["nonholonomic_jacobian"] = self.nonholonomic_jacobian
        if base.rows.linear and m + l:
            given = self.reaction_jacobian(*o)
            if _close(given, base.reaction_jacobian(*o)):
                chosen["reaction_jacobian"] = self.reaction_jacobian
        mass = self.mass(*o[:2])
        if sparse.issparse(mass) and _close(mass, base.mass(*o[:2])):
            chosen["mass"] = base.constant(self.mass)
        return chosen

    def _point(self) -> tuple[Any, ...]:
        """Return t, q, v, lam, psi of a random point near the start."""
        random = np.random.default_rng(5)
        near = (x + 1e-2 * scale(x) * random.uniform(-1.0, 1.0, x.size) for x in self.base.start)
        return self.base.t + 1e-2 * random.uniform(), *near

    @staticmethod
    def _agree(given: Matrix, function: Callable[..., Array], arguments: tuple[Any, ...]) -> bool:
        """Compare a derivative by the last argument with central differences in one direction."""
        *rest, x = arguments
        direction = np.random.default_rng(6).uniform(0.5, 1.0, x.size) * scale(x) * 1e-5
        change = function(*rest, x + direction) - function(*rest, x - direction)
        return _close(given @ direction, 0.5 * change)

    def _by_y(self, t: float, *motion: Array) -> Matrix:
        return self.base.F.jacobian(0.0, t, *self.base.state(*motion))

    def _by_yd(self, t: float, *motion: Array) -> Matrix:
        state = self.base.state(*motion)
        with_rates = self.base.F.jacobian(LARGE, t, *state)
        return (with_rates - self.base.F.jacobian(0.0, t, *state)) / LARGE

    def _motion(self, matrix: Matrix, columns: slice) -> Matrix:
        """Return rows of motion with their signs."""
        rows, signs = matrix[self.base.motion][:, columns], self.base.rows.signs
        return sparse.diags_array(signs) @ rows if sparse.issparse(rows) else signs[:, None] * rows

    def stiffness(
        self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array
    ) -> Matrix:
        """Return the derivative of the equations of motion by q."""
        return self._motion(self._by_y(t, q, v, vdot, lam, psi), self.q)

    def damping(self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Matrix:
        """Return the derivative by v, and by q', which the problem may use in its place."""
        motion = (q, v, vdot, lam, psi)
        by_v, by_qdot = self._by_y(t, *motion), self._by_yd(t, *motion)
        return self._motion(by_v, self.v) + self._motion(by_qdot, self.q)

    def reaction_jacobian(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Matrix:
        """Return the derivative of the reaction by the multipliers."""
        return -self._motion(self._by_y(t, q, v, self.base.still, lam, psi), self.multipliers)

    def mass(self, t: float, q: Array) -> Matrix:
        """Return the derivative of the equations of motion by the accelerations."""
        base = self.base
        return self._motion(self._by_yd(t, q, base.v0, base.still, *base.free), self.v)

    def holonomic_jacobian(self, t: float, q: Array) -> Matrix:
        """Return G."""
        base = self.base
        matrix = self._by_y(t, q, base.v0, base.still, *base.free)
        return matrix[base.rows.position][:, self.q]

    def nonholonomic_jacobian(self, t: float, q: Array, v: Array) -> Matrix:
        """Return K."""
        motion, rows = (q, v, self.base.still, *self.base.free), self.base.rows.velocity
        return self._by_y(t, *motion)[rows][:, self.v] + self._by_yd(t, *motion)[rows][:, self.q]


def _close(given: Matrix, wanted: Array) -> bool:
    difference = abs(given - wanted).max()
    return bool(difference <= AGREEMENT * max(1e-300, float(np.max(np.abs(wanted)))))
