"""Records as tables: what is shown of each series, and of each run."""

from __future__ import annotations

from collections.abc import Iterable

from comparisons.cases import CASES
from comparisons.names import Counter, Drift, Form, Variable
from comparisons.record import Extent, Record, by_series
from comparisons.solvers import SOLVERS
from comparisons.store import Stored
from comparisons.table import Cell, Table, fitted, grid, markdown, number, word
from comparisons.verdicts import judge

#: The summary shows each series at its cheapest run with at most this relative error in q.
TARGET = 1e-3


def summary(mechanism: str, records: Iterable[Record], target: float = TARGET) -> Table:
    """Return one row per series, at the cheapest run that reaches `target` in q."""
    headers = ["solver", "form", "ok", "order q", "order lam/psi", "h or tol", "err q", "err v"]
    headers += ["err lam/psi", "err z", "drift g", "drift g'", "drift k", "energy", "steps"]
    headers += ["iter/step", "force calls", "CPU ms", "warnings"]
    title = f"{mechanism}: cheapest run with relative error of q <= {target:g}"
    table = Table(title, headers, left=2)
    for series, runs in by_series(r for r in records if r.mechanism == mechanism).items():
        verdict, good = judge(runs), [run for run in runs if run.ok]
        shown = _shown(good, target)
        order = verdict.orders
        row = [word(series.solver), word(series.form)]
        row.append(Cell(f"{len(good)}/{len(runs)}", len(good) / len(runs)))
        row.append(number(order.get(Variable.Q), ".1f"))
        row.append(number(order.get(Variable.LAM, order.get(Variable.PSI)), ".1f"))
        row += _cells(shown) if shown else [number(None)] * 13
        row.append(Cell(verdict.text, verdict.text, warning=bool(verdict.flags)))
        table.rows.append(row)
    return table


def _shown(good: list[Record], target: float) -> Record | None:
    """Return the coarsest run that reaches the target, or else the most accurate one."""
    for run in good:
        error = run.relative_error(Variable.Q)
        if error is None or error <= target:
            return run
    return min(good, key=lambda run: run.relative_error(Variable.Q) or 0.0, default=None)


def _cells(run: Record) -> list[Cell]:
    """Return step or tolerance, errors, drift, energy and work of one run."""
    multipliers = run.relative_error(Variable.LAM)
    if multipliers is None:
        multipliers = run.relative_error(Variable.PSI)
    return [
        Cell(f"{run.setting.symbol} {run.value:.1e}", run.value),
        number(run.relative_error(Variable.Q)),
        number(run.relative_error(Variable.V)),
        number(multipliers),
        number(run.relative_error(Variable.Z)),
        *(number(run.drift[kind].max if kind in run.drift else None) for kind in Drift),
        number(run.energy.max if run.energy else None),
        number(run.counters.get(Counter.STEPS), "d"),
        number(run.per_step(Counter.ITERATIONS), ".1f"),
        number(run.calls.get("force"), "d"),
        number(None if run.cpu_time is None else 1e3 * run.cpu_time, ".1f"),
    ]


def full(mechanism: str, records: Iterable[Record]) -> Table:
    """Return one row per run, with everything that is measured."""
    headers = ["solver", "form", "h or tol", "status"]
    headers += [f"{x} {end}" for x in Variable for end in ("max", "final")]
    headers += [f"drift {x} {end}" for x in Drift for end in ("max", "final")]
    headers += ["energy max", "energy final", *(str(x) for x in Counter)]
    headers += [f"{x}/step" for x in list(Counter)[1:]]
    headers += ["force calls", "wall ms", "CPU ms", "reason"]
    table = Table(f"{mechanism}: all runs (relative errors)", headers, left=2)
    for runs in by_series(r for r in records if r.mechanism == mechanism).values():
        table.rows += [_full_row(run) for run in runs]
    return table


def _full_row(run: Record) -> list[Cell]:
    row = [word(run.solver), word(run.form)]
    row.append(Cell(f"{run.setting.symbol} {run.value:.2e}", run.value))
    row.append(Cell(str(run.status), str(run.status), warning=not run.ok))
    for variable in Variable:
        extent, scale = run.error.get(variable), run.scale.get(variable) or 1.0
        row += _extent_cells(extent, scale)
    for kind in Drift:
        row += _extent_cells(run.drift.get(kind))
    row += _extent_cells(run.energy)
    row += [number(run.counters.get(x), "d") for x in Counter]
    row += [number(run.per_step(x), ".2f") for x in list(Counter)[1:]]
    row.append(number(run.calls.get("force"), "d"))
    row += [number(t and 1e3 * t, ".2f") for t in (run.wall_time, run.cpu_time)]
    row.append(Cell(run.reason, run.reason, warning=bool(run.reason)))
    return row


def _extent_cells(extent: Extent | None, scale: float = 1.0) -> list[Cell]:
    if extent is None:
        return [number(None), number(None)]
    return [number(extent.max / scale), number(extent.final / scale)]


#: What of the summary fits a terminal; the page and the Markdown have the rest.
ON_TERMINAL = frozenset(
    ["solver", "form", "ok", "order q", "h or tol", "err q", "err lam/psi", "drift g", "drift g'"]
    + ["force calls", "CPU ms", "warnings"]
)
#: What is there as well if a run has it: only driven mechanisms have first-order states.
IF_ANY = frozenset(["err z"])


def compact(table: Table, width: int) -> Table:
    """Return the columns that fit a terminal, the last one cut off where the line ends."""
    chosen = [
        i
        for i, header in enumerate(table.headers)
        if header in ON_TERMINAL or (header in IF_ANY and _has_numbers(table, i))
    ]
    rows = [[row[i] for i in chosen] for row in table.rows]
    return fitted(Table(table.title, [table.headers[i] for i in chosen], table.left, rows), width)


def _has_numbers(table: Table, column: int) -> bool:
    """Tell whether a column has a number in any row."""
    return any(row[column].sort != number(None).sort for row in table.rows)


def arranged(records: Iterable[Record]) -> list[Record]:
    """Sort records as the mechanisms and solvers are registered; unknown ones come last."""
    cases, solvers, forms = list(CASES), list(SOLVERS), list(Form)

    def place(known: list[str], name: str) -> int:
        return known.index(name) if name in known else len(known)

    return sorted(
        records,
        key=lambda r: (
            place(cases, r.mechanism), place(solvers, r.solver), forms.index(r.form), -r.value
        ),
    )  # fmt: skip


def mechanisms_of(records: Iterable[Record]) -> list[str]:
    """Return the mechanisms in order of appearance."""
    return list(dict.fromkeys(record.mechanism for record in records))


def about(records: Iterable[Stored]) -> str:
    """Return machine, versions and dates in Markdown; several values where the records differ."""
    return markdown(grid(("", ""), origins(records), left=2))


def origins(records: Iterable[Stored]) -> list[tuple[str, str]]:
    """Return what `about` shows."""
    records = list(records)
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for key, value in record.environment.items():
            found.setdefault(key, {})[value] = None
    dates = sorted(record.date for record in records)
    lines = [(key, " / ".join(values)) for key, values in found.items()]
    return [("measured", f"{dates[0]} to {dates[-1]}" if dates else "never"), *lines]
