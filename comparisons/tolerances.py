"""Tolerance proportionality: how the errors of adaptive solvers follow rtol = atol.

    python -m comparisons.tolerances [--jobs N]

prints the table that `docs/figures.py proportionality` writes into the docs. Errors are those of
the comparisons: the largest of a component at the sample times, relative to the largest component
of the reference. Each series of runs is fitted by error = C tol^slope.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from comparisons.names import Counter, Form, Setting, Variable
from comparisons.record import Key, Record
from comparisons.runner import Plan, run
from comparisons.solvers import SOLVERS as ALL_SOLVERS
from comparisons.table import grid, markdown, number
from genalpha.schemes import SCHEMES

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
MECHANISMS = (
    "simple_pendulum",
    "pendulum_jn",
    "slider_crank",
    "andrews_squeezer",
    "jay_negrut_test",
    "rolling_disk",
)
#: Solver of the comparisons -> the formulation in which it does best on these mechanisms.
SOLVERS = {
    **{f"{scheme} (adaptive)": Form.MECHANISM for scheme in SCHEMES},
    "IDA": Form.IND2,
    "Radau5DAE": Form.IND1,
}
#: What is left out, and why.
NOT_FOR = {
    ("slider_crank", "HHTI2 (adaptive)"): "needs an invertible mass matrix",
    ("jay_negrut_test", "HHTI2 (adaptive)"): "takes holonomic or nonholonomic constraints only",
    ("rolling_disk", "HHTI2 (adaptive)"): "the mass matrix is singular where the disk lies flat",
}
OUTPUT = Path(__file__).parent / "output" / "tolerances"
#: Seconds of CPU time for one run.
LIMIT = 20.0
#: Tolerances whose errors are shown, and the one whose steps are.
SHOWN, MIDDLE = (1e-2, 1e-4, 1e-7), 1e-4
HEADER = (
    "mechanism", "solver", "fit over", "slope of q", "C", "slope of lam, psi",
    *(f"q at {x:.0e}" for x in SHOWN), "q falls", f"steps at {MIDDLE:.0e}", "rejected, at most",
)  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """error = constant tol^slope, through the logarithms."""

    slope: float
    constant: float

    @classmethod
    def through(cls, tolerances: Sequence[float], errors: Sequence[float]) -> Fit:
        """Fit a line; NaN where there are fewer than two points."""
        if len(tolerances) < 2:
            return cls(np.nan, np.nan)
        slope, height = np.polyfit(np.log(tolerances), np.log(errors), 1)
        return cls(float(slope), float(np.exp(height)))


@dataclass(frozen=True)
class Proportionality:
    """What a series of runs of one solver on one mechanism shows.

    Attributes
    ----------
    mechanism, solver : str
    runs : tuple of Record
        All of them, failures too, from loose to tight.
    """

    mechanism: str
    solver: str
    runs: tuple[Record, ...]

    def points(self, *variables: Variable) -> tuple[list[float], list[float]]:
        """Return tolerances, and the errors there.

        Of several variables the larger error, each relative to its own size.
        """
        found = [
            (run.value, max(errors))
            for run in self.runs
            if run.ok
            and (errors := [e for x in variables if (e := run.relative_error(x)) is not None])
        ]
        return [x for x, _ in found], [x for _, x in found]

    @property
    def position(self) -> Fit:
        """How the error of q follows the tolerance."""
        return Fit.through(*self.points(Variable.Q))

    @property
    def multipliers(self) -> Fit:
        """How the error of lam and psi does."""
        return Fit.through(*self.points(Variable.LAM, Variable.PSI))

    @property
    def falls(self) -> bool:
        """Whether every tighter tolerance gives a smaller error of q."""
        _, errors = self.points(Variable.Q)
        return all(later < sooner for sooner, later in pairwise(errors))

    @property
    def rejected(self) -> float | None:
        """Largest share of rejected steps; None if the solver does not tell."""
        shares = [run.per_step(Counter.REJECTED) for run in self.runs if run.ok]
        known = [x for x in shares if x is not None]
        return max(known) if known else None

    def error(self, tolerance: float) -> float | None:
        """Return the relative error of q at a tolerance, if that run came to its end."""
        run = self.at(tolerance)
        return run.relative_error(Variable.Q) if run else None

    def at(self, tolerance: float) -> Record | None:
        """Return the run at a tolerance, if it came to its end."""
        return next((run for run in self.runs if run.ok and run.value == tolerance), None)


def study(
    mechanisms: Sequence[str] = MECHANISMS,
    solvers: Sequence[str] = tuple(SOLVERS),
    tolerances: Sequence[float] = TOLERANCES,
    jobs: int = 1,
    output: Path = OUTPUT,
) -> list[Proportionality]:
    """Run all pairs at all tolerances; runs of the same code that are there already are kept."""
    keys = [
        Key(mechanism, solver, SOLVERS[solver], Setting.TOLERANCE, value)
        for mechanism in mechanisms
        for solver in solvers
        if (mechanism, solver) not in NOT_FOR and not ALL_SOLVERS[solver].missing()
        for value in tolerances
    ]
    series: dict[tuple[str, str], list[Record]] = {}
    for record in run(Plan(output, LIMIT, repeats=0, jobs=jobs), keys):
        series.setdefault((record.mechanism, record.solver), []).append(record)
    return [Proportionality(*pair, tuple(runs)) for pair, runs in series.items()]


def rows(found: Sequence[Proportionality]) -> list[list[str]]:
    """Return the cells of the table."""
    table = []
    for each in found:
        middle = each.at(MIDDLE)
        cells = [
            f"`{each.mechanism}`",
            _name(each.solver),
            _span(each),
            number(each.position.slope, ".2f").text,
            number(each.position.constant, ".2g").text,
            number(each.multipliers.slope, ".2f").text,
            *(number(each.error(x), ".1e").text for x in SHOWN),
            "yes" if each.falls else "no",
            number(middle.counters[Counter.STEPS] if middle else None, "d").text,
            number(each.rejected, ".0%").text,
        ]
        table.append(cells)
    return table


def _name(solver: str) -> str:
    form = SOLVERS[solver]
    name = solver.replace(" (adaptive)", "")
    return f"`{name}`" if form is Form.MECHANISM else f"{name}, {form}"


def _span(each: Proportionality) -> str:
    """Return the range of the fit, and where runs failed."""
    tolerances, _ = each.points(Variable.Q)
    failed = ", ".join(f"{run.value:.0e}" for run in each.runs if not run.ok)
    text = f"{tolerances[0]:.0e} … {tolerances[-1]:.0e}" if len(tolerances) > 1 else "–"
    return f"{text}; fails at {failed}" if failed else text


def table(found: Sequence[Proportionality]) -> str:
    """Return the table in Markdown."""
    return markdown(grid(HEADER, rows(found), left=3))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m comparisons.tolerances", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--mechanism", nargs="+", default=list(MECHANISMS), choices=MECHANISMS)
    parser.add_argument("--solver", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    parser.add_argument("--all", action="store_true", help="also the errors of every run")
    options = parser.parse_args(arguments)
    found = study(options.mechanism, options.solver, jobs=options.jobs)
    print(table(found))
    if options.all:
        for each in found:
            errors = [run.relative_error(Variable.Q) if run.ok else None for run in each.runs]
            print(each.mechanism, each.solver, *(number(x, ".1e").text for x in errors))
            for run in each.runs:
                if not run.ok:
                    print("  ", f"{run.value:.0e}", run.reason)


if __name__ == "__main__":
    main()
