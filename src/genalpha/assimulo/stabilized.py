"""A mechanism as an explicit problem of Assimulo that is pulled back to its constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from assimulo.problem import Explicit_Problem
from numpy.typing import ArrayLike

from genalpha.model import Mechanism
from genalpha.stabilization.deviation import Guarantee
from genalpha.stabilization.equations import deviation as deviation_at
from genalpha.stabilization.gains import (
    Gains,
    Stability,
    lyapunov_stability,
    root_stability,
)
from genalpha.stabilization.options import StabilizedOptions
from genalpha.stabilization.system import StabilizedSystem

Array = np.ndarray


class StabilizedMechanism(Explicit_Problem):
    """The formulation "stabilized": y = [q, v], y' = v_tau + J g of Mukharlyamov's Theorem 2.

    Any explicit solver of Assimulo takes it; deviations from the constraints then decay as the
    gains say. Use ``mechanism.problem("stabilized", ...)``.

    Parameters
    ----------
    mechanism : Mechanism
        Its start need not satisfy the constraints.
    gains : Gains or "auto"
        "auto" (default) needs `h` and `t_final`, and promises a bound for the solver class named
        `scheme`; other solvers are better served by ``Gains.baumgarte(...)``.
    eps : float or (float, float), optional
        With gains="auto": the deviations wished of positions and of velocities.
    h : float, optional
        Step size for gains="auto"; the solver classes of genalpha take it over.
    t_final : float, optional
        End of the run, for gains="auto".
    scheme : {"StabilizedEuler", "StabilizedRK2"}
        For which method gains="auto" is. Default "StabilizedRK2".
    name : str, optional
        Default: the mechanism's name and the form.

    Attributes
    ----------
    gains : Gains
        Those given, or those that were chosen.
    promise : Guarantee or None
        The bound that goes with gains="auto".
    """

    form = "stabilized"

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        gains: Any = "auto",
        eps: Any = None,
        h: float | None = None,
        t_final: float | None = None,
        scheme: str = "StabilizedRK2",
        name: str | None = None,
    ) -> None:
        options = StabilizedOptions(scheme, gains=gains, eps=eps)
        self.system = StabilizedSystem(mechanism, options, h, t_final)
        label = name or f"{mechanism.name} (stabilized)"
        Explicit_Problem.__init__(self, y0=self.system.x0.copy(), t0=mechanism.t0, name=label)
        self.mechanism, self.h = mechanism, h
        self.gains: Gains = self.system.gains
        self.promise: Guarantee | None = self.system.promise

    def rhs(self, t: float, y: Array, sw: Any = None) -> Array:
        """Return y' (3.1)."""
        return self.system.rhs(t, np.array(y, dtype=float))

    def multipliers(self, t: ArrayLike, y: ArrayLike, control: bool = False) -> tuple[Array, Array]:
        """Return lam and psi at one instant, or at each of several.

        Parameters
        ----------
        t : float or (k,) array_like
        y : (2 n,) or (k, 2 n) array_like
            States as `simulate` returns them.
        control : bool, optional
            False (default): the multipliers of the motion along the constraints, which are those
            of the mechanism. True: those of (3.11), which hold the pull of the gains too.

        Returns
        -------
        lam, psi : (m,) and (l,), or (k, m) and (k, l)
        """
        return self._at(t, y, lambda t, x: self.system.multipliers(t, x, control))

    def deviation(self, t: ArrayLike, y: ArrayLike) -> Array:
        """Return (f, f_dot, f'), shape (2 m + l,), or (k, 2 m + l) for several instants."""
        o, n = self.mechanism, self.mechanism.n_q
        return self._at(t, y, lambda t, x: (deviation_at(o, t, x[:n], x[n:]),))[0]

    @staticmethod
    def _at(
        t: ArrayLike, y: ArrayLike, function: Callable[[float, Array], tuple[Array, ...]]
    ) -> Any:
        if np.ndim(t) == 0:
            return function(float(np.asarray(t)), np.array(y, dtype=float))
        found = [function(float(a), np.array(b)) for a, b in zip(t, y, strict=True)]  # type: ignore[arg-type]
        return tuple(np.array(part) for part in zip(*found, strict=True))

    def stability(self, t: ArrayLike | None = None, y: ArrayLike | None = None) -> Stability:
        """Apply Theorem 3 (constant gains) or 4 (gains at the states t, y) to the gains."""
        A, n = self.system.perturbation, self.mechanism.n_q
        if A.constant is not None:
            return root_stability(A.constant)
        times = np.atleast_1d(self.t0 if t is None else np.asarray(t, dtype=float))
        states = np.atleast_2d(self.y0 if y is None else np.asarray(y, dtype=float))
        pairs = zip(times, states, strict=True)
        return lyapunov_stability([A(float(a), x[:n], x[n:]) for a, x in pairs])
