"""Records as plots. Each function reads records of one mechanism and returns a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import matplotlib
import numpy as np

from comparisons.names import Counter, Drift, Form, Setting, Variable, Word
from comparisons.record import Record, Series, by_series
from comparisons.solvers import SOLVERS
from comparisons.verdicts import verdicts

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

#: One marker per formulation; a solver's colour is its own.
MARKERS = {
    Form.MECHANISM: "o",
    Form.IND3: "v",
    Form.IND2: "s",
    Form.IND1: "^",
    Form.GGL2: "D",
    Form.OVSTAB2: "P",
    Form.OVSTAB1: "X",
    Form.ODE: "*",
}
#: For lines without markers.
DASHES: dict[Form, Any] = {
    Form.MECHANISM: "-",
    Form.IND3: (0, (1, 1)),
    Form.IND2: (0, (6, 2)),
    Form.IND1: (0, (3, 1, 1, 1)),
    Form.GGL2: (0, (3, 3)),
    Form.OVSTAB2: (0, (8, 2, 1, 2)),
    Form.OVSTAB1: (0, (2, 2)),
    Form.ODE: (0, (5, 1)),
}
SIZE = (8.5, 4.8)
#: Residuals over time are drawn by their largest value in so many parts of the run.
WINDOWS = 40

Array = np.ndarray


class Cost(Word):
    """What a run costs, as an axis."""

    TIME = "CPU time (s)"
    FORCE_CALLS = "evaluations of the force"

    def of(self, run: Record) -> float | None:
        """Return the cost of a run, if it is known."""
        return run.cpu_time if self is Cost.TIME else run.calls.get("force")


def label(series: Series) -> str:
    """Return a series' name in a legend."""
    return f"{series.solver} · {series.form}"


def style(series: Series, flagged: bool = False) -> dict[str, Any]:
    """Return line style of a series: dashed if a table warns of it, hollow if adaptive."""
    solver = SOLVERS.get(series.solver)
    color = solver.color if solver else "black"
    return {
        "color": color,
        "marker": MARKERS[series.form],
        "markerfacecolor": color if series.setting is Setting.STEP else "white",
        "linestyle": "--" if flagged else "-",
        "markersize": 5,
        "linewidth": 1.1,
    }


def work_precision(records: list[Record], cost: Cost, variable: Variable) -> Any:
    """Error against cost: the lower left is best."""
    figure, axes = _figure(f"{records[0].mechanism}: error of {variable} against {cost}")
    judged = verdicts(records)
    for series, runs in by_series(records).items():
        points = [(cost.of(run), run.relative_error(variable)) for run in runs if run.ok]
        points = [(x, y) for x, y in points if x and y]
        if points:
            x, y = np.array(points, dtype=float).T
            flagged = bool(judged[series].flags)
            axes.loglog(x, y, label=_warned(series, flagged), **style(series, flagged))
    axes.set_xlabel(str(cost))
    axes.xaxis.set_minor_formatter(NullFormatter())  # they overlap within one decade
    axes.set_ylabel(f"largest relative error of {variable}")
    return _finished(figure, axes)


def drift_over_time(records: list[Record], kind: Drift) -> Any:
    """Residual of a constraint over time, one run per series; see `envelope`."""
    figure, axes = _figure(f"{records[0].mechanism}: |{kind}|, largest in {WINDOWS} parts of time")
    for series, run in _middle_runs(records).items():
        values = np.array(run.history.get(str(kind), []))
        if values.size:
            look = style(series) | {"marker": "", "linestyle": _dash(series)}
            t, largest = envelope(np.array(run.history["t"]), values)
            floor = np.maximum(largest, 1e-17)  # an exact zero has no place on a log axis
            name = f"{label(series)}, {series.setting.symbol} = {run.value:.1e}"
            axes.semilogy(t, floor, label=name, **look)
    axes.set_xlabel("t")
    axes.set_ylabel(f"max |{kind}|")
    return _finished(figure, axes)


def envelope(t: Array, values: Array) -> tuple[Array, Array]:
    """Return the largest value in each part of time, and where it is.

    Residuals jump by decades from step to step, and twenty such lines hide each other.
    """
    part = np.minimum((WINDOWS * (t - t[0]) / (t[-1] - t[0])).astype(int), WINDOWS - 1)
    at = [np.flatnonzero(part == i) for i in np.unique(part)]
    chosen = np.array([i[np.argmax(values[i])] for i in at])
    return t[chosen], values[chosen]


def step_sizes(records: list[Record]) -> Any:
    """Step sizes over time, one run per series."""
    figure, axes = _figure(f"{records[0].mechanism}: step sizes")
    for series, run in _middle_runs(records).items():
        sizes = np.array(run.history["h"])
        look = style(series) | {"marker": "", "linestyle": _dash(series)}
        name = f"{label(series)}, {series.setting.symbol} = {run.value:.1e}"
        axes.semilogy(run.history["t"], np.where(sizes > 0, sizes, np.nan), label=name, **look)
    axes.set_xlabel("t")
    axes.set_ylabel("h")
    return _finished(figure, axes)


def newton_cost(records: list[Record]) -> Any:
    """Work per step, one run per series; bars are left out where a solver does not tell."""
    runs = _middle_runs(records)
    kinds = (Counter.RESIDUALS, Counter.ITERATIONS, Counter.JACOBIANS, Counter.FACTORIZATIONS)
    figure, axes = plt.subplots(
        1, len(kinds), sharey=True, figsize=(10.0, 1.2 + 0.24 * len(runs)), layout="constrained"
    )
    names = [f"{label(s)}, {s.setting.symbol} {run.value:.0e}" for s, run in runs.items()]
    colors = [style(series)["color"] for series in runs]
    for ax, kind in zip(axes, kinds, strict=True):
        values = [run.per_step(kind) for run in runs.values()]
        ax.barh(names, [x or 0.0 for x in values], color=colors)
        for i, x in enumerate(values):
            ax.text(x or 0.0, i, " not told" if x is None else f" {x:.2f}", va="center", fontsize=7)
        ax.set_title(f"{kind} per step", fontsize=9)
        ax.margins(x=0.25)
        ax.tick_params(labelsize=7)
    axes[0].invert_yaxis()
    figure.suptitle(f"{records[0].mechanism}: work per step", fontsize=10)
    return figure


def plots_of(mechanism: str, records: Iterable[Record]) -> dict[str, Callable[[], Any]]:
    """Return name -> function that draws, for all plots that the records allow."""
    mine = [record for record in records if record.mechanism == mechanism]
    good = [record for record in mine if record.ok]
    if not good:
        return {}
    found: dict[str, Callable[[], Any]] = {}
    multiplier = Variable.LAM if any(Variable.LAM in r.error for r in good) else Variable.PSI
    for variable in (Variable.Q, multiplier):
        if any(variable in r.error for r in good):
            for cost in Cost:
                if any(cost.of(r) for r in good):
                    found[f"work-{variable}-{cost.name.lower()}"] = _drawing(
                        work_precision, mine, cost, variable
                    )
    for kind in Drift:
        if any(kind in r.drift for r in good):
            found[f"drift-{kind.name.lower()}"] = _drawing(drift_over_time, mine, kind)
    found["newton"] = _drawing(newton_cost, mine)
    found["steps"] = _drawing(step_sizes, mine)
    return found


def _dash(series: Series) -> Any:
    """Return a dash pattern for lines without markers: one per formulation, adaptive dashed."""
    adaptive = series.form is Form.MECHANISM and series.setting is Setting.TOLERANCE
    return (0, (10, 1.5)) if adaptive else DASHES[series.form]


def _drawing(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: function(*arguments)


def _warned(series: Series, flagged: bool) -> str:
    return f"{label(series)} (!)" if flagged else label(series)


def _middle_runs(records: list[Record]) -> dict[Series, Record]:
    """Return the middle one of each series' good runs."""
    found = {}
    for series, runs in by_series(records).items():
        good = [run for run in runs if run.ok]
        if good:
            found[series] = good[len(good) // 2]
    return found


def _figure(title: str) -> tuple[Any, Any]:
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    axes.set_title(title, fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    return figure, axes


def _finished(figure: Any, axes: Any) -> Any:
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure
