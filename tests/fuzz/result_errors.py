"""The error of the result on random mechanisms: what is claimed, and what is true.

    python -m tests.fuzz.result_errors 200 [first] [--schemes] [--page]

integrates random mechanisms to wanted errors and compares estimates with the truth, which comes
from another integrator and other equations (`tests.fuzz.truth`), by the scheme that `integrate`
chooses itself, or with --schemes by each of them; --page writes the counts onto the page on the
error of the result. Constants of the estimate were chosen on the catalogue and on the mechanisms
from 1000 to 1039, not on those below.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from comparisons.claims import WANTED, Claim, claim, put, remarkable, told
from genalpha.schemes import SCHEMES
from tests.fuzz.cases import TOGETHER, Case, Source, draw_case
from tests.fuzz.outcome import OverBudget
from tests.fuzz.truth import Truth, more_exactly

Array = np.ndarray

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "theory" / "extrapolation.md"
#: How exact the truth is, and the one that tells how well it is known; at best so well, relative
#: to the motion.
EXACT, LESS, BEST = 1e-13, 1e-12, 1e-12
#: Times at which motions are compared.
TIMES = 23
#: After so many mechanisms, counts so far are told.
SOMETIMES = 20


def judge(seed: int, scheme: str | None = None, wanted: tuple[float, ...] = WANTED) -> list[Claim]:
    """Integrate one random mechanism to all wanted errors; nothing if the scheme refuses it."""
    case = draw_case(Source(seed * TOGETHER))  # every one has a model of its own
    if scheme == "HHTI2" and case.truth.model.m and case.truth.model.l:
        return []
    o = case.mechanism()
    times = np.linspace(o.t0, case.t_end, TIMES)
    exact = truth_at(case, times, more_exactly(case.truth, EXACT))
    known = known_to(exact, truth_at(case, times, more_exactly(case.truth, LESS)))
    name = f"seed {seed}" if scheme is None else f"{scheme}, seed {seed}"
    claims = []
    for error in wanted:
        try:
            claims.append(claim(o, times, exact, error, known, name, scheme))
        except OverBudget as budget:
            claims.append(Claim(name, error, known, failure=f"OverBudget: {budget}"))
    return claims


def truth_at(case: Case, times: Array, truth: Truth) -> dict[str, Array]:
    """Return q, v, lam, psi in the units of the user."""
    units, rows = case.units, []
    for t in times:
        x, v, _, lam, psi = truth.at((t - units.t0) / units.tau)
        own, own_psi = units.multipliers(np.ones(lam.size), np.ones(psi.size))
        rows.append((units.s * x, units.s / units.tau * v, lam / own, psi / own_psi))
    return {
        kind: np.array(x)
        for kind, x in zip(("q", "v", "lam", "psi"), zip(*rows, strict=True), strict=True)
    }


def known_to(exact: Mapping[str, Array], less: Mapping[str, Array]) -> float:
    """Return what the truth is known to: by how much one that is less exact differs."""
    found = BEST
    for kind, x in exact.items():
        scale = np.abs(x).max(initial=0.0)
        if scale:
            found = max(found, float(np.abs(x - less[kind]).max() / scale))
    return found


def main(count: int, first: int = 0, schemes: bool = False, page: bool = False) -> None:
    """Judge, and print or write; what has been judged so far is written from time to time."""
    chosen = tuple(SCHEMES) if schemes else (None,)
    claims: dict[str | None, list[Claim]] = {scheme: [] for scheme in chosen}
    for i in range(1, count + 1):
        for scheme in chosen:
            own = judge(first + i - 1, scheme)
            claims[scheme] += own
            for line in remarkable(own):
                print(line, flush=True)
        if i % SOMETIMES == 0 or i == count:
            found = f"Random mechanisms {first} to {first + i - 1}:\n\n{told(claims)}"
            print(found, flush=True)
            if page:
                put(PAGE, "random schemes" if schemes else "random", found)


if __name__ == "__main__":
    main(
        *map(int, (x for x in sys.argv[1:] if not x.startswith("--"))),
        schemes="--schemes" in sys.argv,
        page="--page" in sys.argv,
    )
