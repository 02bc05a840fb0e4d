"""How many steps and columns give the wanted error in one window for the least work.

The differences of three columns tell how errors fall with more columns and with shorter steps. Of
a symmetric scheme, the error of K columns of N steps is about c_K / (N^2K K!^2), where
c_(K + 1) / c_K hardly depends on K; that ratio is what the differences of columns show. The
cheapest that is predicted to be good enough is tried next; runs that were made are not made again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from genalpha.driver.extrapolation.columns import Columns
from genalpha.driver.extrapolation.estimate import GEOMETRIC
from genalpha.driver.extrapolation.trial import NEAR, Trial
from genalpha.errors import ConvergenceError, SingularSystemError
from genalpha.model import Mechanism

Array = np.ndarray

#: An estimate must be so much smaller than the wanted error: sizes of the motion are those of a
#: loose run.
ENOUGH = 0.9
#: Numbers of columns.
FEWEST, MOST = 3, 5
#: How much one column more is believed to lower the estimate at most, and at least.
GOOD_GAIN, POOR_GAIN = 1e-3, 0.5
#: The k-th column of a symmetric scheme lowers it by this / k^2, relative to the trial's gain.
SQUARES = 4.0 / GEOMETRIC
#: From four columns on, symmetric schemes have the middle between points: that lowers the error
#: between points to this part at least. Its order is this at least, though polynomials have more.
MIDDLE, ORDER_BETWEEN = 0.04, 8
#: Predictions aim at this part of the wanted error, because they are not exact; those of one column
#: more, which is not lost if it is not enough, at this one.
AIM, AIM_OF_COLUMNS = 0.3, 0.7
#: Where Newton's iteration fails, steps are halved; after so many failures it is given up.
FAILURES = 4
#: Steps are made at most this much smaller at once.
LARGEST_REFINEMENT = 6.0
#: An estimate that falls less than this from trial to trial shows that columns do not shrink.
SHRINKS = 0.5
#: Nor do they if one more is predicted to lower it by no more than this.
NO_GAIN = 3.0
#: After so many trials in a row without a lower estimate, and whose columns do not shrink more than
#: before, no more are made.
IN_VAIN = 3


class Found(NamedTuple):
    """An extrapolation, and its estimates at each point, relative to the wanted error."""

    trial: Trial
    parts: Array


class Search:
    """Looks for numbers of steps and columns.

    Parameters
    ----------
    mechanism : Mechanism
    runs : Columns
    wanted : mapping of str to float
        The wanted errors of "q", "v", "lam", "psi".
    accuracy : float
        That of Newton's iteration.
    budget : int
        Most steps of all runs together.

    Attributes
    ----------
    best_so_far : Found or None
        What there is if `best` fails.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        runs: Columns,
        wanted: Mapping[str, float],
        accuracy: float,
        budget: int,
    ) -> None:
        self._mechanism, self._runs, self._wanted = mechanism, runs, wanted
        self._accuracy, self._budget = accuracy, budget
        self.best_so_far: Found | None = None

    def best(self, base: int, divisible: bool = False) -> Found | None:
        """Return the first extrapolation with the wanted error, or the best within the budget.

        Parameters
        ----------
        base : int
            The first guess of the number of steps of the coarsest run.
        divisible : bool
            Whether to return None if columns do not shrink at first: the window is then too long
            for its coarsest run to be in phase with the motion, and shorter ones may do.

        Raises
        ------
        ConvergenceError, SingularSystemError
            Newton's iteration has failed in a run, and with shorter steps, too.
        """
        best: Found | None = None
        before: Trial | None = None
        last, columns, failures = math.inf, FEWEST, 0
        least, steepest, in_vain = math.inf, math.inf, 0
        while True:
            try:
                trial = Trial(self._mechanism, self._runs, base, columns, self._accuracy)
            except (ConvergenceError, SingularSystemError):
                # steps are too long for Newton's iteration, or its accuracy cannot be had
                failures += 1
                if failures == FAILURES or not self._allows(2 * base, columns):
                    raise
                base *= 2
                continue
            if before is not None and before.base != base:
                trial.compare(before)
            parts = trial.parts(self._wanted)
            part = float(parts.max())
            # where columns do not shrink, coarse ones may agree by accident
            if best is None or part < best.parts.max() or trial.gain > NO_GAIN:
                self.best_so_far = best = Found(trial, parts)
            if divisible and before is None and trial.gain > NO_GAIN and part > ENOUGH:
                return None
            apart = self._between(trial) if part <= NEAR else 0.0
            if part <= ENOUGH and apart <= 1.0 - part:
                return Found(trial, parts)
            shrinks = part <= ENOUGH or (part < SHRINKS * last and trial.gain < NO_GAIN)
            falls = part < SHRINKS * least or trial.gain < SHRINKS * steepest
            in_vain = 0 if falls else in_vain + 1
            least, steepest = min(part, least), min(trial.gain, steepest)
            best.trial.stalled = not shrinks and not trial.is_noise
            if not shrinks and (trial.is_noise or in_vain >= IN_VAIN):
                return best  # more columns and steps would not lower it
            following = self._following(trial, part, apart, shrinks)
            if following is None:
                return Found(trial, parts) if part <= ENOUGH else best
            before, last = trial, part
            base, columns = following

    def _between(self, trial: Trial) -> float:
        """Return the error between points, relative to the wanted one."""
        errors = trial.dense.errors(list(self._wanted))
        return max((x / self._wanted[k] for k, x in errors.items()), default=0.0)

    def _allows(self, base: int, columns: int) -> bool:
        cost = self._runs.cost(base, range(1, columns + 1))
        return self._runs.spent + cost <= self._budget

    def _following(
        self, trial: Trial, part: float, apart: float, shrinks: bool
    ) -> tuple[int, int] | None:
        """Return the numbers of steps and columns to try next, or None if the budget is used up."""
        base = trial.base
        if not shrinks:
            # more columns would only amplify what has no expansion
            return self._finest(base, 2)
        found: list[tuple[float, int, int]] = []
        for more in range(FEWEST, MOST + 1):
            needed = self._needed(trial, part, apart, more)
            factor = min(needed, LARGEST_REFINEMENT)
            for steps in {math.ceil(base * factor), base * math.ceil(factor - 1e-9)}:
                cost = self._runs.cost(steps, range(1, more + 1))
                if cost and self._allows(steps, more):
                    # what this refinement does not reach, more work must
                    found.append((cost * (needed / factor) ** 2, steps, more))
        return min(found)[1:] if found else self._finest(base, int(LARGEST_REFINEMENT))

    def _needed(self, trial: Trial, part: float, apart: float, more: int) -> float:
        """Return how many times as many steps are predicted to do with so many columns."""
        columns, symmetric = trial.columns, self._runs.symmetric
        for k in range(columns + 1, more + 1):
            part *= self._lowered(trial, k)
        for k in range(more + 1, columns + 1):
            part /= self._lowered(trial, k)
        if symmetric and columns < 4 <= more:
            apart *= MIDDLE
        if columns < more and max(part, apart) <= AIM_OF_COLUMNS:
            return 1.0
        order = 2 * more if symmetric else more + 1
        return max((part / AIM) ** (1.0 / order), (apart / AIM) ** (1.0 / ORDER_BETWEEN), 1.0)

    def _lowered(self, trial: Trial, k: int) -> float:
        """Return by how much the k-th column lowers the estimate."""
        if not self._runs.symmetric:
            return min(max(trial.gain, GOOD_GAIN), POOR_GAIN)
        return min(max(SQUARES * trial.gain, GOOD_GAIN), 1.0) / k**2

    def _finest(self, base: int, most: int) -> tuple[int, int] | None:
        """Return the finest multiple of the steps that the budget allows, with fewest columns."""
        allowed = [k for k in range(2, most + 1) if self._allows(k * base, FEWEST)]
        return (allowed[-1] * base, FEWEST) if allowed else None
