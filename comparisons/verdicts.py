"""What a series of runs shows: measured orders, and what a reader must be warned of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from comparisons.names import Drift, Flag, Setting, Variable
from comparisons.orders import slope
from comparisons.record import Record, Series, by_series
from comparisons.solvers import SOLVERS

#: Relative errors outside of this range say nothing about the order: too coarse, or rounding.
ORDER_RANGE = (1e-8, 0.2)
#: A measured order may be this much below the promised one.
ORDER_SLACK = 0.4
#: A run misses its tolerance if its error is this many times as large.
TOLERANCE_SLACK = 1e3
#: A constraint drifts if its residual grows by this factor from the first to the last quarter of
#: the run, up to this share of the error of position or velocity, and is no rounding error.
GROWTH, SHARE, ROUNDING = 2.0, 0.1, 1e-12


@dataclass(frozen=True)
class Verdict:
    """What a series shows.

    Attributes
    ----------
    orders : Variable -> float
        Slope of log(error) over log(setting); left out where the runs do not show one.
    flags : tuple of (Flag, str)
        With the evidence.
    """

    orders: dict[Variable, float]
    flags: tuple[tuple[Flag, str], ...]

    def has(self, flag: Flag) -> bool:
        """Tell whether a flag is raised."""
        return any(raised is flag for raised, _ in self.flags)

    @property
    def text(self) -> str:
        """All flags with their evidence."""
        return "; ".join(f"{flag}: {why}" for flag, why in self.flags)


def verdicts(records: Iterable[Record]) -> dict[Series, Verdict]:
    """Judge every series."""
    return {series: judge(runs) for series, runs in by_series(records).items()}


def judge(runs: list[Record]) -> Verdict:
    """Judge one series."""
    good = [run for run in runs if run.ok]
    orders = {x: p for x in Variable if (p := _order(good, x)) is not None}
    found = (_failures(runs), _low_order(runs[0], orders), _drift(good), _missed(good))
    return Verdict(orders, tuple(flag for flag in found if flag))


def _order(runs: list[Record], variable: Variable) -> float | None:
    """Fit the slope through the runs whose errors can show it, the finest four at most."""
    low, high = ORDER_RANGE
    found = [(run.value, run.relative_error(variable)) for run in runs]
    points = [(value, error) for value, error in found if error is not None and low < error < high]
    if len(points) < 2:
        return None
    values, errors = zip(*points, strict=True)
    return slope(values, errors, finest=4)


def _failures(runs: list[Record]) -> tuple[Flag, str] | None:
    failed = [run for run in runs if not run.ok]
    if not failed:
        return None
    count = "all" if len(failed) == len(runs) else f"{len(failed)} of {len(runs)}"
    return Flag.FAILS, f"{count}, {failed[0].reason}"


def _low_order(run: Record, orders: dict[Variable, float]) -> tuple[Flag, str] | None:
    promised = SOLVERS[run.solver].order if run.solver in SOLVERS else None
    if promised is None or run.setting is not Setting.STEP:
        return None
    low = [f"{x} {p:.1f}" for x, p in orders.items() if p < promised - ORDER_SLACK]
    return (Flag.LOW_ORDER, f"{', '.join(low)} instead of {promised}") if low else None


def _drift(runs: list[Record]) -> tuple[Flag, str] | None:
    """Find a constraint that is left ever farther; the velocity level of g only oscillates."""
    for kind, variable in ((Drift.G, Variable.Q), (Drift.K, Variable.V)):
        for run in runs:
            least = max(ROUNDING, SHARE * run.error[variable].max if variable in run.error else 0.0)
            values = np.array(run.history.get(str(kind), []))
            quarter = len(values) // 4
            if not quarter:
                continue
            first, last = values[1 : quarter + 1].max(), values[-quarter:].max()
            if last > max(least, GROWTH * first):
                return Flag.DRIFTS, f"{kind} to {run.drift[kind].max:.0e}"
    return None


def _missed(runs: list[Record]) -> tuple[Flag, str] | None:
    worst = ""
    for run in runs:
        error = run.relative_error(Variable.Q)
        missed = error is not None and error > TOLERANCE_SLACK * run.value
        if run.setting is Setting.TOLERANCE and missed:
            worst = f"q wrong by {error:.0e} at {run.value:.0e}"
    return (Flag.MISSES, worst) if worst else None
