"""M1 a of GenAlphaSOI2 on a residual, where M(t1, q1) a comes with another call.

M1 belongs to t0 + (1 + alpha) h, q0 + (1 + alpha) h v0, where nothing else is asked. That is near
(t1, q1), and what both products differ by, over h, is as smooth as the motion. It is extrapolated
from steps where M1 a was asked for; how far polynomials of both degrees are apart, and how far the
last one was off, tell when to ask again.
"""

from __future__ import annotations

import math

import numpy as np

from genalpha.kernels import combined, norm, plus

Array = np.ndarray

#: What was off once is taken to be off by this share of it, at least, the next time.
FADING = 0.7
#: M1 a is asked for after so many steps at the latest.
ASKED = 8


class Beside:
    """What M1 a differs by from M(t1, q1) a."""

    def __init__(self) -> None:
        # times and differences over h, the newest first; three make a parabola
        self._times: list[float] = []
        self._values: list[Array] = []
        # steps since M1 a was asked for; how far off it was then, relative to it
        self._since, self._off = 0, math.inf

    def told(self, t: float, h: float, there: Array, allowed: float) -> Array | None:
        """Return M1 a for a step of size h up to t, where M(t1, q1) a is `there`.

        None if it may be wrong by more than what is `allowed`, relative to it.
        """
        self._since += 1
        if self._since >= ASKED or not self._off <= allowed:
            return None
        line, parabola = self._extrapolated(t)
        doubt = norm(plus(parabola, -1.0, line)) * abs(h)
        if not doubt <= allowed * norm(there):
            return None
        return plus(there, h, parabola)

    def learn(self, t: float, h: float, there: Array, true: Array) -> None:
        """Learn from a true product."""
        value, size = combined(1.0 / h, true, -1.0 / h, there), norm(true)
        # a step that was repeated, or a shorter one instead
        while self._times and not (t - self._times[0]) * h > 0.0:
            del self._times[0], self._values[0]
        if len(self._times) == 3 and size:
            off = norm(plus(self._extrapolated(t)[1], -1.0, value)) * abs(h) / size
            self._off = max(off, FADING * self._off) if self._off < math.inf else off
        elif len(self._times) < 3:
            self._off = math.inf
        self._times, self._values = [t, *self._times[:2]], [value, *self._values[:2]]
        self._since = 0

    def _extrapolated(self, t: float) -> tuple[Array, Array]:
        """Return the values at t on the line, and on the parabola through what is known."""
        (t1, t2, t3), (x1, x2, x3) = self._times, self._values
        slope = combined(1.0 / (t1 - t2), x1, 1.0 / (t2 - t1), x2)
        before = combined(1.0 / (t2 - t3), x2, 1.0 / (t3 - t2), x3)
        line = plus(x1, t - t1, slope)
        bend = (t - t1) * (t - t2) / (t1 - t3)
        return line, combined(1.0, line, bend, slope, -bend, before)
