"""The error of the result on random mechanisms: what is claimed, and what is true.

    python -m tests.fuzz.result_errors 200

integrates random mechanisms to wanted errors and compares estimates with the truth, which comes
from another integrator and other equations (`tests.fuzz.truth`). Constants of the estimate were
chosen on the catalogue (`docs/extrapolation.py`), not here.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import numpy as np

from genalpha import integrate
from genalpha.driver.extrapolation import WantedErrorWarning
from genalpha.errors import GenAlphaError
from tests.fuzz.cases import TOGETHER, Case, Source, draw_case
from tests.fuzz.outcome import OverBudget

Array = np.ndarray

WANTED = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
#: Truths are no better than this, relative to the motion; multipliers are less well known.
KNOWN = 1e-9
#: Times at which motions are compared.
TIMES = 23


@dataclass
class Verdict:
    """One run: largest true error and largest estimate over wanted, and whether it is claimed."""

    seed: int
    wanted: float
    claimed: bool
    true: float
    estimate: float
    failure: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the true error is at most the wanted one."""
        return self.true <= self.wanted + KNOWN


def judge(seed: int, wanted: float, scheme: str | None = None) -> Verdict:
    """Integrate one random mechanism to a wanted error."""
    case = draw_case(Source(seed * TOGETHER))  # every one has a model of its own
    o = case.mechanism()
    times = np.linspace(o.t0, case.t_end, TIMES)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            solution = integrate(o, case.t_end, scheme, error=wanted, t_eval=times, maxsteps=20000)
        except (GenAlphaError, OverBudget) as error:
            text = f"{type(error).__name__}: {error}"
            return Verdict(seed, wanted, False, np.nan, np.nan, text)
    claimed = not any(issubclass(x.category, WantedErrorWarning) for x in caught)
    true = estimate = 0.0
    for kind, exact in truth_at(case, times).items():
        x = getattr(solution, kind)
        if x.size and exact.shape == x.shape:
            scale = np.abs(exact).max()
            true = max(true, float(np.abs(x - exact).max() / scale))
            estimate = max(estimate, float(getattr(solution.error, kind).max() / scale))
    return Verdict(seed, wanted, claimed, true, estimate)


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


def summary(verdicts: list[Verdict]) -> str:
    """Return one line."""
    claimed = [x for x in verdicts if x.claimed]
    if not claimed:
        return f"{len(verdicts)} runs, none claims its error"
    known = [x for x in claimed if x.true > KNOWN]
    ratios = np.array([x.estimate / x.true for x in known]) if known else np.ones(1)
    kept = sum(x.is_kept for x in claimed)
    low = sum(ratios < 0.1)
    return (
        f"{len(verdicts)} runs, {len(claimed)} claim their error, {kept} of these keep it "
        f"({100.0 * kept / len(claimed):.1f} %); estimate / true error: median "
        f"{np.median(ratios):.1f}, smallest {ratios.min():.2g}, {low} below 0.1"
    )


def main(count: int, first: int = 0) -> None:
    """Judge, and print."""
    everything = []
    for wanted in WANTED:
        verdicts = [judge(seed, wanted) for seed in range(first, first + count)]
        print(f"{wanted:.0e}: {summary(verdicts)}", flush=True)
        for x in verdicts:
            if x.claimed and (not x.is_kept or (x.true > KNOWN and x.estimate < 0.1 * x.true)):
                print(f"   seed {x.seed}: true {x.true:.1e}, estimate {x.estimate:.1e}")
            elif not x.claimed:
                print(f"   seed {x.seed} does not claim it: {x.failure or x.estimate:.110}")
        everything += verdicts
    print(f"all: {summary(everything)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
