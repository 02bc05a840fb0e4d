"""One extrapolation in one window: the motion at the points of its grid, and its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from genalpha.driver.extrapolation.columns import Columns, rounding
from genalpha.driver.extrapolation.dense import Dense, refined
from genalpha.driver.extrapolation.estimate import (
    GEOMETRIC,
    IRREGULAR,
    TINY,
    TRANSIENT,
    factors,
    largest_nearby,
    lifted,
)
from genalpha.driver.extrapolation.measure import Pair, by_kind, joined
from genalpha.driver.extrapolation.points import accelerations_at, consistent, onto_constraints
from genalpha.errors import InconsistentStartError, SingularSystemError
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray
Parts = dict[str, Array]

#: What Newton's iteration leaves in results, relative to what it has predicted to leave in a step:
#: measured. Errors of steps add up in the velocities, weights of columns amplify them.
NEWTON_NOISE = 5.0
#: How much one column more lowers the error of a scheme that is not symmetric.
USUAL = 0.2
#: Columns that gain at least so much shrink by no accident.
CLEAR_GAIN = 0.3
#: What there is of noise shows in |A - B|: it is at most this times that.
SHOWS = 2.0
#: Estimates are noise if that is more than this part of them, and they no longer fall.
MOSTLY = 0.1
#: An error of this part of the motion, which is the largest that can be wanted, says nothing.
LOST = 0.1
#: Multipliers are looked at in so many points of a window, and where velocities are worst.
SAMPLES, WORST = 10, 4
#: They are looked at if estimates of q and v are no more than this times the wanted ones.
NEAR = 30.0


class Trial:
    """An extrapolation from `columns` runs with N, 2 N, 3 N, ... steps.

    Parameters
    ----------
    mechanism : Mechanism
    runs : Columns
    base : int
        The number of steps N.
    columns : int
        At least 3.
    accuracy : float
        That of Newton's iteration.

    Attributes
    ----------
    times : (N + 1,) array
    motion : (q, v)
        Arrays of shape (N + 1, n), almost on the constraints.
    signed : (q, v)
        Estimates of the errors, with signs of their own.
    used : list of int
        Steps of the runs.
    order : int
    noises : (q, v)
        What rounding and Newton's iteration leave in them.
    gain : float
        How much smaller the estimate will be with one column more.
    stalled : bool
        Whether errors have not fallen at last as they should, on the way to this extrapolation.
    failure : str
        Why Newton's iteration has failed with finer steps, which were given up then.
    """

    stalled, failure = False, ""

    def __init__(
        self, mechanism: Mechanism, runs: Columns, base: int, columns: int, accuracy: float
    ) -> None:
        self.mechanism, self.base, self.columns = mechanism, base, columns
        self._runs = runs
        self.times = runs.times(base)
        multiples = tuple(range(1, columns + 1))
        # from all columns, from the finest but for one, for two, for three if there are any left
        levels = [runs.extrapolated(base, multiples[k:]) for k in range(min(columns, 4))]
        self.used = [k * base for k in multiples]
        self.order = 2 * columns if runs.symmetric else columns + 1
        self.symmetric = runs.symmetric
        noise = NEWTON_NOISE * accuracy * runs.left(base, multiples)
        noise += rounding(multiples, base, runs.symmetric)
        if not runs.symmetric:
            for q, v in levels[:2]:
                self._project_start(q, v)
        self.motion = levels[0]
        apart = [self._kinds(level) for level in levels]
        self._differences = {k: x - apart[1][k] for k, x in apart[0].items()}
        self.gain = USUAL
        if runs.symmetric:
            self.gain = max(_gain([x[k] for x in apart]) for k in self._differences)
        self._noises: Parts = {}
        self._factors: Parts = {}
        for kind, x in apart[0].items():
            most = noise * np.abs(x).max()
            shown = SHOWS * self._apart(self._differences[kind])
            self._noises[kind] = np.minimum(most, shown)[:, None]
            self._factors[kind] = factors([x[kind] for x in apart], self.symmetric, most)[:, None]

    def _kinds(self, pair: Pair) -> Parts:
        """Return what is measured apart."""
        return by_kind(pair, self.mechanism.n_moving)

    def _whole(self, parts: Parts) -> Pair:
        """Return what is measured apart as q and v."""
        return joined(parts, self.mechanism.n_q)

    def _apart(self, difference: Array) -> Array:
        """Return the largest difference of two levels at each point, or before, or near it."""
        found = np.abs(difference).max(axis=1)
        return np.maximum.accumulate(found) if self.symmetric else largest_nearby(found)

    def _project_start(self, q: Array, v: Array) -> None:
        """Put the first points onto the constraints, which transients of the start violate."""
        o = self.mechanism
        if o.n_lam + o.n_psi:
            for i, t in enumerate(self.times[:TRANSIENT].tolist()):
                q[i], v[i] = onto_constraints(o, t, q[i], v[i])

    @cached_property
    def dense(self) -> Dense:
        """The motion between the points."""
        if self.columns < 4 or not self.symmetric:  # transients of a start are not smooth
            return Dense(self.mechanism, self.times, *self.motion)
        halves = range(1, self.columns // 2 + 1)
        middle = self._runs.extrapolated(2 * self.base, halves)
        (q, dq), (v, dv) = (refined(*pair) for pair in zip(self.motion, middle, strict=True))
        return Dense(self.mechanism, self._runs.times(2 * self.base), q, v, (dq, dv))

    def consistent_near(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Knot:
        """Return the motion on the constraints, near q and v; `lam` and `psi` are guesses.

        Where columns are far from each other, their extrapolation may be near no such point. Its
        error is as large as the motion then, and the finest run is as good.
        """
        o = self.mechanism
        try:
            return consistent(o, t, q, v, lam, psi)
        except (InconsistentStartError, SingularSystemError):
            times = self._runs.times(self.used[-1])
            finest = self._runs.run(self.used[-1])
            lost = max(
                np.abs(e).max() / max(np.abs(x).max(), TINY)
                for e, x in zip(self.bounds, (finest.q, finest.v), strict=True)
            )
            if lost < LOST:
                raise
            i = int(np.argmin(np.abs(times - t)))
            return consistent(o, t, finest.q[i], finest.v[i], *o.multiplier_guess())

    @property
    def signed(self) -> Pair:
        """Estimates of the errors of q and v at each point, with signs."""
        return self._whole({k: self._factors[k] * x for k, x in self._differences.items()})

    @property
    def noises(self) -> Pair:
        """What rounding and Newton's iteration leave in q and v."""
        each = self._differences.items()
        return self._whole({k: np.broadcast_to(self._noises[k], x.shape) for k, x in each})

    @property
    def bounds(self) -> Pair:
        """Bounds of the errors of q and v at each point, by experience."""
        return self._whole(self._bounds)

    @cached_property
    def _bounds(self) -> Parts:
        """The same of each kind."""
        found = {}
        for kind, x in self._differences.items():
            nearby = largest_nearby(np.abs(self._factors[kind] * x))
            found[kind] = nearby + self._noises[kind]
            found[kind][0] = 0.0
        return found

    @property
    def is_noise(self) -> bool:
        """Whether most of the estimates is what rounding and Newton's iteration leave."""
        bounds = self._bounds
        return all(x.max() > MOSTLY * bounds[k].max() for k, x in self._noises.items())

    def compare(self, coarser: Trial) -> None:
        """Raise the estimates where this motion is farther from a coarser one than both allow.

        That happens where something jumps: errors then have no expansion, and columns may agree by
        accident. Points that are not in both grids take the ratio of the next ones.
        """
        step = self.base // coarser.base if self.base % coarser.base == 0 else self.base
        own, other = slice(None, None, step), slice(None, None, coarser.base * step // self.base)
        ratios = []
        mine, theirs = self._bounds, coarser._bounds
        y = coarser._kinds(coarser.motion)
        for kind, x in self._kinds(self.motion).items():
            allowed = mine[kind][own] + theirs[kind][other]
            apart = np.abs(x[own] - y[kind][other])
            ratios.append(apart.max(axis=1)[1:] / np.maximum(allowed.max(axis=1)[1:], 1e-300))
        points = np.arange(self.base + 1)
        ratio = np.interp(points, points[own][1:], np.max(ratios, axis=0))
        ratio = np.maximum(ratio, self._inherited(coarser))
        raised = np.maximum(1.0, ratio)[:, None]
        self._factors = {k: factor * raised for k, factor in self._factors.items()}
        del self._bounds  # they follow from the factors

    def _inherited(self, coarser: Trial) -> Array:
        """Return by how much estimates are too small if errors are only of first order.

        That is so after a jump, whose columns shrink or not by accident: where they did not before,
        and hardly do now.
        """
        found = np.zeros(self.base + 1)
        irregular = [i for i in range(coarser.base + 1) if coarser.is_irregular(i)]
        if not irregular or self.gain < CLEAR_GAIN:
            return found
        later = np.abs(self.times - self.times[0]) >= abs(
            coarser.times[irregular[0]] - self.times[0]
        )
        sign = 1.0 if self.times[-1] > self.times[0] else -1.0
        theirs = coarser._bounds
        for kind, mine in self._bounds.items():
            largest = theirs[kind].max(axis=1)
            before = np.interp(sign * self.times, sign * coarser.times, largest)
            first_order = before * (coarser.base / self.base)
            found = np.maximum(found, first_order / np.maximum(mine.max(axis=1), TINY))
        return np.where(later, found, 0.0)

    def is_irregular(self, i: int) -> bool:
        """Tell whether columns do not shrink at a point, other than by transients of the start."""
        largest = max(factor[i, 0] for factor in self._factors.values())
        return (self.symmetric or i >= TRANSIENT) and largest >= IRREGULAR

    def parts(self, wanted: Mapping[str, float]) -> Array:
        """Return the largest estimate at each point, relative to the wanted one, shape (s,).

        Parameters
        ----------
        wanted : mapping of str to float
            The wanted absolute errors of "q", "v", "z", "lam", "psi". Multipliers are looked at
            only if position, velocity and states are near enough.
        """
        bounds = self._bounds
        parts = np.max(
            [x.max(axis=1) / wanted[k] for k, x in bounds.items() if k in wanted]
            or [np.zeros(self.base + 1)],
            axis=0,
        )
        kinds = [k for k in ("lam", "psi") if k in wanted]
        if parts.max() > NEAR or not kinds or not self.base:
            return np.asarray(parts)
        count = min(SAMPLES, self.base) if self.symmetric else self.base  # transients are anywhere
        chosen = np.linspace(1, self.base, count).round().astype(int)
        chosen = np.union1d(chosen, np.argsort(bounds["v"].max(axis=1))[-WORST:])
        found = multiplier_errors(
            self.mechanism, self.times, self.motion, self.signed, self.bounds, chosen
        )
        for kind, error in zip(("lam", "psi"), found, strict=True):
            if kind in wanted and error.size:
                parts[chosen] = np.maximum(parts[chosen], error.max(axis=1) / wanted[kind])
        return np.asarray(parts)


def _gain(levels: Sequence[Array]) -> float:
    """Return how much smaller the next difference of columns will be, if they go on so."""
    first, second = (np.abs(x - y).max() for x, y in pairwise(levels[:3]))
    return float(GEOMETRIC * first / second) if second else 0.0


def multiplier_errors(
    o: Mechanism, times: Array, motion: Pair, signed: Pair, bounds: Pair, chosen: Array
) -> Pair:
    """Return errors of lam and psi at chosen points: what errors of q and v do to them.

    `signed` are those errors, and `bounds` their bounds, which have noise in them, too.
    """
    q, v = motion[0][chosen], motion[1][chosen]
    parts = by_kind((bounds[0][chosen], bounds[1][chosen]), o.n_moving)
    dq, dv = _as_large_as_bounds(o, (signed[0][chosen], signed[1][chosen]), parts)
    _, lam, psi = accelerations_at(o, times[chosen], q, v)
    _, lam_off, psi_off = accelerations_at(o, times[chosen], q + dq, v + dv)
    # what changes forces: velocities and states, each relative to its largest error
    known = [x.max(axis=1) / max(x.max(), TINY) for kind, x in parts.items() if kind != "q"]
    reference = np.max(known, axis=0)
    lam, psi = (
        lifted(largest_nearby(np.abs(x)), reference) for x in (lam_off - lam, psi_off - psi)
    )
    return lam, psi


def _as_large_as_bounds(o: Mechanism, signed: Pair, bounds: Parts) -> Pair:
    """Return errors with signs, of which the largest component of each kind is its bound."""
    found = {}
    for kind, x in by_kind(signed, o.n_moving).items():
        size = np.abs(x).max(axis=1)
        scale = np.maximum(bounds[kind].max(axis=1) / np.maximum(size, TINY), 1.0)
        found[kind] = np.where(size > 0.0, scale, 0.0)[:, None] * x
    return joined(found, o.n_q)
