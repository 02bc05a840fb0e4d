"""The error of the result on random mechanisms: what is claimed, and what is true.

    python -m tests.fuzz.result_errors 200 [first] [--page]

integrates random mechanisms to wanted errors and compares estimates with the truth, which comes
from another integrator and other equations (`tests.fuzz.truth`); --page writes the counts onto the
page on the error of the result. Constants of the estimate were chosen on the catalogue and on the
mechanisms from 1000 to 1039, not on those below.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from comparisons.claims import HEADS, WANTED, Claim, by_wanted, claim, put, remarkable
from comparisons.table import grid, markdown
from tests.fuzz.cases import TOGETHER, Case, Source, draw_case
from tests.fuzz.outcome import OverBudget

Array = np.ndarray

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "theory" / "extrapolation.md"
#: Truths are no better than this, relative to the motion; multipliers are less well known.
KNOWN = 1e-9
#: Times at which motions are compared.
TIMES = 23
#: After so many mechanisms, counts so far are told.
SOMETIMES = 20


def judge(seed: int, scheme: str | None = None, wanted: tuple[float, ...] = WANTED) -> list[Claim]:
    """Integrate one random mechanism to all wanted errors."""
    case = draw_case(Source(seed * TOGETHER))  # every one has a model of its own
    o = case.mechanism()
    times = np.linspace(o.t0, case.t_end, TIMES)
    exact, claims = truth_at(case, times), []
    for error in wanted:
        try:
            claims.append(claim(o, times, exact, error, KNOWN, f"seed {seed}", scheme))
        except OverBudget as budget:
            claims.append(Claim(f"seed {seed}", error, KNOWN, failure=f"OverBudget: {budget}"))
    return claims


def truth_at(case: Case, times: Array) -> dict[str, Array]:
    """Return q, v, lam, psi in the units of the user."""
    units, rows = case.units, []
    for t in times:
        x, v, _, lam, psi = case.truth.at((t - units.t0) / units.tau)
        own, own_psi = units.multipliers(np.ones(lam.size), np.ones(psi.size))
        rows.append((units.s * x, units.s / units.tau * v, lam / own, psi / own_psi))
    return {
        kind: np.array(x)
        for kind, x in zip(("q", "v", "lam", "psi"), zip(*rows, strict=True), strict=True)
    }


def main(count: int, first: int = 0, page: bool = False) -> None:
    """Judge, and print or write; what has been judged so far is written from time to time."""
    claims: list[Claim] = []
    for i in range(1, count + 1):
        own = judge(first + i - 1)
        claims += own
        for line in remarkable(own):
            print(line, flush=True)
        if i % SOMETIMES == 0 or i == count:
            table = markdown(grid(HEADS, by_wanted(claims)))
            print(table, flush=True)
            if page:
                put(PAGE, "random", text(claims, table, first, i))


def text(claims: list[Claim], table: str, first: int, count: int) -> str:
    """Return what the page says."""
    others = "\n".join(f"- {line}" for line in remarkable(claims)) or "- none"
    return (
        f"Random mechanisms {first} to {first + count - 1}:\n\n{table}\n"
        f"Those that do not claim their error, do not keep it or tell less than a tenth:\n\n"
        f"{others}\n"
    )


if __name__ == "__main__":
    main(*map(int, (x for x in sys.argv[1:] if x != "--page")), page="--page" in sys.argv)
