"""Between the points of the coarsest grid: polynomials through the motion and its derivatives."""

from __future__ import annotations

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import hermite_at

Array = np.ndarray
Pair = tuple[Array, Array]

#: Points that a polynomial goes through, with its derivatives.
POINTS = 6
#: So many intervals are looked at for the error between points, those at both ends included.
LOOKED_AT = 7


class Dense:
    """The motion of a window at any time, almost on the constraints.

    Parameters
    ----------
    mechanism : Mechanism
    times : (s,) array
    q, v : (s, n) array
    """

    def __init__(self, mechanism: Mechanism, times: Array, q: Array, v: Array) -> None:
        self._o, self._times, self._q, self._v = mechanism, times, q, v
        self._vdots: dict[int, Array] = {}

    def at(self, t: float, count: int = POINTS) -> Pair:
        """Return position and velocity at `t` from the `count` nearest points."""
        times = self._times
        sign = 1.0 if times[-1] > times[0] else -1.0
        place = int(np.searchsorted(sign * times, sign * t)) - count // 2
        first = min(max(place, 0), max(times.size - count, 0))
        last = min(first + count, times.size)
        near, v = times[first:last], self._v[first:last]
        vdot = np.array([self._vdot(i) for i in range(first, last)])
        return hermite_at(near, self._q[first:last], v, t), hermite_at(near, v, vdot, t)

    def _vdot(self, i: int) -> Array:
        if i not in self._vdots:
            point = float(self._times[i]), self._q[i], self._v[i]
            self._vdots[i] = accelerations(self._o, *point, *self._o.multiplier_guess())[0]
        return self._vdots[i]

    def error(self) -> Pair:
        """Return the largest errors of q and v between the points, shape (n,) each.

        As far as polynomials through one point less tell them.
        """
        times, last = self._times, self._times.size - 2
        chosen = np.unique(np.linspace(0, last, min(LOOKED_AT, last + 1)).round().astype(int))
        largest = np.zeros_like(self._q[0]), np.zeros_like(self._q[0])
        for i in chosen.tolist():
            t = float(0.5 * (times[i] + times[i + 1]))
            for x, good, less in zip(largest, self.at(t), self.at(t, POINTS - 1), strict=True):
                np.maximum(x, np.abs(good - less), out=x)
        return largest
