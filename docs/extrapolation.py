"""Write the tables of true errors, estimates and orders into the page on the error of the result.

    python docs/extrapolation.py [errors] [orders]

takes some minutes. `python -m tests.fuzz.result_errors 200 --page` writes that of random ones.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `comparisons`
from comparisons.cases import CASES, Case
from comparisons.claims import HEADS, WANTED, Claim, by_wanted, claim, put, remarkable
from comparisons.extrapolated_orders import order_table
from comparisons.table import grid, markdown
from genalpha.model import Mechanism

PAGE = Path(__file__).parent / "pages" / "theory" / "extrapolation.md"
#: Published references at one time are known to so many digits at best.
BEST = 1e-12


def main(what: list[str]) -> None:
    """Measure, and write."""
    if "errors" in what or not what:
        put(PAGE, "errors", errors())
    if "orders" in what or not what:
        put(PAGE, "orders", order_table())


def errors() -> str:
    """Return the table of all mechanisms whose motion is known."""
    claims: dict[str, list[Claim]] = {}
    for name, case in CASES.items():
        if case.make().reference is not None:
            claims[name] = judged(case)
            print(name, [f"{x.true:.0e} / {x.estimate:.0e}" for x in claims[name]], flush=True)
    everything = [x for own in claims.values() for x in own]
    heads = ("mechanism", *(f"{wanted:.0e}" for wanted in WANTED))
    rows = [(name, *map(cell, own)) for name, own in claims.items()]
    others = "\n".join(f"- {line}" for line in remarkable(everything)) or "- none"
    return (
        f"{markdown(grid(HEADS, by_wanted(everything)))}\n{markdown(grid(heads, rows))}\n"
        f"Those that do not claim their error, do not keep it or tell less than a tenth:\n\n"
        f"{others}\n"
    )


def judged(case: Case) -> list[Claim]:
    """Compare one mechanism with its reference, at the times of the comparisons."""
    o: Mechanism = case.make()
    assert o.reference is not None
    times = case.times(o)
    motions = [o.reference.motion(float(t)) for t in times]
    exact = {
        kind: np.array([getattr(x, kind) for x in motions], dtype=float)
        for kind in ("q", "v", "lam", "psi")
        if getattr(motions[0], kind) is not None
    }
    known = max(BEST, 10.0**-o.reference.digits)
    return [claim(o, times, exact, wanted, known, case.name) for wanted in WANTED]


def cell(x: Claim) -> str:
    """Return true error and estimate, and the steps of all runs."""
    if x.failure:
        return x.failure.split(":")[0]
    return f"{x.true:.0e} / {x.estimate:.0e}{'' if x.claimed else ' !'} ({x.steps})"


if __name__ == "__main__":
    main(sys.argv[1:])
