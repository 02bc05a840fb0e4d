"""The result of an integration to a wanted error."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from genalpha.driver.extrapolation.carry import CAUTION
from genalpha.driver.extrapolation.legs import Leg
from genalpha.driver.extrapolation.measure import Pair, by_kind, joined
from genalpha.driver.extrapolation.points import consistent_at
from genalpha.driver.extrapolation.trial import SAMPLES, WORST, Trial, multiplier_errors
from genalpha.driver.origin import Origin
from genalpha.driver.solution import Solution, rows
from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot

Array = np.ndarray


class Errors(NamedTuple):
    """Bounds of the error of position, velocity, multipliers and first-order states."""

    q: Array
    v: Array
    lam: Array
    psi: Array
    z: Array


class ColumnCost(NamedTuple):
    """What one run cost; `used` tells whether the result is made of it."""

    steps: int
    used: bool
    counters: Counters
    window: int = 0


class ExtrapolationCounters(Counters):
    """What all runs cost together.

    Attributes
    ----------
    columns : list of ColumnCost
        The runs on smooth grids, window by window, in the order of their numbers of steps.
    """

    columns: list[ColumnCost]


class Points(Sequence[Knot]):
    """The motion at the points of the coarsest grids, worked out where it is asked for.

    At an impact there are two points of the same time.

    Parameters
    ----------
    legs : sequence of Leg

    Attributes
    ----------
    times : (s,) array
    q, v : (s, n) array
    signed, bounds : pair of (s, n) array
        Errors of q and v.
    starts : (w + 1,) array
        The number of the first point of each window, and of the last one.
    firsts : list of int
        The number of the first point of each leg.
    order : int
        The lowest of all windows.
    """

    def __init__(self, legs: Sequence[Leg]) -> None:
        windows = [window for leg in legs for window in leg.windows]
        # of a point where two windows meet, the later one has it on the constraints
        last = [w is leg.windows[-1] for leg in legs for w in leg.windows]
        kept = [slice(None) if x else slice(None, -1) for x in last]
        each = list(zip(windows, kept, strict=True))
        pieces = [w.times[s] for w, s in each]
        self.times = np.concatenate(pieces)
        self.q, self.v = _joined([w.motion for w in windows], kept)
        self.signed = _joined([w.signed for w in windows], kept)
        self.bounds = _joined([w.bounds for w in windows], kept)
        firsts = np.cumsum([0, *(x.size for x in pieces)])
        self.starts = np.append(firsts[:-1], self.times.size - 1)
        self.firsts = [int(i) for i, new in zip(firsts, [True, *last], strict=True) if new][:-1]
        self.order = min(w.trial.order for w in windows)
        self._mechanisms = [leg.mechanism for leg in legs]
        self._trials = [w.trial for w in windows]
        self._knots: dict[int, Knot] = {}
        for leg, following in zip(legs, self.firsts[1:], strict=False):
            assert leg.impact is not None
            self._knots[following - 1], self._knots[following] = leg.impact.before, leg.impact.after

    @property
    def mechanism(self) -> Mechanism:
        """The first one that moves."""
        return self._mechanisms[0]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        if i not in self._knots:
            o = self._mechanism_of(i)
            near = self._knots.get(i - 1) if i not in self.firsts else None
            guess = o.multiplier_guess() if near is None else (near.lam, near.psi)
            trial = self._trials[self._window_of(i)]
            t = float(self.times[i])
            self._knots[i] = trial.consistent_near(t, self.q[i], self.v[i], *guess)
        return self._knots[i]

    def __iter__(self) -> Iterator[Knot]:
        self._work_out_at_once()
        return (self[i] for i in range(len(self)))

    def _work_out_at_once(self) -> None:
        """Work out all points of a window at once, where that can be done."""
        missing = np.array([i for i in range(len(self)) if i not in self._knots], dtype=int)
        for own, trial in self._by_window(missing):
            i = missing[own]
            knots = consistent_at(trial.mechanism, self.times[i], self.q[i], self.v[i])
            if knots is not None:
                self._knots |= zip(i.tolist(), knots, strict=True)

    def _mechanism_of(self, i: int) -> Mechanism:
        return self._mechanisms[bisect_right(self.firsts, i) - 1]

    def between(self, t: float, right: int) -> Knot:
        """Return the motion between a point and the one before it."""
        trial = self._trials[self._window_of(right)]
        guess = trial.mechanism.multiplier_guess()
        return trial.consistent_near(t, *trial.dense.at(t), *guess)

    def all_between(self, times: Array, right: Array) -> list[Knot]:
        """Return the same at many times."""
        found: dict[int, Knot] = {}
        for own, trial in self._by_window(right):
            q, v = trial.dense.at_all(times[own])
            knots = consistent_at(trial.mechanism, times[own], q, v)
            if knots is None:
                guess = trial.mechanism.multiplier_guess()
                knots = [
                    trial.consistent_near(*state, *guess)
                    for state in zip(times[own].tolist(), q, v, strict=True)
                ]
            found |= zip(own.tolist(), knots, strict=True)
        return [found[i] for i in range(times.size)]

    def errors_between(self, times: Array, right: Array) -> tuple[list[Array], ...]:
        """Return what interpolation adds to the errors of q, v, lam, psi at some times."""
        found: dict[int, tuple[Array, ...]] = {}
        for own, trial in self._by_window(right):
            off = trial.dense.errors_at(times[own])
            each = (np.abs(x) for x in (*off, *trial.dense.multipliers_off(times[own], off)))
            found |= zip(own.tolist(), zip(*each, strict=True), strict=True)
        return tuple([found[i][j] for i in range(times.size)] for j in range(4))

    def _by_window(self, right: Array) -> Iterator[tuple[Array, Trial]]:
        """Return which of some points belong to each window, or end it, and the motion in it."""
        windows = np.maximum(np.searchsorted(self.starts, right) - 1, 0)
        for i in np.unique(windows).tolist():
            yield np.flatnonzero(windows == i), self._trials[i]

    def _window_of(self, i: int) -> int:
        """Return the window in which a point is, or that it ends."""
        return max(int(np.searchsorted(self.starts, i)) - 1, 0)

    @cached_property
    def errors(self) -> Errors:
        """Bounds of all errors at the points."""
        n, (q, v) = self.mechanism.n_moving, self.bounds
        lam, psi = self._multiplier_errors(np.arange(len(self)))
        return Errors(q[:, :n], v[:, :n], lam, psi, v[:, n:])

    def parts(self, wanted: Mapping[str, float]) -> Array:
        """Return the largest error at each point, relative to the wanted one, shape (s,).

        Parameters
        ----------
        wanted : mapping of str to float
            Wanted absolute errors. Those of multipliers are looked at in some points only.
        """
        parts = np.zeros(len(self))
        for kind, error in by_kind(self.bounds, self.mechanism.n_moving).items():
            if kind in wanted:
                parts = np.maximum(parts, error.max(axis=1) / wanted[kind])
        if "lam" in wanted or "psi" in wanted:
            count = min(len(self) - 1, SAMPLES * (self.starts.size - 1))
            chosen = np.linspace(1, len(self) - 1, count).round().astype(int)
            of_v = self.bounds[1][:, : self.mechanism.n_moving].max(axis=1)
            chosen = np.union1d(chosen, np.argsort(of_v)[-WORST:])
            found = self._multiplier_errors(chosen)
            for kind, error in zip(("lam", "psi"), found, strict=True):
                if kind in wanted and error.size:
                    largest = np.nanmax(error, axis=1, initial=0.0)
                    parts[chosen] = np.maximum(parts[chosen], largest / wanted[kind])
        return parts

    def _multiplier_errors(self, chosen: Array) -> Pair:
        """Return errors of lam and psi at some points; each leg has its own mechanism."""
        found = []
        ends = [*self.firsts[1:], len(self)]
        for o, first, end in zip(self._mechanisms, self.firsts, ends, strict=True):
            part, own = slice(first, end), chosen[(chosen >= first) & (chosen < end)] - first
            if own.size:
                three = ((self.q, self.v), self.signed, self.bounds)
                motion, signed, bounds = ((q[part], v[part]) for q, v in three)
                found.append(multiplier_errors(o, self.times[part], motion, signed, bounds, own))
        lam, psi = (rows([row for x in found for row in x[i]]) for i in (0, 1))
        return lam, psi


def _joined(pairs: Sequence[Pair], kept: Sequence[slice]) -> Pair:
    """Return the rows of all windows, one after another."""
    q, v = (np.concatenate([x[i][s] for x, s in zip(pairs, kept, strict=True)]) for i in (0, 1))
    return q, v


class ExtrapolatedSolution(Solution):
    """A motion whose error is known; see `Solution`.

    Attributes
    ----------
    order : int
        Order of the extrapolation, the lowest of all windows.
    windows : (w + 1,) array
        Times between which the motion was extrapolated.
    steps : (s,) array
        Times of the coarsest runs.
    a : (k, n) array
        The same as `vdot`: an algorithmic acceleration belongs to one step size.
    """

    def __init__(
        self,
        points: Points,
        statistics: Counters,
        t_eval: Array | None,
        origin: Origin,
    ) -> None:
        self._points, self.order = points, points.order
        nothing = np.zeros((len(points), 0))
        super().__init__(
            points.mechanism, points.times, points, nothing, statistics, t_eval, origin
        )
        self.windows = points.times[points.starts]
        self.a = self.vdot

    @cached_property
    def error(self) -> Errors:
        """Bounds of the errors: .q, .v, .lam, .psi, .z, arrays like those of the motion."""
        errors = self._points.errors
        if self._at_steps:
            return errors
        right, n = self._right_of_all(self.t), self._n
        near = [[x[i] for i in right] for x in errors]
        between = self._is_between(self.t, right)
        q, v, lam, psi = self._points.errors_between(self.t[between], right[between])
        more = ([x[:n] for x in q], [x[:n] for x in v], lam, psi, [x[n:] for x in v])
        for found, x, added in zip(near, errors, more, strict=True):
            for i, y in zip(np.flatnonzero(between).tolist(), added, strict=True):
                before, after = x[right[i] - 1], x[right[i]]
                found[i] = np.maximum(before, after)[: y.size] + y
        return Errors(*map(rows, near))

    def _is_between(self, times: Array, right: Array) -> Array:
        """Tell which of some times are between points."""
        return np.asarray((self.steps[right] != times) & (right > 0))

    def off_at(self, t: float) -> Pair:
        """Return the errors of q and v at a time as they are carried on: with sign, cautiously."""
        points, i, n = self._points, self._right_of(t), self._n
        signed, bounds = (by_kind((q[i], v[i]), n) for q, v in (points.signed, points.bounds))
        found = {}
        for kind, bound in bounds.items():
            largest = float(np.abs(signed[kind]).max())
            off = signed[kind] * (bound.max() / largest) if largest else bound
            found[kind] = CAUTION * off
        return joined(found, points.q.shape[1])

    def knot_at(self, t: float) -> Knot:
        """Return the motion at a time; with first-order states, see `genalpha.model.states`."""
        return self._at(t)

    def _at_all(self, times: Array, side: str = "after") -> list[Knot]:
        """Return the motion at some times, see `_at`."""
        right = self._right_of_all(times, side)
        between = self._is_between(times, right)
        found = iter(self._points.all_between(times[between], right[between]))
        at = zip(between.tolist(), right.tolist(), strict=True)
        return [next(found) if x else self._points[i] for x, i in at]

    def _at(self, t: float, side: str = "after") -> Knot:
        """Return the motion at a time, on the constraints, with an error of the same order."""
        right = self._right_of(t, side)
        if self.steps[right] == t or not right:
            return self._points[right]
        return self._points.between(t, right)
