"""`integrate` with a wanted error of the result: a grid, runs on it, their extrapolation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.events import Events
from genalpha.driver.extrapolation.columns import Columns
from genalpha.driver.extrapolation.control import FEWEST_STEPS, best
from genalpha.driver.extrapolation.grid import SmoothGrid
from genalpha.driver.extrapolation.solution import (
    ColumnCost,
    ExtrapolatedSolution,
    ExtrapolationCounters,
)
from genalpha.driver.options import Options
from genalpha.driver.phases import Phases
from genalpha.driver.stepper import Stepper
from genalpha.model import Mechanism
from genalpha.numerics.accuracy import FULL, leading_tolerance
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: Tolerances of the first run, which finds the grid, unless the user gives them.
LOOSE = {"rtol": 1e-3, "atol": 1e-4}
#: Newton's accuracy, relative to the smallest wanted error; and its loosest.
NEWTON, LOOSEST = 1e-3, 1e-7
#: With as many steps as the first run has, four columns have about this error: a first guess.
USUAL_ERROR = 1e-7


def integrate_to_error(
    mechanism: Mechanism,
    t_final: float,
    scheme: str,
    options: Mapping[str, Any],
    t_eval: Array | None,
) -> ExtrapolatedSolution:
    """Integrate until the error of the result is estimated to be at most the option `error`."""
    before = mechanism.calls
    wanted = Options(scheme, mechanism, **options).error
    first = Options(scheme, mechanism, **{**LOOSE, **options})
    counters = ExtrapolationCounters()
    times = _adaptive_times(mechanism, t_final, first, counters)
    smallest = min(wanted.values())
    accuracy = first.newton_accuracy or min(LOOSEST, max(FULL, NEWTON * smallest))
    chosen = Options(scheme, mechanism, **{**options, "newton_accuracy": accuracy})
    o = mechanism
    start = Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())
    runs = Columns(SmoothGrid(times).times, lambda c: Stepper(o, chosen, c), start)
    share = (USUAL_ERROR / smallest) ** 0.25
    coarsest = 1.0 if first.maxh else 0.2  # a largest step holds for every run
    base = max(FEWEST_STEPS, int((times.size - 1) * max(coarsest, share)))
    trial = best(o, runs, wanted, base, accuracy, first.maxsteps)
    _add(counters, runs, trial.used)
    solution = ExtrapolatedSolution(trial, counters, t_eval)
    counters.calls = {key: count - before[key] for key, count in o.calls.items()}
    return solution


def _adaptive_times(o: Mechanism, t_final: float, chosen: Options, counters: Counters) -> Array:
    """Return the times of an adaptive run."""
    stepper = Stepper(o, chosen, counters, leading_tolerance(chosen.rtol, chosen.atol))
    sizes = AdaptiveSteps.chosen(chosen, chosen.atol)
    phases = Phases(o, lambda _: (stepper, sizes), Events([]), complete=False)
    phases.run(t_final)
    return phases.record.times


def _add(counters: ExtrapolationCounters, runs: Columns, used: list[int]) -> None:
    """Add what the runs cost."""
    columns = sorted(runs.made.values(), key=lambda column: column.steps)
    counters.columns = [ColumnCost(c.steps, c.steps in used, c.counters) for c in columns]
    for name in ("nsteps", "nfcns", "njacs", "nfcnjacs", "nlus", "nniters", "nnfails"):
        total = getattr(counters, name) + sum(getattr(c.counters, name) for c in columns)
        setattr(counters, name, total)
    counters.h_min = min(c.counters.h_min for c in columns)
    counters.h_max = max(counters.h_max, *(c.counters.h_max for c in columns))
