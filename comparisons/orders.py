"""The order study: errors of runs with ever smaller steps, and how they fall.

Tests, documentation and the papers' figures all measure orders here. A run is one of
`genalpha.integrate` with given step sizes on a mechanism whose motion is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from genalpha.driver import Options, Solution, integrate
from genalpha.model import Mechanism
from genalpha.schemes import SCHEMES

Array = np.ndarray

COMPONENTS = ("q", "v", "a", "lam", "psi")


def equal(length: float, count: int) -> list[float]:
    """Return `count` equal step sizes."""
    return [length / count] * count


def alternating(length: float, pairs: int) -> list[float]:
    """Return step sizes h/3, 2h/3, h/3, ... with h = length / pairs, as in the papers."""
    h = length / pairs
    return [h / 3.0, 2.0 * h / 3.0] * pairs


def at_the_end(steps: int) -> list[int]:
    """Look at the last step, as the papers do."""
    return [steps]


def late(steps: int) -> list[int]:
    """Look at three late times that all runs share, and at the step before each.

    One time would do, were it not for errors that change their sign just there; the step before
    is for alternating steps, both of which must be good. All times are late, because errors of
    the start die out only as n^2 rho_inf^n.
    """
    times = [steps * k // 8 for k in range(6, 9)]
    return [n - before for n in times for before in (1, 0)]


def after(fraction: float) -> Callable[[int], list[int]]:
    """Look at about forty steps after a fraction of the run, of both kinds if sizes alternate."""
    return lambda steps: list(
        range(max(1, int(fraction * steps)), steps + 1, max(1, steps // 40) | 1)
    )


@dataclass(frozen=True)
class Study:
    """Runs of one scheme on one mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        With a reference.
    length : float
        Of time.
    counts : sequence of int
        Numbers of steps, or of pairs of steps, coarse to fine.
    options : dict
        Of `integrate`: `scheme`, and what its coefficients come from.
    sizes : callable(length, count) -> step sizes
        `equal` (default) or `alternating`.
    instants : callable(number of steps) -> numbers of steps
        After which steps errors are looked at, the largest of which counts; default the end.
    components : sequence of str
        Default all that the mechanism has.
    """

    mechanism: Mechanism
    length: float
    counts: Sequence[int]
    options: dict[str, Any]
    sizes: Callable[[float, int], list[float]] = equal
    instants: Callable[[int], Iterable[int]] = at_the_end
    components: Sequence[str] = field(default=COMPONENTS)

    @property
    def h(self) -> Array:
        """Step sizes of the runs, or those of pairs of steps."""
        return self.length / np.array(self.counts)

    @property
    def alpha(self) -> float:
        """Where in a step `a` belongs: to its end + alpha h."""
        scheme = SCHEMES[self.options["scheme"]]
        coefficients = scheme.coefficients(Options(mechanism=self.mechanism, **self.options))
        return 0.0 if coefficients is None else float(coefficients.alpha)

    def errors(self) -> dict[str, Array]:
        """Return the Euclidean norms of the errors, by component, one per run."""
        o = self.mechanism
        there = {"lam": o.n_lam, "psi": o.n_psi}
        chosen = [x for x in self.components if there.get(x, True)]
        runs = [self._run(count) for count in self.counts]
        return {x: np.array([self._error(run, x) for run in runs]) for x in chosen}

    def orders(self, finest: int | None = None) -> dict[str, float]:
        """Return the slopes of log(error) over log(h), of the finest so many runs or of all."""
        return {x: slope(self.h, errors, finest) for x, errors in self.errors().items()}

    def _run(self, count: int) -> Solution:
        sizes = self.sizes(self.length, count)
        return integrate(self.mechanism, self.mechanism.t0 + self.length, h=sizes, **self.options)

    def _error(self, run: Solution, component: str) -> float:
        found = getattr(run, component)
        return max(
            float(np.linalg.norm(found[n] - self._truth(run, component, n)))
            for n in self.instants(len(run.t) - 1)
        )

    def _truth(self, run: Solution, component: str, n: int) -> Array:
        o, t = self.mechanism, float(run.t[n])
        assert o.reference is not None
        if component != "a":
            return np.asarray(getattr(o.reference.motion(t), component))
        h = float(run.t[n] - run.t[n - 1])
        return true_a(o, self.options["scheme"], t + self.alpha * h)


def true_a(mechanism: Mechanism, scheme: str, t: float) -> Array:
    """Return what the `a` of a scheme approximates."""
    assert mechanism.reference is not None
    motion = mechanism.reference.motion(t)
    return SCHEMES[scheme].meant(mechanism, t, motion)


def slope(
    h: Sequence[float] | Array,
    errors: Sequence[float] | Array,
    finest: int | None = None,
    rounding: float = 0.0,
) -> float:
    """Return the slope of log(error) over log(h) by regression; NaN without two errors.

    Parameters
    ----------
    h, errors : sequences, coarse to fine
    finest : int, optional
        Of so many of the finest usable runs; default all.
    rounding : float
        Errors up to this are rounding errors and say nothing; default 0.
    """
    x, y = np.asarray(h, dtype=float), np.asarray(errors, dtype=float)
    usable = np.flatnonzero(y > rounding)[-(finest or 0) :]
    if usable.size < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[usable]), np.log(y[usable]), 1)[0])
