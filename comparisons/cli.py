"""The command line of the comparisons."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from comparisons import tables
from comparisons.cases import CASES, LEFT_OUT
from comparisons.docs_page import write_docs
from comparisons.names import Form, Setting
from comparisons.plugins import load, located
from comparisons.progress import watched_run
from comparisons.record import Record
from comparisons.reference import reference_note
from comparisons.report import write_report
from comparisons.runner import Choice, Plan
from comparisons.solvers import SOLVERS
from comparisons.table import rich_table

OUTPUT = Path(__file__).parent / "output"
DOCS = Path(__file__).parents[1] / "docs" / "pages"
#: The main job is short: fewer tolerances, and runs are stopped early.
MAIN_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7)
MAIN_LIMIT = 2.5
#: Columns where the output is no terminal.
WIDTH = 150


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    options = _parser().parse_args(arguments)
    options.plugin = [located(plugin) for plugin in options.plugin]
    before = frozenset(CASES), frozenset(SOLVERS)
    for plugin in options.plugin:
        load(plugin)
    options.new_cases = [case for name, case in CASES.items() if name not in before[0]]
    console = Console(width=None if Console().is_terminal else WIDTH)
    commands = {None: _main_job, "list": _list, "run": _run, "report": _report, "papers": _papers}
    try:
        return commands[options.command](options, console)
    except KeyboardInterrupt:
        console.print("\nstopped; what is done is kept, and the same command goes on from there")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m comparisons",
        description="Compare solvers on mechanisms. Without a command: the main job, some "
        "minutes on the pendulum, the slider-crank and the driven mechanisms, with tables, plots "
        "and a report; with --plugin, on the mechanisms of that file, if it has some.",
    )
    parser.set_defaults(**_defaults())
    _add_plugin(parser)
    parser.add_argument("--output", type=Path, help="folder for records and reports")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="what there is: mechanisms, solvers, forms").set_defaults(
        **_defaults()
    )
    for name, text in (
        ("run", "run a part of the grid, then report on it"),
        ("report", "tables, plots and HTML of the records that are there"),
    ):
        _add_choices(commands.add_parser(name, help=text))
    commands.choices["report"].add_argument(
        "--docs", action="store_true", help="also into the page of the docs"
    )
    papers = commands.add_parser("papers", help="draw the papers' figures; measure their orders")
    papers.add_argument("--docs", action="store_true", help="into the docs, instead of the output")
    papers.set_defaults(**_defaults())
    return parser


def _defaults() -> dict[str, object]:
    return {"plugin": [], "output": OUTPUT}


def _add_choices(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--mechanism", nargs="+", default=[], metavar="NAME", help="default: all")
    add("--solver", nargs="+", default=[], metavar="NAME", help="default: all")
    add("--form", nargs="+", default=[], type=Form, choices=list(Form), metavar="FORM",
        help="default: all")  # fmt: skip
    add("--values", nargs="+", default=[], metavar="h=X,X|tol=X,X", type=_values,
        help="step sizes and tolerances, for example h=1e-2,1e-3 tol=1e-6; default: the "
        "mechanisms' own")  # fmt: skip
    add("--stride", type=int, default=1, help="only every so many-th of these values")
    add("--jobs", type=int, default=1, help="processes for accuracy; timings are serial")
    add("--dask", default="", metavar="ADDRESS", help="measure accuracy on a Dask cluster")
    add("--repeats", type=int, default=3, help="runs per timing; 0: no timings (default 3)")
    add("--limit", type=float, default=20.0, help="seconds per run (default 20)")
    add("--any-code", action="store_true", help="keep records that other code has made")
    _add_plugin(parser)
    add("--output", type=Path, default=OUTPUT, help="folder for records and reports")


def _add_plugin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin", nargs="+", default=[], metavar="FILE",
        help="files (or modules) that register solvers or mechanisms of yours",
    )  # fmt: skip


def _values(text: str) -> tuple[Setting, tuple[float, ...]]:
    symbols = {setting.symbol: setting for setting in Setting}
    symbol, _, values = text.partition("=")
    if symbol not in symbols:
        raise argparse.ArgumentTypeError(f"{text!r}: expected one of {list(symbols)} before '='")
    try:
        return symbols[symbol], tuple(float(x) for x in values.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error


def _choice(options: argparse.Namespace) -> Choice:
    for given, known in ((options.mechanism, CASES), (options.solver, SOLVERS)):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise SystemExit(f"unknown: {', '.join(unknown)}; there are: {', '.join(known)}")
    return Choice(
        tuple(options.mechanism),
        tuple(options.solver),
        tuple(options.form),
        dict(options.values) or None,
        options.stride,
    )


def _main_job(options: argparse.Namespace, console: Console) -> int:
    plan = Plan(options.output, limit=MAIN_LIMIT, budget=0.3, plugins=tuple(options.plugin))
    keys = []
    solvers = tuple(name for name, solver in SOLVERS.items() if solver.main)
    for case in options.new_cases or [case for case in CASES.values() if case.main]:
        values = {Setting.STEP: case.values(Setting.STEP), Setting.TOLERANCE: MAIN_TOLERANCES}
        keys += Choice((case.name,), solvers, values=values).keys()
    return _show(watched_run(plan, keys, console), options.output, console)


def _run(options: argparse.Namespace, console: Console) -> int:
    plan = Plan(
        options.output, options.limit, options.repeats, jobs=options.jobs, dask=options.dask,
        any_code=options.any_code, plugins=tuple(options.plugin),
    )  # fmt: skip
    return _show(watched_run(plan, _choice(options).keys(), console), options.output, console)


def _report(options: argparse.Namespace, console: Console) -> int:
    wanted = set(_choice(options).keys()) if options.values else None
    choice = _choice(options)
    records = [
        record
        for record in Plan(options.output).store.read()
        if (not choice.mechanisms or record.mechanism in choice.mechanisms)
        and (not choice.solvers or record.solver in choice.solvers)
        and (not choice.forms or record.form in choice.forms)
        and (wanted is None or record.key in wanted)
    ]
    if not records:
        console.print(f"no such records in {options.output}; `run` makes them")
        return 1
    if options.docs:
        console.print(f"written: {write_docs(tables.arranged(records), DOCS)}")
    return _show(records, options.output, console)


def _show(records: list[Record], output: Path, console: Console) -> int:
    if not records:
        console.print("nothing to run: no solver of the choice is installed, or no pair fits")
        return 1
    records = tables.arranged(records)
    for mechanism in tables.mechanisms_of(records):
        table = tables.compact(tables.summary(mechanism, records), console.width)
        console.print(rich_table(table))
    for solver in SOLVERS.values():
        reason = solver.missing()
        if reason:
            console.print(f"left out: {solver.name}: {reason}")
    for mechanism in tables.mechanisms_of(records):
        note = reference_note(mechanism, output / "references")
        if note:
            console.print(note)
    page = write_report(records, output)
    console.print(f"report: {page}")
    return 0


def _papers(options: argparse.Namespace, console: Console) -> int:
    from comparisons.papers.page import write_page  # here, because it takes a second to import

    folder = DOCS if options.docs else options.output / "papers"
    console.print(f"written: {write_page(folder, tell=console.print)}")
    return 0


def _list(options: argparse.Namespace, console: Console) -> int:
    for case in CASES.values():
        o = case.make()
        console.print(f"mechanism {case.name}: n = {o.n_q}, m = {o.n_lam}, l = {o.n_psi}, "
                      f"t = {case.t_final:g}{', main job' if case.main else ''}")  # fmt: skip
    for name, why in LEFT_OUT.items():
        console.print(f"left out  {name}: {why}")
    for solver in SOLVERS.values():
        missing = solver.missing()
        forms = ", ".join(map(str, solver.forms))
        console.print(f"solver {solver.name}: {solver.setting.symbol}; {missing or forms}")
    return 0
