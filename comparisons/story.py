"""Which series a plot needs: one per solver, in the formulation that suits it best.

A grid has some twenty series per mechanism, and a plot of all of them shows none. The others are
not hidden: reports have both plots.
"""

from __future__ import annotations

from collections.abc import Iterable

from comparisons.names import Flag, Setting, Variable
from comparisons.record import Record, Series, by_series
from comparisons.verdicts import verdicts

#: Series are ranked by what they pay for this relative error of q.
TARGET = 1e-3


def telling(records: Iterable[Record]) -> list[Record]:
    """Return the records, of one mechanism, of the series that tell most.

    Of each solver the formulation with the fewest kinds of warnings, among those the cheapest; of a
    scheme that runs with fixed and with adaptive steps, the adaptive ones.
    """
    records = list(records)
    groups, judged = by_series(records), verdicts(records)
    best: dict[str, tuple[tuple[float, ...], Series]] = {}
    for series, runs in groups.items():
        if not any(run.ok for run in runs):
            continue
        flags = judged[series].flags
        fixed = series.setting is Setting.STEP
        rank = (
            float(fixed),
            float(any(flag is Flag.FAILS for flag, _ in flags)),
            float(len(flags)),
            _price(runs),
        )
        name = series.solver.removesuffix(" (adaptive)")
        if name not in best or rank < best[name][0]:
            best[name] = rank, series
    chosen = {series for _, series in best.values()}
    return [record for record in records if record.series in chosen]


def _price(runs: list[Record]) -> float:
    """Calls of the force of the cheapest run that is accurate enough; without one, infinity."""
    good = [run for run in runs if run.ok and (run.relative_error(Variable.Q) or 0.0) <= TARGET]
    return min((float(run.calls.get("force", 0)) for run in good), default=float("inf"))
