"""How many steps and columns give the wanted error for the least work."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

import numpy as np

from genalpha.driver.extrapolation.columns import Columns
from genalpha.driver.extrapolation.trial import Trial
from genalpha.errors import ConvergenceError, SingularSystemError
from genalpha.model import Mechanism

#: Numbers of columns: order 4, 5 and 6.
FEWEST, MOST = 3, 5
#: How much one column more lowers the estimate, for predictions.
GAIN = 0.1
#: Predictions aim at this part of the wanted error, because they are not exact.
AIM = 0.3
#: Steps are made at most this much smaller at once.
LARGEST_REFINEMENT = 6
#: An estimate that falls less than this from trial to trial shows that columns do not shrink.
SHRINKS = 0.5
#: Fewest steps of the coarsest run.
FEWEST_STEPS = 16


class WantedErrorWarning(UserWarning):
    """The wanted error of the result was not reached; the message says until when it holds."""


def best(
    mechanism: Mechanism,
    runs: Columns,
    wanted: Mapping[str, float],
    base: int,
    accuracy: float,
    budget: int,
) -> Trial:
    """Return the first extrapolation that has the wanted error, or the best within the budget.

    Parameters
    ----------
    mechanism : Mechanism
    runs : Columns
    wanted : mapping of str to float
        The wanted relative errors of "q", "v", "lam", "psi".
    base : int
        The first guess of the number of steps of the coarsest run.
    accuracy : float
        That of Newton's iteration.
    budget : int
        Most steps of all runs together.
    """
    best_trial: Trial | None = None
    last_trial: Trial | None = None
    smallest, last = np.inf, np.inf
    shrinks = True
    columns = FEWEST
    while True:
        try:
            trial = Trial(mechanism, runs, base, columns, accuracy)
        except (ConvergenceError, SingularSystemError):
            # steps are too long for Newton's iteration
            if _spent(runs) + runs.cost(2 * base, range(1, columns + 1)) > budget:
                raise
            base = 2 * base
            continue
        if last_trial is not None:
            trial.compare(last_trial)
        last_trial = trial
        part = float(trial.part_of_wanted(wanted).max())
        if best_trial is None or part < smallest:
            best_trial, smallest = trial, part
        if part <= 1.0:
            return trial
        shrinks, last = part < SHRINKS * last, part
        left = budget - _spent(runs)
        following = cheapest(runs, base, columns, part, left) if shrinks else None
        if following is None:
            # more columns would only amplify what has no expansion
            following = finest(runs, base, 2 if not shrinks else LARGEST_REFINEMENT, left)
        if following is None:
            _warn(best_trial, wanted, budget)
            return best_trial
        base, columns = following


def cheapest(
    runs: Columns, base: int, columns: int, part: float, left: int
) -> tuple[int, int] | None:
    """Return the numbers of steps and columns predicted to reach the wanted error for least work.

    Parameters
    ----------
    runs : Columns
    base, columns : int
        Of the last trial.
    part : float
        Its estimate, relative to the wanted error.
    left : int
        Most steps that may still be taken.
    """
    found: list[tuple[int, int, int]] = []
    for more in range(columns, MOST + 1):
        # estimates fall with the order of the extrapolation from one column less
        needed = (part * GAIN ** (more - columns) / AIM) ** (1.0 / more)
        factor = min(max(needed, 1.0), LARGEST_REFINEMENT)
        refined = math.ceil(base * factor)
        multiple = base * math.ceil(factor - 1e-9)  # shares runs with the present one
        for steps in {refined, multiple}:
            cost = runs.cost(steps, range(1, more + 1))
            if cost and cost <= left and (steps, more) != (base, columns):
                penalty = needed / factor  # what this refinement does not reach
                found.append((math.ceil(cost * max(penalty, 1.0)), steps, more))
    return min(found)[1:] if found else None


def finest(runs: Columns, base: int, most: int, left: int) -> tuple[int, int] | None:
    """Return the finest multiple of the steps that the budget allows, with the fewest columns."""
    for multiple in range(most, 1, -1):
        if runs.cost(multiple * base, range(1, FEWEST + 1)) <= left:
            return multiple * base, FEWEST
    return None


def _spent(runs: Columns) -> int:
    return sum(runs.made)


def _warn(trial: Trial, wanted: Mapping[str, float], budget: int) -> None:
    """Say until when the wanted error holds, and why not longer."""
    parts = trial.part_of_wanted(wanted)
    bad = np.flatnonzero(parts > 1.0)
    until = trial.times[max(bad[0] - 1, 0)]
    why = (
        "and it does not fall as it should with more steps: they do not resolve an oscillation, "
        "or a callback jumps, or the motion is chaotic"
        if trial.is_irregular(int(parts.argmax()))
        else "finer steps would still lower it: raise maxsteps"
    )
    warnings.warn(
        f"{trial.mechanism.name}: the wanted error holds until t = {until:.6g} only; at most it "
        f"is estimated as {parts.max():.2g} times the wanted one, with {trial.columns} runs of up "
        f"to {trial.used[-1]} steps within the {budget} steps of all runs that maxsteps allows, "
        f"{why}. solution.error has the estimates",
        WantedErrorWarning,
        stacklevel=5,
    )
