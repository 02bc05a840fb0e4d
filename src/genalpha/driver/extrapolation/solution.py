"""The result of an integration to a wanted error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.driver.extrapolation.trial import Errors, Trial, consistent
from genalpha.driver.solution import Solution
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot, hermite_at

Array = np.ndarray

#: Points between which positions and velocities are interpolated, with their derivatives.
INTERPOLATED = 3


class ColumnCost(NamedTuple):
    """What one run cost; `used` tells whether the result is made of it."""

    steps: int
    used: bool
    counters: Counters


class ExtrapolationCounters(Counters):
    """What all runs cost together.

    Attributes
    ----------
    columns : list of ColumnCost
        The runs on the smooth grid, in the order of their numbers of steps.
    """

    columns: list[ColumnCost]


class ExtrapolatedSolution(Solution):
    """A motion whose error is known; see `Solution`.

    Attributes
    ----------
    error : Errors
        Bounds of the errors: .q, .v, .lam, .psi, arrays like those of the motion.
    order : int
        Order of the extrapolation.
    steps : (s,) array
        Times of the coarsest run.
    a : (k, n) array
        The same as `vdot`: an algorithmic acceleration belongs to one step size.
    """

    def __init__(self, trial: Trial, statistics: Counters, t_eval: Array | None) -> None:
        vdot = [knot.vdot for knot in trial.knots]
        super().__init__(trial.mechanism, trial.times, trial.knots, vdot, statistics, t_eval)
        self.a = self.vdot
        self.order = trial.order
        if t_eval is None:
            self.error = trial.errors
        else:
            right = np.array([self._right_of(t) for t in t_eval])
            left = np.where(self.steps[right] == t_eval, right, np.maximum(right - 1, 0))
            self.error = Errors(*(np.maximum(x[left], x[right]) for x in trial.errors))

    def _at(self, t: float, side: str = "after") -> Knot:
        """Return the motion at a time, on the constraints, with an error of the same order."""
        right = self._right_of(t, side)
        nearest = self._knots[right]
        if nearest.t == t or not right:
            return nearest
        first = min(max(right - 2, 0), max(len(self._knots) - INTERPOLATED, 0))
        near = self._knots[first : first + INTERPOLATED]
        times, velocities = [knot.t for knot in near], [knot.v for knot in near]
        q = hermite_at(times, [knot.q for knot in near], velocities, t)
        v = hermite_at(times, velocities, [knot.vdot for knot in near], t)
        return consistent(self.mechanism, t, q, v, nearest.lam, nearest.psi)
