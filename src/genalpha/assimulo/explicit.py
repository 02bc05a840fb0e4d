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
    """The formulation "ode": y = [q, v, z], accelerations from the equations, g'' = 0, k' = 0."""

    form = "ode"

    def __init__(self, mechanism: Mechanism, start: Motion, name: str) -> None:
        self._layout = layout_of(mechanism, "ode")
        y0, _ = self._layout.assemble(start)
        Explicit_Problem.__init__(self, y0=y0, t0=mechanism.t0, name=name)
        self.mechanism = mechanism
        # where the reaction is nonlinear, each solution is the next one's first guess
        self._guess: tuple[Any, Any] = start.lam, start.psi

    def rhs(self, t: float, y: Array, sw: Any = None) -> Array:
        """Return y' = [v, v', z']; switches, which Assimulo may hand over, mean nothing here."""
        n = self.mechanism.n_q
        return np.concatenate([y[n : 2 * n], self._solve(t, y)[0]])

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
        o = self.mechanism.widened
        q, v, _, _ = self._layout.split(y)
        vdot, lam, psi = accelerations(o, t, q, v, *self._guess)
        self._guess = lam, psi
        return vdot, lam, psi
