"""Between the points of the coarsest grid: polynomials through the motion and its derivatives.

From four columns on, two of them have the points in the middle between those of the coarsest grid,
too. Their extrapolation there lacks what the other columns add. That is known at the points of the
coarsest grid, and so small beside the motion that polynomials through some of these points give it
in the middle well enough (`refined`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genalpha.driver.extrapolation.measure import Pair, by_kind, joined
from genalpha.driver.extrapolation.points import accelerations_at
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Osculating

Array = np.ndarray

#: Points of the coarsest grid that a polynomial goes through, and of the one to compare with.
COARSE, FEWER = 8, 6
#: Points that a polynomial goes through, with its derivatives.
POINTS = 6
#: Polynomials that are made at once.
TOGETHER = 128
#: At most so many intervals are looked at for the error between points.
LOOKED_AT = 7
#: Errors of polynomials through 4, 5, 6 points fall in about a geometric sequence: that of the last
#: is this times the ratio of the differences before, and at most the last difference.
FALLS = 10.0


def refined(coarse: Array, fine: Array) -> Pair:
    """Return values on a fine grid that agree with better ones on a coarse grid, and their errors.

    Parameters
    ----------
    coarse : (s, n) array
    fine : (k (s - 1) + 1, n) array
    """
    k = (len(fine) - 1) // (len(coarse) - 1)
    missing = coarse - fine[::k]
    best, other = (_spread(missing, k, count) for count in (COARSE, FEWER))
    return fine + best, best - other


def _spread(x: Array, k: int, count: int) -> Array:
    """Return values between the points of a grid, k per interval, by Lagrange's polynomials."""
    count = min(count, len(x))
    at = np.arange(k * (len(x) - 1) + 1)
    first = np.clip(at // k - count // 2 + 1, 0, len(x) - count)
    place, nodes = at / k - first, np.arange(count)
    weights = np.ones((at.size, count))
    for j in nodes:
        for i in nodes[nodes != j]:
            weights[:, j] *= (place - i) / (j - i)
    return np.asarray(sum(weights[:, j, None] * x[first + j] for j in nodes))


class Dense:
    """The motion of a window at any time, almost on the constraints.

    Parameters
    ----------
    mechanism : Mechanism
    times : (s,) array
    q, v : (s, n) array
    off : pair of (s, n) array, optional
        Errors of q and v at these times, which `refined` tells.
    """

    def __init__(
        self, mechanism: Mechanism, times: Array, q: Array, v: Array, off: Pair | None = None
    ) -> None:
        self._o, self._times, self._q, self._v = mechanism, times, q, v
        self._off = (0.0 * q, 0.0 * v) if off is None else off
        self._vdot, self._has_vdot = np.empty_like(v), np.zeros(times.size, dtype=bool)
        self._polynomials: dict[tuple[int, int], Osculating] = {}
        self._sign = 1.0 if times[-1] > times[0] else -1.0
        self._along = self._sign * times

    def at(self, t: float) -> Pair:
        """Return position and velocity at a time."""
        count = min(POINTS, self._times.size)
        first = int(self._first(np.array([t]), count)[0])
        if (first, count) not in self._polynomials:  # an event asks there again and again
            self._polynomials[first, count] = self._through(first + np.arange(count))
        return self._halves(self._polynomials[first, count].at(t))

    def at_all(self, times: Array, count: int = POINTS) -> Pair:
        """Return the same at many times, from the `count` nearest points of each."""
        count = min(count, self._times.size)
        first = self._first(times, count)
        found = [
            self._through(first[i : i + TOGETHER, None] + np.arange(count)).at(
                times[i : i + TOGETHER]
            )
            for i in range(0, times.size, TOGETHER)
        ]
        return self._halves(np.concatenate(found))

    def _halves(self, x: Array) -> Pair:
        n = self._q.shape[1]
        return x[..., :n], x[..., n:]

    def _first(self, times: Array, count: int) -> Array:
        """Return the first ones of the points next to each time."""
        place = np.searchsorted(self._along, self._sign * times) - count // 2
        return np.minimum(np.maximum(place, 0), self._times.size - count)

    def _through(self, points: Array) -> Osculating:
        """Return polynomials of q and v, one after the other, through some points each."""
        new = np.unique(points[~self._has_vdot[points]])
        if new.size:
            state = self._times[new], self._q[new], self._v[new]
            self._vdot[new] = accelerations_at(self._o, *state)[0]
            self._has_vdot[new] = True
        q, v, vdot = (x[points] for x in (self._q, self._v, self._vdot))
        x, d = np.concatenate([q, v], axis=-1), np.concatenate([v, vdot], axis=-1)
        return Osculating(self._times[points], x, d)

    def errors_at(self, times: Array) -> Pair:
        """Return about the errors of q and v at times between points, with signs."""
        n, (off_q, off_v) = self._o.n_moving, self._off
        good, less, least = (by_kind(self.at_all(times, POINTS - i), n) for i in range(3))
        right = np.clip(np.searchsorted(self._along, self._sign * times), 1, len(self._q) - 1)
        before, after = (by_kind((off_q[i], off_v[i]), n) for i in (right - 1, right))
        found = {
            k: _fallen(good[k], less[k], least[k]) + _larger(before[k], after[k]) for k in good
        }
        return joined(found, self._q.shape[1])

    def multipliers_off(self, times: Array, off: Pair) -> Pair:
        """Return what errors of q and v do to lam and psi at some times."""
        q, v = self.at_all(times)
        _, lam, psi = accelerations_at(self._o, times, q, v)
        _, lam_off, psi_off = accelerations_at(self._o, times, q + off[0], v + off[1])
        return lam_off - lam, psi_off - psi

    def errors(self, kinds: Sequence[str]) -> dict[str, float]:
        """Return the largest errors between the points, of some of "q", "v", "z", "lam", "psi"."""
        i = np.array(self._likely())
        times = 0.5 * (self._times[i] + self._times[i + 1])
        off = self.errors_at(times)
        errors = by_kind(off, self._o.n_moving)
        if "lam" in kinds or "psi" in kinds:
            errors |= zip(("lam", "psi"), self.multipliers_off(times, off), strict=True)
        return {
            kind: float(np.abs(x).max(initial=0.0)) for kind, x in errors.items() if kind in kinds
        }

    def _likely(self) -> list[int]:
        """Return intervals where errors are likely.

        Both ends, where the motion bends most, and where the finest run needs most correction.
        """
        h, last = np.diff(self._times)[:, None], self._times.size - 2
        bends = np.abs(np.diff(self._q, axis=0) - 0.5 * h * (self._v[1:] + self._v[:-1]))
        n, most = self._o.n_moving, []
        for own in (bends[:, :n], bends[:, n:]):  # those of states have other units
            if own.shape[1]:
                most += np.argsort(own.max(axis=1))[-(LOOKED_AT - 4) :].tolist()
        worst = (min(int(np.abs(x).max(axis=1).argmax()), last) for x in self._off)
        return sorted({0, last, *most, *worst})


def _size(x: Array) -> Array:
    """Return the largest component of each row."""
    return np.asarray(np.abs(x).max(axis=1, initial=0.0, keepdims=True))


def _larger(x: Array, y: Array) -> Array:
    """Return the larger one of two vectors, row by row."""
    return np.where(_size(x) > _size(y), x, y)


def _fallen(good: Array, less: Array, least: Array) -> Array:
    """Return the errors of the best of three values, row by row."""
    off = good - less
    first, second = _size(off), _size(less - least)
    ratio = np.divide(FALLS * first, second, out=np.ones_like(first), where=second > 0.0)
    return np.asarray(off * np.minimum(1.0, ratio))
