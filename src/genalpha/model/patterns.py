"""Where missing sparse derivatives may be nonzero: given by the user, or found by probing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from genalpha.model.differences import Groups, find_pattern

if TYPE_CHECKING:
    from genalpha.model.functions import Functions

Array = np.ndarray


class Patterns:
    """Column groups for missing sparse derivatives: from given patterns, or by probing."""

    def __init__(self, mechanism: Functions, given: dict[str, Any]) -> None:
        self._mechanism, self._given = mechanism, given

    def _choose_place(self) -> None:
        """Choose an instant and a state of no special value, so that nothing vanishes by chance."""
        if hasattr(self, "_random"):
            return
        o, self._random = self._mechanism, np.random.default_rng(0)
        self._t = o.t0 + 1e-3 * max(1.0, abs(o.t0)) * self._random.uniform(0.5, 1.0)
        self._q, self._v = (x + 0.1 * self._random.uniform(-1.0, 1.0, x.size) for x in (o.q0, o.v0))

    def _groups(self, key: str, x: Array, *functions: Callable[[Array], Array]) -> Groups | None:
        if not self._mechanism.is_sparse:
            return None
        self._choose_place()
        pattern = self._given.get(key)
        return Groups(find_pattern(functions, x, self._random) if pattern is None else pattern)

    def holonomic(self) -> Groups | None:
        """Pattern of dg/dq."""
        o = self._mechanism
        return self._groups("holonomic_jacobian", o.q0, lambda x: o.holonomic(self._t, x))

    def nonholonomic(self) -> Groups | None:
        """Pattern of dk/dv."""
        o = self._mechanism
        return self._groups(
            "nonholonomic_jacobian", o.v0, lambda x: o.nonholonomic(self._t, self._q, x)
        )

    def gradient(self) -> Groups | None:
        """Pattern of dk/dq."""
        o = self._mechanism
        return self._groups(
            "nonholonomic_gradient", o.q0, lambda x: o.nonholonomic(self._t, x, self._v)
        )

    def reaction(self) -> Groups | None:
        """Pattern of the reaction's derivative by (lam, psi)."""
        o = self._mechanism
        m, x = o.n_lam, np.ones(o.n_lam + o.n_psi)
        return self._groups(
            "reaction_jacobian", x, lambda x: o.reaction(self._t, self._q, self._v, x[:m], x[m:])
        )

    def stiffness(self) -> Groups | None:
        """Pattern of stiffness and damping together."""
        o = self._mechanism
        if not o.is_sparse:
            return None
        self._choose_place()
        rest = tuple(self._random.uniform(0.5, 1.5, k) for k in (o.n_q, o.n_lam, o.n_psi))
        return self._groups(
            "stiffness",
            np.zeros(o.n_q),
            lambda x: o.imbalance(self._t, self._q + x, self._v, *rest),
            lambda x: o.imbalance(self._t, self._q, self._v + x, *rest),
        )
