"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from comparisons.bench import (
    against,
    error_race,
    exudyn,
    formulas,
    growth,
    instructions,
    newton,
    overhead,
    race,
    sweeps,
)
from comparisons.bench.layout import markdown_page, tables, with_tables
from comparisons.bench.plan import Plan
from comparisons.bench.rows import OUTPUT, RECORDS, Row, rows_of
from comparisons.bench.timing import calibration, one_thread
from comparisons.store import Store
from comparisons.table import fitted, rich_table

BENCHMARKS: dict[str, Callable[[Plan], Iterator[Row]]] = {
    "overhead": overhead.run,
    "newton": newton.run,
    "growth": growth.run,
    "race": race.run,
    "error race": error_race.run,
    "defaults": error_race.defaults,
    "exudyn": exudyn.run,
    "formulas": formulas.run,
    "sweep": sweeps.run,
    "against": against.run,
    "instructions": instructions.run,
}
#: Columns where the output is no terminal.
WIDTH = 170


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if Console().is_terminal else WIDTH)
    before = rows_of(options.records)
    rows: list[Row] = []
    with one_thread():
        yardstick = calibration()
        console.print(f"yardstick: {1e6 * yardstick:.1f} µs per pass")
        file = Store(options.output / "rows.jsonl", Row)
        try:
            for row in _rows(options, console, yardstick):
                rows.append(replace(row, calibration=yardstick))
                file.append(rows[-1])  # at once: nothing is lost when stopped
        except KeyboardInterrupt:
            console.print("\nstopped; this is what was measured")
    for layout, found in tables(rows, before):
        console.print(rich_table(fitted(found, console.width)))
        console.print(layout.text, style="dim", markup=False)
    console.print(f"written: {file.path}")
    if options.store:
        Store(options.records, Row).replace(rows)
        console.print(f"stored: {options.records}")
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        if options.benchmark and options.markdown.exists():
            page = with_tables(options.markdown.read_text(encoding="utf-8"), rows, before)
        else:
            page = markdown_page(rows, before)
        options.markdown.write_text(page, encoding="utf-8")
        console.print(f"written: {options.markdown}")
    return 0


def _rows(options: argparse.Namespace, console: Console, yardstick: float) -> Iterator[Row]:
    """Run the benchmarks under a line that says what runs now."""
    with console.status("") as status:

        def tell(text: str) -> None:
            status.update(text)
            if not console.is_terminal:
                console.print(text)

        plan = Plan(options.quick, options.repeats, yardstick, tell, options.output,
                    options.against)  # fmt: skip
        for name in options.benchmark or BENCHMARKS:
            yield from BENCHMARKS[name](plan)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m comparisons.bench",
        description="Measure what a step costs, and compare it with the stored records.",
    )
    add = parser.add_argument
    add("benchmark", nargs="*", metavar="BENCHMARK", type=_name,
        help=f"some of {', '.join(BENCHMARKS)}; default: all")  # fmt: skip
    add("--quick", action="store_true", help="fewer steps and cases: a preview")
    add("--repeats", type=_positive, default=5, help="runs per median (default 5)")
    add("--store", action="store_true", help="make this run what later ones compare with")
    add(
        "--markdown",
        type=Path,
        metavar="PATH",
        help="also write the tables as Markdown; of some benchmarks: into the page that is there",
    )
    add(
        "--against",
        type=Path,
        metavar="PYTHON",
        help="interpreter of an environment with other code, for 'against' and 'instructions'",
    )
    add("--records", type=Path, default=RECORDS, help="the stored records")
    add("--output", type=Path, default=OUTPUT, help="folder for the rows of all runs")
    return parser


def _name(text: str) -> str:
    if text not in BENCHMARKS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(BENCHMARKS)}")
    return text


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return number
