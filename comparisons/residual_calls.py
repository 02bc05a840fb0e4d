"""Calls of a plain residual at equal error: our classes, and IDA, Radau5DAE and ODASSL.

Everybody gets the same mechanism as a plain Assimulo problem, in a formulation that it can solve,
without `jac` or with it. Calls are counted by wrapping `res`, from the constructor on. Over a row
of tolerances, log(calls) and log(CPU time) are interpolated in log(error of q): all are compared at
the same error, and not at the error that a tolerance happens to give. Where errors do not fall from
one tolerance to the next, the cheapest run that is at least as good stands for them. Errors are
taken twice: at the end, and as the largest one of all steps.

A run that fails, or that takes more calls or more time than it may, is listed with its reason.

    python -m comparisons.residual_calls --write     # the page, docs/pages/residual_calls.md
    python -m comparisons.residual_calls pendulum    # lines of one mechanism, without `jac`
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import sys
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from comparisons.claims import put
from genalpha import integrate
from genalpha.mechanisms import catalogue

MADE = catalogue()
ERRORS = (1e-2, 1e-3, 1e-4)
TOLERANCES = tuple(10.0**-k for k in range(1, 8))
#: Name, how it is made, and the end of the run.
CASES: dict[str, tuple[Any, float]] = {
    "pendulum": (MADE["pendulum_jn"], 1.0),
    "slider-crank": (MADE["slider_crank"], 0.5),
    "Andrews": (MADE["andrews_squeezer"], 0.02),
    "heavy top": (MADE["heavy_top"], 0.2),
    "chain of 20": (partial(MADE["chain"], 20), 0.2),
}
#: Solver and formulation.
OURS = (
    ("GenAlphaI3", "ind3"),
    ("GenAlphaI3", "ovstab2"),
    ("GenAlphaSOI2", "ind3"),
    ("GenAlphaSOI2", "ovstab2"),
    ("HHTI2", "ind3"),
    ("HHTI2", "ovstab2"),
)
PEERS = (("IDA", "ind1"), ("IDA", "ind2"), ("Radau5DAE", "ind1"), ("ODASSL", "ovstab2"))
#: What is wanted: calls and CPU time relative to the best peer; calls of GenAlphaI3 at 1e-4.
WANTED = {"GenAlphaI3": (1.0, 1.0), "GenAlphaSOI2": (2.0, 1.5), "HHTI2": (2.5, 2.0)}
AT_LAST = 1.5
#: CPU times are the best of so many runs, unless one takes longer than this, in seconds.
REPEATED, LONG = 5, 0.1
#: A run may not take more calls, nor more CPU seconds.
MOST_CALLS, MOST_SECONDS = 15000, 5.0
PAGE = Path(__file__).parents[1] / "docs" / "pages" / "residual_calls.md"


class Run(NamedTuple):
    """What a run has cost, and how good it is: at the end, and the largest error of all steps."""

    error: float
    calls: float
    cpu: float
    steps: float = 0.0
    largest: float = 0.0


class TooExpensiveError(Exception):
    """A run has taken more than it may."""


@dataclass
class Series:
    """The runs of one solver over the tolerances, and why others failed."""

    runs: list[Run] = field(default_factory=list)
    failures: list[tuple[float, str]] = field(default_factory=list)


def solver_class(name: str) -> Any:
    """Return a solver class by its name."""
    if name == "IDA":
        from genalpha.assimulo import IDA

        return IDA
    if name in ("Radau5DAE", "ODASSL"):
        import assimulo.solvers

        return getattr(assimulo.solvers, name)
    import genalpha

    return getattr(genalpha, name)


def run(
    name: str,
    form: str,
    mechanism: Any,
    end: float,
    tolerance: float,
    truth: Any,
    with_jac: bool = False,
) -> Run:
    """Solve one plain problem, and count; `truth` is its solution."""
    from assimulo.problem import Implicit_Problem, Overdetermined_Problem

    own, calls = mechanism.problem(form), 0
    began = time.process_time()

    def res(t: float, y: Any, yd: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > MOST_CALLS:
            raise TooExpensiveError(f"more than {MOST_CALLS} calls")
        if calls % 64 == 0 and time.process_time() - began > MOST_SECONDS:
            raise TooExpensiveError(f"more than {MOST_SECONDS:.0f} s of CPU time")
        return own.res(t, y, yd)

    kind = Overdetermined_Problem if form.startswith("ov") else Implicit_Problem
    problem = kind(res, own.y0, own.yd0, own.t0)
    problem.algvar = own.algvar
    if with_jac:
        problem.jac = own.jac
    began = time.process_time()
    solver = solver_class(name)(problem)
    solver.verbosity = 50
    solver.rtol, solver.atol = tolerance, np.full(own.y0.size, 0.1 * tolerance)
    if name == "IDA":
        solver.suppress_alg = True
    solver.maxsteps = 5000
    try:
        t, y, _ = solver.simulate(end)
    except Exception as error:
        if calls > MOST_CALLS:  # whatever the solver has made of it
            raise TooExpensiveError(f"more than {MOST_CALLS} calls") from error
        raise
    cpu = time.process_time() - began
    # but for the start, which ODASSL overwrites
    missed = [_missed(mechanism, truth, *step) for step in zip(t[1:], y[1:], strict=True)]
    return Run(missed[-1], calls, cpu, float(solver.statistics["nsteps"]), max(missed))


def _missed(mechanism: Any, truth: Any, t: float, y: Any) -> float:
    """Return the error of q; some solvers step past the end by a rounding error."""
    first, last = truth.t[0], truth.t[-1]
    return float(np.max(np.abs(y[: mechanism.n_q] - truth(min(max(t, first), last)).q)))


def price(mechanism: Any, form: str) -> float:
    """Return the CPU time of a call of a residual in a loop of its own, in seconds."""
    own, times = mechanism.problem(form), []
    for _ in range(20):
        began = time.process_time()
        for _ in range(100):
            own.res(own.t0, own.y0, own.yd0)
        times.append((time.process_time() - began) / 100)
    return min(times)


def measured(key: tuple[str, str], *arguments: Any) -> Series:
    """Return the runs of a solver, up to the last error that is asked for."""
    found = Series()
    mechanism, end, truth, with_jac = arguments
    for tolerance in TOLERANCES:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                best = run(*key, mechanism, end, tolerance, truth, with_jac)
                for _ in range(REPEATED - 1 if best.cpu < LONG else 0):
                    again = run(*key, mechanism, end, tolerance, truth, with_jac)
                    best = best._replace(cpu=min(best.cpu, again.cpu))
        except Exception as error:  # a peer's may be anything
            found.failures.append((tolerance, _reason(error)))
            if isinstance(error, TooExpensiveError) and found.runs:
                break  # the next one would be so, too
            continue
        found.runs.append(best)
        if max(best.error, best.largest) <= 0.5 * ERRORS[-1]:
            break
    return found


def _reason(error: Exception) -> str:
    """Return the first sentence of what went wrong, in one line."""
    text = " ".join(str(error).split()).split(". ")[0].replace("|", "/")
    return (text[:140] + "…" if len(text) > 140 else text) or type(error).__name__


def at(runs: list[Run], error: float) -> Run | None:
    """Return what an error costs, between the runs that are next to it; None if none is so good."""
    found = []
    for worse, better in pairwise(runs):
        if worse.error > error >= better.error:
            share = math.log(worse.error / error) / math.log(worse.error / better.error)
            costs = (
                math.exp((1.0 - share) * math.log(max(a, 1e-9)) + share * math.log(max(b, 1e-9)))
                for a, b in zip(worse[1:], better[1:], strict=True)
            )
            found.append(Run(error, *costs))
    found += [x for x in runs[:1] if x.error <= error]
    return min(found, key=lambda x: x.calls, default=None)


@dataclass
class Found:
    """The lines of one mechanism, why runs failed, and where costs are more than wanted."""

    lines: list[str] = field(default_factory=list)
    overall: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)


def rows(case: str, with_jac: bool) -> Found:
    """Return what there is to say of one mechanism."""
    make, end = CASES[case]
    mechanism = make()
    truth = integrate(mechanism, end, "GenAlphaSOI2", rtol=1e-9, atol=1e-11)
    series = {key: measured(key, mechanism, end, truth, with_jac) for key in (*PEERS, *OURS)}
    prices = {form: price(mechanism, form) for _, form in OURS}
    found = Found(failures=[_failed(case, key, x) for key, x in series.items() if x.failures])
    at_the_end = {key: x.runs for key, x in series.items()}
    for error in ERRORS:
        found.lines.append(_line(case, error, at_the_end, prices, found))
    largest = {key: [r._replace(error=r.largest) for r in x.runs] for key, x in series.items()}
    found.overall = [_line(case, error, largest, prices) for error in ERRORS]
    return found


def _line(
    case: str,
    error: float,
    runs: dict[tuple[str, str], list[Run]],
    prices: dict[str, float],
    note: Found | None = None,
) -> str:
    """Return the line of one error, and note in `note` what costs more than wanted."""
    peers = [(x, key) for key in PEERS if (x := at(runs[key], error)) is not None]
    if not peers:
        cells = ["none"] + [_calls(at(runs[key], error)) for key in OURS]
        return f"| {case} | {error:.0e} | " + " | ".join(cells) + " |"
    best, who = min(peers, key=lambda x: x[0].calls)
    cpu = min(x.cpu for x, _ in peers)
    cells = [f"{who[0]} {who[1]}: {best.calls:.0f}"]
    for key in OURS:
        x = at(runs[key], error)
        cells.append("–" if x is None else _cell(key[0], error, x, best.calls, cpu))
        if x is None or note is None:
            continue
        where = f"| {case} | {error:.0e} | {' '.join(key)} |"
        if x.calls > _wanted(key[0], error) * best.calls:
            per_step, least = x.calls / x.steps, x.steps / best.calls
            note.limits.append(f"{where} {x.steps:.0f} | {per_step:.1f} | {least:.1f} |")
        if x.cpu > WANTED[key[0]][1] * cpu:
            alone = x.calls * prices[key[1]]
            note.slow.append(f"{where} {x.cpu / cpu:.1f} | {alone / cpu:.1f} |")
    return f"| {case} | {error:.0e} | " + " | ".join(cells) + " |"


def _calls(x: Run | None) -> str:
    return "–" if x is None else f"{x.calls:.0f}"


def _failed(case: str, key: tuple[str, str], series: Series) -> str:
    """Return a line with the reasons of runs that failed."""
    reasons = defaultdict(list)
    for tolerance, reason in series.failures:
        reasons[reason].append(f"{tolerance:.0e}")
    listed = "; ".join(f"tolerance {', '.join(x)}: {reason}" for reason, x in reasons.items())
    return f"- {case}, {' '.join(key)}: {listed}"


def _wanted(name: str, error: float) -> float:
    """Return how many times the calls of the best peer are wanted at most."""
    return AT_LAST if name == "GenAlphaI3" and error == ERRORS[-1] else WANTED[name][0]


def _cell(name: str, error: float, x: Run, calls: float, cpu: float) -> str:
    """Return calls and the two ratios; bold where they are as wanted."""
    wanted, wanted_cpu = _wanted(name, error), WANTED[name][1]
    ratios = [
        f"**{ratio:.1f}**" if ratio <= limit else f"{ratio:.1f}"
        for ratio, limit in ((x.calls / calls, wanted), (x.cpu / cpu, wanted_cpu))
    ]
    return f"{x.calls:.0f} ({'; '.join(ratios)})"


def section(with_jac: bool, found: list[Found]) -> list[str]:
    """Return the lines of one table and what belongs to it."""
    names = " | ".join(f"{name}, {form}" for name, form in OURS)
    head = [f"| mechanism | error of q | best peer | {names} |", "|---" * (3 + len(OURS)) + "|"]
    lines = [f"## {'With' if with_jac else 'Without'} `jac`", ""]
    lines += ["By the error at the end:", "", *head, *(x for y in found for x in y.lines)]
    lines += ["", "By the largest error of all steps:", "", *head]
    lines += [x for y in found for x in y.overall]
    for title, columns, which in FURTHER:
        further = [x for y in found for x in getattr(y, which)]
        if further:
            row = f"| mechanism | error of q | solver | {columns} |"
            lines += ["", title, "", row, "|---" * (row.count("|") - 1) + "|", *further]
    failures = [x for y in found for x in y.failures]
    return [*lines, *(["", "Runs that failed:", "", *failures] if failures else []), ""]


def write() -> None:
    """Run everything; the page is written after every mechanism, so that none is lost."""
    about = (__doc__ or "").split("    python")[0].split("\n", 2)[2].strip()
    parts: dict[bool, list[Found]] = {False: [], True: []}
    for with_jac, found in parts.items():
        for case in CASES:
            found.append(rows(case, with_jac))
            tables = [x for key, part in parts.items() if part for x in section(key, part)]
            put(PAGE, "tables", "\n".join([about, "", HOW_TO_READ, "", *tables]))
            print(f"{case}{', jac' if with_jac else ''} done", file=sys.stderr, flush=True)


#: Tables beside those of ratios: title, columns, and the lines of `Found`.
FURTHER = (
    (
        "Where more calls are made than wanted, by the error at the end:",
        "steps | calls per step | steps over the best peer's calls",
        "limits",
    ),
    (
        "Where more CPU time is taken than wanted, by the error at the end, and what the calls "
        "alone would take, called in a loop without any solver:",
        "CPU time over the best peer's | its calls alone",
        "slow",
    ),
)
HOW_TO_READ = (
    "In brackets: calls, and CPU time, relative to the best of IDA, Radau5DAE and ODASSL (which "
    "need not be the same one); bold where they are as wanted: at most 1.0 and 1.0 for GenAlphaI3 "
    "(1.5 of the calls at 1e-4), 2.0 and 1.5 for GenAlphaSOI2, 2.5 and 2.0 for HHTI2. A run may "
    f"take {MOST_CALLS} calls and {MOST_SECONDS:.0f} s, with one BLAS thread. These tables were "
    "written by `python -m comparisons.residual_calls --write`. Errors at the end are small by "
    "chance in places; the largest ones of all steps are not, but those of a single instant may "
    "decide."
)


def main() -> None:
    """Write the page, or print the lines of some mechanisms."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="mechanism", help=", ".join(CASES))
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--jac", action="store_true", help="lines of mechanisms with `jac`")
    chosen = parser.parse_args()
    with threadpool_limits(limits=1):  # CPU time would count threads that wait
        _main(parser, chosen)


def _main(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    for case in chosen.cases:
        found = rows(case, chosen.jac)
        shown = found.lines, found.overall, found.limits, found.slow, found.failures
        print("\n".join(x for lines in shown for x in lines), flush=True)
    if chosen.write:
        write()
    elif not chosen.cases:
        parser.print_help()


if __name__ == "__main__":
    main()
