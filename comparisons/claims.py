"""What runs to a wanted error claim, and what is true: counted for the page on the error.

The true error of a run is the largest one of q, v, z, lam, psi over all times compared, each
relative to its largest value; the estimate is counted in the same way, from `solution.error`. The
ratio of both is taken of every run that claims its error and whose true error is above what the
truth is known to, however much better than wanted it is.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comparisons.table import grid, markdown
from genalpha.driver import integrate
from genalpha.driver.extrapolation import WantedErrorWarning
from genalpha.errors import GenAlphaError
from genalpha.model import Mechanism

Array = np.ndarray

WANTED = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
#: Most steps of all runs together: frugal, and what is not reached must not be claimed.
MAXSTEPS = 20000


@dataclass
class Claim:
    """One run: largest true error and largest estimate, and whether the wanted one is claimed.

    Attributes
    ----------
    name : str
        Of the mechanism.
    known : float
        The truth is known to this.
    failure : str
        What the run has failed with, if it has.
    """

    name: str
    wanted: float
    known: float
    claimed: bool = False
    true: float = np.nan
    estimate: float = np.nan
    order: int = 0
    steps: int = 0
    failure: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the true error is at most the wanted one."""
        return bool(self.true <= self.wanted + self.known)

    @property
    def ratio(self) -> float | None:
        """Estimate over true error, of a run that claims its error; None where it is not known."""
        is_known = self.claimed and self.true > self.known
        return self.estimate / self.true if is_known else None


def claim(
    o: Mechanism,
    times: Array,
    exact: Mapping[str, Array],
    wanted: float,
    known: float,
    name: str,
    scheme: str | None = None,
) -> Claim:
    """Integrate to a wanted error, and compare with the truth at some times.

    Parameters
    ----------
    exact : mapping of str to array
        The true "q", "v", "z", "lam", "psi", as far as they are known.
    """
    found = Claim(name, wanted, known)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            solution: Any = integrate(
                o, float(times[-1]), scheme, error=wanted, t_eval=times, maxsteps=MAXSTEPS
            )
        except (GenAlphaError, TimeoutError) as error:
            found.failure = f"{type(error).__name__}: {error}"
            return found
    found.claimed = not any(issubclass(x.category, WantedErrorWarning) for x in caught)
    found.order, found.steps = solution.order, solution.statistics.nsteps
    found.true = found.estimate = 0.0
    for kind, x in exact.items():
        own = getattr(solution, kind)
        scale = np.abs(x).max(initial=0.0)
        if own.shape == x.shape and scale:
            found.true = max(found.true, float(np.abs(own - x).max() / scale))
            found.estimate = max(found.estimate, float(getattr(solution.error, kind).max() / scale))
    return found


#: Heads of what `counts` returns.
HEADS = ("wanted", "runs", "claim it", "keep it", "median", "smallest", "largest", "below 0.1")


def counts(claims: Sequence[Claim], label: str) -> tuple[str, ...]:
    """Return a row: how many claim and keep, and estimates over true errors."""
    claimed = [x for x in claims if x.claimed]
    kept = sum(x.is_kept for x in claimed)
    ratios = np.array([x.ratio for x in claimed if x.ratio is not None])
    share = f"{kept} ({100.0 * kept / len(claimed):.1f} %)" if claimed else ""
    told = ("", "", "", "")
    if ratios.size:
        told = (
            f"{np.median(ratios):.1f}",
            f"{ratios.min():.2g}",
            f"{ratios.max():.2g}",
            str(int(sum(ratios < 0.1))),
        )
    return (label, str(len(claims)), str(len(claimed)), share, *told)


def by_wanted(claims: Sequence[Claim]) -> list[tuple[str, ...]]:
    """Return a row per wanted error, and one of all."""
    rows = [counts([x for x in claims if x.wanted == w], f"{w:.0e}") for w in WANTED]
    return [*rows, counts(claims, "all")]


def remarkable(claims: Iterable[Claim]) -> list[str]:
    """Return lines on runs that do not keep what they claim, or fail."""
    lines = []
    for x in claims:
        low = x.ratio is not None and x.ratio < 0.1
        if x.claimed and (not x.is_kept or low):
            lines.append(f"{x.name}, {x.wanted:.0e}: true {x.true:.1e}, estimated {x.estimate:.1e}")
        elif not x.claimed:
            what = x.failure or f"true {x.true:.1e}, estimated {x.estimate:.1e}"
            lines.append(f"{x.name}, {x.wanted:.0e}: not claimed, {what:.150}")
    return lines


def told(claims: Mapping[str | None, Sequence[Claim]]) -> str:
    """Return counts and what is remarkable, by scheme; None is the one that `integrate` chooses."""
    several = set(claims) != {None}
    rows = [
        (str(scheme), *row) if several else row
        for scheme, own in claims.items()
        for row in by_wanted(own)
    ]
    lines = remarkable(x for own in claims.values() for x in own)
    others = "\n".join(f"- {line}" for line in lines) or "- none"
    return (
        f"{markdown(grid(('scheme', *HEADS) if several else HEADS, rows))}\n"
        f"Those that do not claim their error, do not keep it or tell less than a tenth:\n\n"
        f"{others}\n"
    )


def put(page: Path, mark: str, text: str) -> None:
    """Write a text between the marks of a page."""
    marked = re.compile(rf"(<!-- {mark} -->\n).*(<!-- end of {mark} -->)", re.DOTALL)
    old = page.read_text(encoding="utf-8")
    if not marked.search(old):
        raise ValueError(f"{page.name} has no marks {mark!r}")
    page.write_text(marked.sub(lambda m: f"{m[1]}{text}\n{m[2]}", old), encoding="utf-8")
