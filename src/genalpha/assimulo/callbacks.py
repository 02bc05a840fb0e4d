"""The callbacks of a mechanism that was read from a problem: evaluations of its residual.

Schemes ask the residual itself (`genalpha.model.residual`). These callbacks are for everything
else: checks of a start, consistent values, audits. What was computed at a point is not computed
there again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.assimulo.recognition import Found
from genalpha.assimulo.residual import Residual
from genalpha.model import Mechanism
from genalpha.model.differences import (
    accurate_jacobian,
    directional_derivative,
    forward_jacobian,
    scale,
    time_scale,
)
from genalpha.model.residual import OneResidual
from genalpha.model.residual_blocks import LARGE, Blocks
from genalpha.model.residual_rows import Balance

Array = np.ndarray
Matrix = Any  # np.ndarray or a sparse array

#: So many of the last evaluations are remembered.
REMEMBERED = 8


class Memory:
    """A function whose last values are remembered, as long as the residual is the same one."""

    def __init__(self, F: Residual, function: Callable[..., Any]) -> None:
        self.F, self.function = F, function
        self._last: dict[tuple[Any, ...], Any] = {}

    def _key(self, t: float, state: tuple[Array, ...]) -> tuple[Any, ...]:
        return (self.F.function, t, *[x.tobytes() for x in state])

    def __call__(self, t: float, *state: Array) -> Any:
        """Return the function's value, of the same arguments as a little earlier without a call."""
        key, last = self._key(t, state), self._last
        if key in last:
            return last[key]
        if len(last) >= REMEMBERED:
            del last[next(iter(last))]
        found = last[key] = self.function(t, *state)
        return found

    def learn(self, value: Any, t: float, *state: Array) -> None:
        """Take over a value that somebody else has found."""
        self._last[self._key(t, state)] = value

    def forget(self) -> None:
        """Forget everything, because the function has changed."""
        self._last.clear()


class FromResidual:
    """What every mechanism needs, with multipliers as the problem means them.

    Parameters
    ----------
    F : Residual
    found : Found
        What the rows of F are.
    t, y, yd : float, array, array
        The start.
    """

    def __init__(self, F: Residual, found: Found, t: float, y: Array, yd: Array) -> None:
        places = found.places
        self.F, self.found, self.t = F, found, t
        self.whole = OneResidual(
            F,
            places,
            F.jacobian if F.has_jacobian else None,
            found.uses_rates,
            found.linear,
            found.ideal,
        )
        self.start = tuple(np.array(y[x], dtype=float) for x in places[1:5])
        self.still, self.v0 = np.zeros(places.q.size), self.start[1]
        # multipliers of the force without reaction; a nonlinear reaction may not know zero
        self.free = tuple(np.zeros(x.size) if found.linear else x for x in self.start[2:])
        self.whole.free_lam = self.free[0]
        self.balance = Memory(F, self._balance)
        self.mass = Memory(F, self._mass)
        self.holonomic_jacobian = Memory(F, self._holonomic_jacobian)
        self.nonholonomic_jacobian = Memory(F, self._nonholonomic_jacobian)
        self.whole.start_vdot = np.array(yd[places.v], dtype=float)
        if found.mass is not None and not F.switches:
            self.mass.learn(found.mass, t, self.start[0])
            self.whole.constant_mass = found.mass  # until a step finds that it is not
        G = self._holonomic_jacobian(t, self.start[0]) if found.G is None else found.G
        self.size_of_G = np.abs(G)
        if not F.switches:
            self.holonomic_jacobian.learn(G, t, self.start[0])
        if found.K is not None and not F.switches:
            self.nonholonomic_jacobian.learn(found.K, t, *self.start[:2])
        K = found.K if places.psi.size else np.zeros((0, places.q.size))
        known = found.mass, found.G, K, found.reactions
        if not any(x is None for x in known):
            self.whole.start_blocks = Blocks(*(np.ascontiguousarray(x) for x in known))

    def forget(self) -> None:
        """Forget what was evaluated, because the problem has changed."""
        gradients = self.holonomic_jacobian, self.nonholonomic_jacobian
        for memory in (self.balance, self.mass, *gradients):
            memory.forget()
        self.whole.forget()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `Mechanism`."""
        q, v, lam, psi = self.start
        places = self.found.places
        chosen: dict[str, Any] = {
            "mass": self.mass,
            "force": self.force,
            "q0": q,
            "v0": v,
            "t0": self.t,
            "lam0": lam,
            "psi0": psi,
            "name": None if self.F.problem.name == "---" else self.F.problem.name,
            "constraint_names": [f"res[{row}]" for row in (*places.position, *places.velocity)],
        }
        if lam.size:
            chosen["holonomic"] = self.holonomic
            chosen["holonomic_jacobian"] = self.holonomic_jacobian
            chosen["holonomic_rate"] = self.holonomic_rate
        if psi.size:
            chosen["nonholonomic"] = self.nonholonomic
            chosen["nonholonomic_jacobian"] = self.nonholonomic_jacobian
            chosen["nonholonomic_gradient"] = self.nonholonomic_gradient
        if lam.size + psi.size:
            chosen["reaction"] = self.reaction
            chosen["reaction_jacobian"] = self.reaction_jacobian if self.found.linear else None
        return chosen

    def _balance(
        self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array
    ) -> Balance:
        return self.whole.split(self.whole.rows(t, q, v, vdot, lam, psi))

    def force(self, t: float, q: Array, v: Array) -> Array:
        """Return the equations of motion without accelerations and multipliers, as a force."""
        balance: Balance = self.balance(t, q, v, self.still, *self.free)
        return -balance.motion

    def reaction(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Array:
        """Return what the multipliers add to the force."""
        return -self.balance(t, q, v, self.still, lam, psi).motion - self.force(t, q, v)

    def reaction_jacobian(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Array:
        """Return the reaction to each unit multiplier, where it is linear in them."""
        m, units = lam.size, np.eye(lam.size + psi.size)
        known = self.found.reactions
        at_start = t == self.t and np.array_equal(q, self.start[0]) and np.array_equal(v, self.v0)
        if known is not None and at_start and not self.F.switches:
            return -known
        return np.array([self.reaction(t, q, v, unit[:m], unit[m:]) for unit in units]).T

    def holonomic(self, t: float, q: Array) -> Array:
        """Return g."""
        return self.balance(t, q, self.v0, self.still, *self.free).position

    def holonomic_rate(self, t: float, q: Array, v: Array) -> Array:
        """Return g_t + G v: rows of the residual, or a difference along the motion."""
        rates = self.balance(t, q, v, self.still, *self.free).rates
        if rates is not None:
            return np.asarray(rates)
        T, terms = time_scale(q, v), self.size_of_G @ scale(q)
        along = directional_derivative(lambda s: self.holonomic(t + s * T, q + s * T * v), terms)
        return along / T

    def _holonomic_jacobian(self, t: float, q: Array) -> Array:
        return accurate_jacobian(lambda x: self.holonomic(t, x), q)

    def nonholonomic(self, t: float, q: Array, v: Array) -> Array:
        """Return k."""
        return self.balance(t, q, v, self.still, *self.free).velocity

    def _nonholonomic_jacobian(self, t: float, q: Array, v: Array) -> Matrix:
        return accurate_jacobian(lambda x: self.nonholonomic(t, q, x), v)

    def nonholonomic_gradient(self, t: float, q: Array, v: Array) -> Matrix:
        """Return dk/dq."""
        return forward_jacobian(lambda x: self.nonholonomic(t, x, v), q, self.nonholonomic(t, q, v))

    def _mass(self, t: float, q: Array) -> Array:
        """Return the change of the equations of motion with each unit acceleration."""
        base = self.force(t, q, self.v0)
        changes = [self.balance(t, q, self.v0, unit, *self.free).motion for unit in np.eye(q.size)]
        return (np.array(changes) + base).T


class ReadMechanism(Mechanism):
    """A mechanism whose callbacks are ours: they need not be tried, and are dense.

    The last `n_states` of its coordinates only stand for states, see `genalpha.model.states`.
    """

    _has_own_callbacks = True

    def __init__(self, n_states: int = 0, **arguments: Any) -> None:
        self.n_states = n_states
        super().__init__(**arguments)

    def _has_sparse(self, mass: Any, given: dict[str, Any]) -> bool:
        return False

    def _call_once(self) -> None:
        pass


class FromJacobian:
    """Stiffness and damping from the problem's `jac`, which may be rough."""

    def __init__(self, callbacks: FromResidual) -> None:
        self.base = callbacks
        places = callbacks.found.places
        self.q, self.v, self.motion = places.q, places.v, places.motion

    def arguments(self) -> dict[str, Any]:
        """Return arguments of `Mechanism`."""
        return {"stiffness": self.stiffness, "damping": self.damping}

    def _motion(self, matrix: Matrix, columns: Array) -> Matrix:
        """Return rows of motion with their signs."""
        rows, signs = matrix[self.motion][:, columns], self.base.found.places.signs
        return sparse.diags_array(signs) @ rows if sparse.issparse(rows) else signs[:, None] * rows

    def stiffness(
        self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array
    ) -> Matrix:
        """Return the derivative of the equations of motion by q."""
        state = self.base.whole.state(q, v, vdot, lam, psi)
        return self._motion(self.base.F.jacobian(0.0, t, *state), self.q)

    def damping(self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Matrix:
        """Return the derivative by v, and by q', which the problem may use in its place."""
        state = self.base.whole.state(q, v, vdot, lam, psi)
        by_y = self.base.F.jacobian(0.0, t, *state)
        by_yd = (self.base.F.jacobian(LARGE, t, *state) - by_y) / LARGE
        return self._motion(by_y, self.v) + self._motion(by_yd, self.q)
