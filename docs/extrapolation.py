"""Write the tables of true errors, estimates and orders into the page on the error of the result.

    python docs/extrapolation.py [errors] [schemes] [orders] [race] [formulas] [mechanism ...]

takes some minutes; the race, with its figure of work and precision, a quarter of an hour, and with
mechanisms from formulas ("formulas") another one. "errors"
are those of the scheme that `integrate` chooses, "schemes" those of each.
`python -m tests.fuzz.result_errors 200 --page` writes the table of random mechanisms, and with
--schemes that of each scheme.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `comparisons`
from comparisons.bench import error_race
from comparisons.bench.ladder import Climb
from comparisons.bench.layout import tables
from comparisons.bench.plan import Plan
from comparisons.bench.race import best, title
from comparisons.cases import CASES, Case
from comparisons.claims import WANTED, Claim, claim, put, remarkable, told
from comparisons.extrapolated_orders import order_table
from comparisons.solvers import SOLVERS
from comparisons.table import grid, markdown
from genalpha.errors import UnsupportedProblemError
from genalpha.model import Mechanism
from genalpha.schemes import SCHEMES

PAGE = Path(__file__).parent / "pages" / "theory" / "extrapolation.md"
FIGURE = PAGE.parents[1] / "images" / "error_race.png"
FIGURE_OF_FORMULAS = FIGURE.with_stem("error_race_formulas")
#: Published references at one time are known to so many digits at best.
BEST = 1e-12


def main(what: list[str]) -> None:
    """Measure, and write."""
    if "race" in what or not what:
        put(PAGE, "race", raced([x for x in what if x in error_race.CASES] or error_race.CASES))
    if "formulas" in what or not what:
        put(PAGE, "race from formulas", raced(error_race.FORMULAS, FIGURE_OF_FORMULAS))
    if "errors" in what or not what:
        errors([x for x in what if x in CASES] or list(CASES))
    if "schemes" in what or not what:
        by_scheme([x for x in what if x in CASES] or list(CASES))
    if "orders" in what or not what:
        put(PAGE, "orders", order_table())


def errors(names: Sequence[str]) -> None:
    """Write the table of mechanisms whose motion is known, as far as they are done."""
    claims: dict[str, list[Claim]] = {}
    for name in names:
        case = CASES[name]
        if case.make().reference is not None:
            claims[name] = judged(case)
            print(name, [f"{x.true:.0e} / {x.estimate:.0e}" for x in claims[name]], flush=True)
            put(PAGE, "errors", error_tables(claims))


def by_scheme(names: Sequence[str]) -> None:
    """Write the counts of each scheme, as far as they are done."""
    claims: dict[str | None, list[Claim]] = {scheme: [] for scheme in SCHEMES}
    for name in names:
        case = CASES[name]
        if case.make().reference is None:
            continue
        for scheme in SCHEMES:
            own = judged(case, scheme)
            refused = all(x.failure.startswith(UnsupportedProblemError.__name__) for x in own)
            claims[scheme] += [] if refused else own
            print(scheme, name, *remarkable(own), sep="\n  ", flush=True)
        put(PAGE, "error schemes", told(claims))


def error_tables(claims: Mapping[str, list[Claim]]) -> str:
    """Return counts, the table, and what is remarkable."""
    everything: list[Claim] = [x for own in claims.values() for x in own]
    heads = ("mechanism", *(f"{wanted:.0e}" for wanted in WANTED))
    rows = [(name, *map(cell, own)) for name, own in claims.items()]
    return f"{told({None: everything})}\n{markdown(grid(heads, rows))}"


def raced(names: Sequence[str], picture_file: Path = FIGURE) -> str:
    """Race, draw time over error, and return the table."""
    plan = Plan(repeats=3, tell=print)
    climbs = {name: error_race.climbed(name, plan, error_race.ERRORS) for name in names}
    rows = [
        error_race.verdict(name, error, own)
        for name, own in climbs.items()
        for error in error_race.ERRORS
    ]
    figure, axes = plt.subplots(
        math.ceil(len(names) / 3), min(3, len(names)), squeeze=False, layout="constrained",
        figsize=(11, 3.2 * math.ceil(len(names) / 3)),
    )  # fmt: skip
    for ax, (name, own) in zip(axes.flat, climbs.items(), strict=False):
        work_and_precision(ax, own)
        ax.set_title(title(name))
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("CPU time [ms]")
    handles = {x.get_label(): x for ax in axes.flat for x in ax.get_lines()}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4)
    figure.savefig(picture_file, dpi=110)
    picture = f"![CPU time over the error of q](../images/{picture_file.name})"
    return f"{markdown(tables(rows, {})[0][1])}\n{picture}\n"


def work_and_precision(ax: Any, climbs: Sequence[Climb]) -> None:
    """Draw the time of every solver, in its best formulation, over the error of q."""
    for solver in (*error_race.OURS, *error_race.PEERS):
        found = [(e, best(climbs, (solver,), e)) for e in error_race.ERRORS]
        points = [(e, 1e3 * x[1].time) for e, x in found if x is not None]
        if points:
            own = solver in error_race.OURS
            ax.loglog(
                *zip(*points, strict=True), "o-" if own else "s--", label=solver,
                color=SOLVERS[solver].color, markersize=4,
            )  # fmt: skip
    ax.invert_xaxis()
    ax.set_xlabel("error of q")
    ax.grid(alpha=0.3)


def judged(case: Case, scheme: str | None = None) -> list[Claim]:
    """Compare one mechanism with its reference, at the times of the comparisons."""
    o: Mechanism = case.make()
    assert o.reference is not None
    times = case.times(o)
    motions = [o.reference.motion(float(t)) for t in times]
    exact = {
        kind: np.array([getattr(x, kind) for x in motions], dtype=float)
        for kind in ("q", "v", "z", "lam", "psi")
        if getattr(motions[0], kind, None) is not None
    }
    known = max(BEST, 10.0**-o.reference.digits)
    name = case.name if scheme is None else f"{scheme}, {case.name}"
    return [claim(o, times, exact, wanted, known, name, scheme) for wanted in WANTED]


def cell(x: Claim) -> str:
    """Return true error and estimate, and the steps of all runs."""
    if x.failure:
        return x.failure.split(":")[0]
    return f"{x.true:.0e} / {x.estimate:.0e}{'' if x.claimed else ' !'} ({x.steps})"


if __name__ == "__main__":
    main(sys.argv[1:])
