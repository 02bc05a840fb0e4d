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
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Osculating

Array = np.ndarray

#: Points of the coarsest grid that a polynomial goes through, and of the one to compare with.
COARSE, FEWER = 8, 6
#: Points that a polynomial goes through, with its derivatives.
POINTS = 6
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
        self._vdots: dict[int, Array] = {}
        self._polynomials: dict[tuple[int, int], Osculating] = {}
        self._sign = 1.0 if times[-1] > times[0] else -1.0
        self._along = self._sign * times

    def at(self, t: float, count: int = POINTS) -> Pair:
        """Return position and velocity at `t` from the `count` nearest points."""
        times = self._times
        place = int(np.searchsorted(self._along, self._sign * t)) - count // 2
        first = min(max(place, 0), max(times.size - count, 0))
        last = min(first + count, times.size)
        found = self._polynomial(first, last).at(t)
        n = self._q.shape[1]
        return found[:n], found[n:]

    def _polynomial(self, first: int, last: int) -> Osculating:
        """Return the polynomial of q and v, one after the other, through some points."""
        if (first, last) not in self._polynomials:
            near, q, v = (x[first:last] for x in (self._times, self._q, self._v))
            vdot = np.array([self._vdot(i) for i in range(first, last)])
            self._polynomials[first, last] = Osculating(
                near, np.hstack([q, v]), np.hstack([v, vdot])
            )
        return self._polynomials[first, last]

    def _vdot(self, i: int) -> Array:
        if i not in self._vdots:
            point = float(self._times[i]), self._q[i], self._v[i]
            self._vdots[i] = accelerations(self._o, *point, *self._o.multiplier_guess())[0]
        return self._vdots[i]

    def error_at(self, t: float) -> Pair:
        """Return about the errors of q and v at a time between points, with signs, shape (n,)."""
        n, (off_q, off_v) = self._o.n_moving, self._off
        good, less, least = (by_kind(self.at(t, POINTS - i), n) for i in range(3))
        right = min(max(int(np.searchsorted(self._along, self._sign * t)), 1), len(self._q) - 1)
        before, after = (by_kind((off_q[i], off_v[i]), n) for i in (right - 1, right))
        found = {
            k: _fallen(good[k], less[k], least[k]) + _larger(before[k], after[k]) for k in good
        }
        return joined(found, self._q.shape[1])

    def multipliers_off(self, t: float, off: Pair) -> Pair:
        """Return what errors of q and v do to lam and psi at a time."""
        o, (q, v) = self._o, self.at(t)
        _, lam, psi = accelerations(o, t, q, v, *o.multiplier_guess())
        _, lam_off, psi_off = accelerations(o, t, q + off[0], v + off[1], lam, psi)
        return lam_off - lam, psi_off - psi

    def errors(self, kinds: Sequence[str]) -> dict[str, float]:
        """Return the largest errors between the points, of some of "q", "v", "z", "lam", "psi"."""
        times = self._times
        found = dict.fromkeys(kinds, 0.0)
        for i in self._likely():
            t = float(0.5 * (times[i] + times[i + 1]))
            off = self.error_at(t)
            errors = by_kind(off, self._o.n_moving)
            if "lam" in found or "psi" in found:
                errors |= zip(("lam", "psi"), self.multipliers_off(t, off), strict=True)
            for kind in found.keys() & errors.keys():
                found[kind] = max(found[kind], float(np.abs(errors[kind]).max(initial=0.0)))
        return found

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


def _larger(x: Array, y: Array) -> Array:
    """Return the larger one of two vectors."""
    return x if np.abs(x).max(initial=0.0) > np.abs(y).max(initial=0.0) else y


def _fallen(good: Array, less: Array, least: Array) -> Array:
    """Return the error of the best of three values."""
    off = good - less
    first, second = np.abs(off).max(initial=0.0), np.abs(less - least).max(initial=0.0)
    return off * (min(1.0, FALLS * first / second) if second else 1.0)
