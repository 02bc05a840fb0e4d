"""Rows as tables: which columns, what is compared with stored records, which targets are missed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from comparisons.bench.rows import Key, Row, Value
from comparisons.table import Cell, Table, markdown, number, word
from comparisons.tables import about, origins


@dataclass(frozen=True)
class Layout:
    """How the rows of one table are shown.

    Attributes
    ----------
    title, text : str
        Headline, and what the columns mean.
    labels : tuple of str
        Headers of the row's label.
    columns : str -> format
        The values that are shown, and how.
    compared : tuple of str
        Values with a column "before", the stored one: ratios, counts, or normalised times.
    at_least : bool
        Whether targets are lower bounds.
    """

    title: str
    text: str
    labels: tuple[str, ...]
    columns: Mapping[str, str]
    compared: tuple[str, ...]
    at_least: bool = False


#: What all races show.
RACE: dict[str, Any] = {
    "labels": ("mechanism", "error"),
    "columns": {"ours ms": ".2f", "ours": "", "IDA ms": ".2f", "Radau5DAE ms": ".2f",
                "ODASSL ms": ".2f", "best peer": "", "ratio": ".2f"},
    "compared": ("ratio",),
    "at_least": True,
}  # fmt: skip
#: The same of races to errors of the result, with SciPy's solvers.
ERROR_RACE: dict[str, Any] = RACE | {
    "columns": {"ours ms": ".1f", "ours": "", "IDA ms": ".1f", "Radau5DAE ms": ".1f",
                "ODASSL ms": ".1f", "SciPy DOP853 ms": ".1f", "SciPy Radau ms": ".1f",
                "best peer": "", "ratio": ".2f"},
}  # fmt: skip
LAYOUTS: dict[str, Layout] = {
    "overhead": Layout(
        "Overhead: time of a step / time inside callbacks and linear algebra",
        "Microseconds of CPU time per step with fixed steps. *callbacks*: calls counted × time of "
        "each callback alone; *LA*: factorizations and solutions counted × time of each alone; "
        "*ratio*: step / (callbacks + LA). Fewer iterations per step make the step faster and the "
        "ratio larger, because what a step costs once is then compared with fewer calls. Times "
        "alone are those of calls from Python: inside a run a small callback takes longer, and "
        "most of SciPy's dgetrs on a pendulum's system is its wrapper.",
        ("mechanism", "scheme"),
        {"µs/step": ".1f", "callbacks µs": ".1f", "LA µs": ".1f", "callbacks %": ".0f",
         "LA %": ".0f", "it/step": ".2f", "ratio": ".2f", "target": ".1f"},
        ("ratio",),
    ),
    "newton": Layout(
        "Newton: iterations, Jacobians, factorizations per step",
        "Fixed steps of size h. *it*, *J*, *LU* with jacobian = \"auto\"; *(s)* \"every step\"; "
        "*(i)* \"every iteration\"; *time*: CPU time of auto / every iteration. The targets "
        "are those of smooth motion: it 3.0, J 0.15, time 1.1.",
        ("mechanism", "scheme"),
        {"h": ".1e", "steps": ".0f", "it": ".2f", "J": ".3f", "LU": ".3f", "it (s)": ".2f",
         "LU (s)": ".2f", "it (i)": ".2f", "LU (i)": ".2f", "time": ".2f"},
        ("it", "J", "time"),
    ),
    "growth": Layout(
        "Growth: the chain of N links",
        "Microseconds of CPU time per step, start-up subtracted; *per N*: over N; "
        "*normalised*: over the yardstick of this run; *exponent* of the fit from N = 100 on; "
        "*last*: of the two longest alone. "
        "*level*: released horizontally, as in the catalogue; *steep*: 1.2 rad below.",
        ("links", "start", "scheme"),
        {"µs/step": ".0f", "per N": ".2f", "start-up ms": ".1f", "it/step": ".2f",
         "normalised": ".1f", "exponent": ".2f", "last": ".2f"},
        ("normalised", "exponent"),
    ),
    "race": Layout(
        "Race: CPU time to reach an error in q",
        "Largest component of the error of q at the sample times, relative to the "
        "largest component of the reference's q. Milliseconds by interpolation of log(time) over "
        "log(error) on each solver's ladder of steps or tolerances, best formulation of each; "
        "*at most*: the coarsest run is already better. *ratio*: best of IDA, Radau5DAE, ODASSL / "
        "best of ours, above 1 where we are ahead. Targets only for 1e-2 and 1e-3 on the stiff "
        "and the large mechanisms.",
        **RACE,
    ),
    "race: defaults": Layout(
        "Race: the defaults",
        "The same race, but ours is what `integrate` does when nothing is chosen but the "
        "tolerance: GenAlphaSOI2 with adaptive steps, its start included.",
        **RACE,
    ),
    "race: residual": Layout(
        "Race: everybody on a plain residual",
        "The same mechanism as a plain `Implicit_Problem` or `Overdetermined_Problem` without "
        "`jac`: no solver sees more than `res`. Making the solver, which for ours means asking "
        "`res` what it is, belongs to the run.",
        **RACE,
    ),
    "race: residual with jac": Layout(
        "Race: everybody on a plain residual with its Jacobian",
        "The same with `jac`, which Radau5DAE and ODASSL of Assimulo do not call.",
        **RACE,
    ),
    "error race": Layout(
        "Race to errors of the result",
        "`integrate(..., error=...)`, which finds its grid by itself, against the peers in all "
        "their formulations and SciPy's solvers on the ode form; errors are the true ones, of q, "
        "as above. *ratio*: best peer / best of ours; the target, 1 / 0.7, is for 1e-4, 1e-6 and "
        "1e-8.",
        **ERROR_RACE,
    ),
    "error race: defaults": Layout(
        "Race to errors of the result: the default",
        "The same race, but ours is what `integrate` does when neither `error` nor `h` is given: "
        "GenAlphaSOI2 with adaptive steps, its start included; the tolerance that gives the error "
        "was found by trying, for everybody. *ratio*: best peer / ours; it should be above 1.",
        **ERROR_RACE,
    ),
    "race: failures": Layout(
        "Race: who fails",
        "Solvers and formulations with runs that failed, and the reason of the finest.",
        ("mechanism", "solver"),
        {"failed": ".0f", "runs": ".0f"},
        (),
    ),
    "exudyn": Layout(
        "Exudyn with Python user functions on the point pendulum",
        "Microseconds of CPU time per step, h = 1e-3, interleaved. *ratio*: "
        "ours / the faster of Exudyn's two Newton variants, with functions of the same kind; "
        "*error*: of q at the end.",
        ("solver", "variant"),
        {"µs/step": ".1f", "it/step": ".2f", "error": ".1e", "ratio": ".2f", "target": ".1f"},
        ("ratio",),
    ),
    "formulas": Layout(
        "Mechanisms from formulas: steps in machine code",
        "Microseconds of CPU time per step with equal steps, start-up subtracted. *Exudyn*: its "
        "own C++ bodies and joints, in the same 3 N absolute coordinates with 2 N constraints "
        "and with the same h, interleaved; the faster of its two Newton variants. *ratio*: ours / "
        "Exudyn's. GenAlphaI3 is of index 3 as Exudyn is; GenAlphaSOI2 and HHTI2 also keep the "
        "constraints at velocity level. Up to 128 unknowns steps are taken in machine code; the "
        "chain of 100 has 500, and sparse matrices.",
        ("mechanism", "scheme"),
        {"h": ".0e", "µs/step": ".2f", "start-up ms": ".1f", "it/step": ".2f",
         "Exudyn µs": ".1f", "ratio": ".2f", "target": ".1f"},
        ("ratio",),
    ),
    "sweep": Layout(
        "Many runs on two cores",
        "A sweep of the compiled slider-crank over its torque, on the clock: in this process, "
        "one half before and one after, and with two workers as `sweep` chooses them, which are "
        "forked processes on Linux; "
        "*kept*: at how many times the motion is kept. *ratio*: throughput of two workers over "
        "one; *threads*: the same of two threads, which wait for each other in all that is "
        "Python: starts, results, adaptive steps; *two processes*: of two processes that hash "
        "in C, before and after, which is what the machine had to give. A ratio far "
        "above 2 where every step is kept is no merit of two workers: one process is held up "
        "there by the system, which hands it new memory for every motion.",
        ("scheme", "steps", "kept"),
        {"runs": ".0f", "runs/s, one": ".1f", "runs/s, two": ".1f", "ratio": ".2f",
         "threads": ".2f", "two processes": ".2f", "target": ".1f"},
        (),
        at_least=True,
    ),
    "against": Layout(
        "Old and new code, interleaved",
        "CPU time of whole integrations, start included, of this code and of an older one, by "
        "turns in one run (`python -m comparisons.bench against --against PYTHON`), the smallest "
        "of each. The adaptive runs have rtol = atol = 1e-6; their step control differs, so that "
        "the *ratio* is of other steps, and *per step* is what a step costs.",
        ("run", "scheme"),
        {"old ms": ".2f", "new ms": ".2f", "old steps": ".0f", "new steps": ".0f",
         "ratio": ".2f", "per step": ".2f"},
        (),
    ),
    "instructions": Layout(
        "Old and new code, instructions",
        "Thousands of instructions per step, start included, of the same runs with this code and "
        "with an older one, counted by Valgrind (`python -m comparisons.bench instructions "
        "--against PYTHON`): a busy machine does not change them. *ratio*: of the whole run, new "
        "over old; the target is 1.05. *per step* differs where step control takes other steps.",
        ("run", "scheme"),
        {"old": ".1f", "new": ".1f", "old steps": ".0f", "new steps": ".0f",
         "ratio": ".3f", "per step": ".3f"},
        (),
    ),
}  # fmt: skip


def missed(row: Row, layout: Layout) -> str:
    """Return the targets that a row misses, in words; empty if it meets all of them."""
    words = []
    for name, target in row.targets.items():
        value = row.number(name)
        if value is None:
            words.append(f"{name} not measured")
        elif layout.at_least and not value >= target:
            words.append(f"{name} {value:.3g} < {target:g}")
        elif not layout.at_least and not value <= target:
            words.append(f"{name} {value:.3g} > {target:g}")
    return ", ".join(words)


def table(name: str, rows: Iterable[Row], before: Mapping[Key, Row]) -> Table:
    """Return the rows of one table beside the stored ones."""
    layout = LAYOUTS[name]
    headers = list(layout.labels)
    for column in layout.columns:
        headers.append(column)
        if column in layout.compared:
            headers.append("before")
    made = Table(layout.title, [*headers, "verdict"], left=len(layout.labels))
    for row in rows:
        if row.table == name:
            made.rows.append(_cells(row, layout, before.get(row.key)))
    return made


def _cells(row: Row, layout: Layout, old: Row | None) -> list[Cell]:
    cells = [word(part) for part in row.label]
    for column, pattern in layout.columns.items():
        cells.append(_cell(row.values.get(column), pattern))
        if column in layout.compared:
            cells.append(_cell(old.values.get(column) if old else None, pattern))
    fault = missed(row, layout)
    verdict = f"missed: {fault}" if fault else "met" if row.targets else ""
    words = "; ".join(part for part in (verdict, row.note) if part)
    return [*cells, Cell(words, words, warning=bool(fault))]


def _cell(value: Value, pattern: str) -> Cell:
    return word(value) if isinstance(value, str) else number(value, pattern or ".3g")


def tables(rows: Iterable[Row], before: Mapping[Key, Row]) -> list[tuple[Layout, Table]]:
    """Return all tables that have rows, in the order of `LAYOUTS`."""
    rows = list(rows)
    made = [(layout, table(name, rows, before)) for name, layout in LAYOUTS.items()]
    return [(layout, found) for layout, found in made if found.rows]


#: The tables need the room of the navigation.
FRONT = "---\nhide: [navigation]\n---\n"
INTRODUCTION = (
    "One run of `make bench`: what a step costs, and how long it takes to reach an error, beside "
    "other solvers. Machines are noisy: only ratios within a run mean something. *before* is the "
    "run before the last changes, *target* what the project asks of itself, *verdict* whether it "
    "has that, with what costs most. [How Newton's iteration works](theory/newton.md), and why."
)


def markdown_page(rows: Iterable[Row], before: Mapping[Key, Row]) -> str:
    """Return a page of all tables in Markdown, with machine and versions."""
    rows = list(rows)
    sections = _sections(rows, before)
    return "\n".join([FRONT, "# Speed", "", INTRODUCTION, "", *sections.values(), about(rows)])


def with_tables(page: str, rows: Iterable[Row], before: Mapping[Key, Row]) -> str:
    """Return a page with the tables of a run of some benchmarks in the place of older ones."""
    rows = list(rows)
    page, machine = re.split(r"^(?=\| +\| +\|$)", page, maxsplit=1, flags=re.MULTILINE)
    head, *parts = page.split("\n## ")
    found = {part.splitlines()[0]: f"## {part}" for part in parts}
    measured = ", ".join(" ".join(pair) for pair in origins(rows)[:1])
    for title, section in _sections(rows, before).items():
        found[title] = f"{section}\nThis table: {measured}.\n"
    return "\n".join([head, *(x.rstrip("\n") + "\n" for x in found.values()), machine])


def _sections(rows: list[Row], before: Mapping[Key, Row]) -> dict[str, str]:
    """Return the tables in Markdown, each under its heading, by their titles."""
    found = {}
    for layout, made in tables(rows, before):
        untitled = replace(made, title="")  # it is a heading of the page
        lines = [f"## {layout.title}", "", layout.text, "", markdown(untitled)]
        found[layout.title] = "\n".join(lines)
    return found
