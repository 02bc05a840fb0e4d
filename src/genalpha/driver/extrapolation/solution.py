"""The result of an integration to a wanted error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from genalpha.driver.extrapolation.points import consistent
from genalpha.driver.extrapolation.trial import SAMPLES, WORST, Pair, multiplier_errors
from genalpha.driver.extrapolation.windows import Window
from genalpha.driver.solution import Solution
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

    Parameters
    ----------
    mechanism : Mechanism
    windows : sequence of Window
    """

    def __init__(self, mechanism: Mechanism, windows: Sequence[Window]) -> None:
        self.mechanism = mechanism
        # of a point where two windows meet, the later one has it on the constraints
        kept = [slice(None, -1)] * (len(windows) - 1) + [slice(None)]
        each = list(zip(windows, kept, strict=True))
        self.times = np.concatenate([w.trial.times[s] for w, s in each])
        self.q, self.v = (np.concatenate([w.trial.motion[i][s] for w, s in each]) for i in (0, 1))
        self.signed = _joined([w.signed for w in windows], kept)
        self.bounds = _joined([w.bounds for w in windows], kept)

        self.starts = np.cumsum([0, *(w.trial.base for w in windows)])
        self.order = min(w.trial.order for w in windows)
        self._denses = [w.trial.dense for w in windows]
        self._knots: dict[int, Knot] = {}

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        if i not in self._knots:
            near = self._knots.get(i - 1)
            guess = self.mechanism.multiplier_guess() if near is None else (near.lam, near.psi)
            t = float(self.times[i])
            self._knots[i] = consistent(self.mechanism, t, self.q[i], self.v[i], *guess)
        return self._knots[i]

    def __iter__(self) -> Iterator[Knot]:
        return (self[i] for i in range(len(self)))

    def between(self, t: float, right: int) -> Knot:
        """Return the motion between a point and the one before it."""
        window = int(np.searchsorted(self.starts, right)) - 1
        q, v = self._denses[window].at(t)
        return consistent(self.mechanism, t, q, v, *self.mechanism.multiplier_guess())

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
        for kind, error in zip("qv", self.bounds, strict=True):
            if kind in wanted:
                parts = np.maximum(parts, error.max(axis=1) / wanted[kind])
        if "lam" in wanted or "psi" in wanted:
            count = min(len(self) - 1, SAMPLES * (self.starts.size - 1))
            chosen = np.linspace(1, len(self) - 1, count).round().astype(int)
            chosen = np.union1d(chosen, np.argsort(self.bounds[1].max(axis=1))[-WORST:])
            found = self._multiplier_errors(chosen)
            for kind, error in zip(("lam", "psi"), found, strict=True):
                if kind in wanted and error.size:
                    parts[chosen] = np.maximum(parts[chosen], error.max(axis=1) / wanted[kind])
        return parts

    def _multiplier_errors(self, chosen: Array) -> Pair:
        motion, bound = (self.q, self.v), self.bounds[1]
        return multiplier_errors(self.mechanism, self.times, motion, self.signed, bound, chosen)


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
    ) -> None:
        self._points, self.order = points, points.order
        nothing = np.zeros((len(points), 0))
        super().__init__(points.mechanism, points.times, points, nothing, statistics, t_eval)
        self.windows = points.times[points.starts]
        self.a = self.vdot

    @cached_property
    def error(self) -> Errors:
        """Bounds of the errors: .q, .v, .lam, .psi, .z, arrays like those of the motion."""
        errors = self._points.errors
        if self._at_steps:
            return errors
        right = np.array([self._right_of(t) for t in self.t])
        left = np.where(self.steps[right] == self.t, right, np.maximum(right - 1, 0))
        return Errors(*(np.maximum(x[left], x[right]) for x in errors))

    def knot_at(self, t: float) -> Knot:
        """Return the motion at a time; with first-order states, see `genalpha.model.states`."""
        return self._at(t)

    def _at(self, t: float, side: str = "after") -> Knot:
        """Return the motion at a time, on the constraints, with an error of the same order."""
        right = self._right_of(t, side)
        if self.steps[right] == t or not right:
            return self._points[right]
        return self._points.between(t, right)
