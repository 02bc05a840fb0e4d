"""A mechanism as an explicit problem of Assimulo: index reduced, accelerations solved for."""

from __future__ import annotations

from typing import Any

import numpy as np
from assimulo.problem import Explicit_Problem
from numpy.typing import ArrayLike

from genalpha.assimulo.layout import layout_of
from genalpha.model import Mechanism, Motion
from genalpha.numerics.initial_values import accelerations

Array = np.ndarray


class ExplicitMechanism(Explicit_Problem):
    """The formulation "ode": y = [q, v], accelerations from the equations and g'' = 0, k' = 0."""

    form = "ode"

    def __init__(self, mechanism: Mechanism, start: Motion, name: str) -> None:
        y0, _ = layout_of(mechanism, "ode").assemble(start)
        Explicit_Problem.__init__(self, y0=y0, t0=mechanism.t0, name=name)
        self.mechanism = mechanism
        # where the reaction is nonlinear, each solution is the next one's first guess
        self._guess: tuple[Any, Any] = start.lam, start.psi

    def rhs(self, t: float, y: Array, sw: Any = None) -> Array:
        """Return y' = [v, v']; switches, which Assimulo may hand over, mean nothing here."""
        return np.concatenate([y[self.mechanism.n_q :], self._solve(t, y)[0]])

    def multipliers(self, t: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Return lam and psi at one instant, or at each of several.

        Parameters
        ----------
        t : float or (k,) array_like
        y : (2 n,) or (k, 2 n) array_like
            States as `simulate` returns them.

        Returns
        -------
        lam, psi : (m,) and (l,), or (k, m) and (k, l)
        """
        if np.ndim(t) == 0:
            return self._solve(float(np.asarray(t)), np.asarray(y))[1:]
        found = [self._solve(*instant)[1:] for instant in zip(t, y, strict=True)]  # type: ignore[arg-type]
        return np.array([lam for lam, _ in found]), np.array([psi for _, psi in found])

    def _solve(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        o = self.mechanism
        q, v = np.array(y[: o.n_q], dtype=float), np.array(y[o.n_q :], dtype=float)
        vdot, lam, psi = accelerations(o, t, q, v, *self._guess)
        self._guess = lam, psi
        return vdot, lam, psi
