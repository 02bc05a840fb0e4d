"""Products of GenAlphaSOI2 on a residual: M1 a, where M(t1, q1) a comes with another call.

M1 belongs to t0 + (1 + alpha) h, q0 + (1 + alpha) h v0, where nothing else is asked. That is

    q1 + alpha h v1 - (1/2 + alpha) h^2 vdot1 + O(h^3),

so that both products differ by h (u + h w), where u and w are as smooth as the motion. Of what is
known of steps where M1 a was asked for, u + h w is found as 1, t, h and t^2 make it. How far that
is from what 1, t and h alone make, and how far the last one was off, tell when to ask again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from genalpha.kernels import combined, norm, plus, product

Array = np.ndarray

#: What was off once is taken to be off by this share of it, at least, the next time.
FADING = 0.5
#: M1 a is asked for after so many steps at the latest.
ASKED = 12
#: Steps are equal if they differ by no more than this part.
EQUAL = 1e-6
#: What three of the steps that are known miss of the fourth is in doubt at least by so much, times
#: how far ahead one looks, relative to how far that one is back.
LEAST = 0.5
#: So many steps are known.
KNOWN = 4


class Beside:
    """What M1 a differs by from M(t1, q1) a."""

    def __init__(self) -> None:
        # (t, h, difference over h, what it was made of) of steps, the newest first
        self._known: list[tuple[float, float, Array, Any]] = []
        # steps since M1 a was asked for, the last one's time; how far off it was then
        self._since, self._last, self._off = 0, math.nan, math.inf

    def forget(self) -> None:
        """Forget all steps."""
        self._known, self._off = [], math.inf

    def told(self, t: float, h: float, there: Array, allowed: float) -> Array | None:
        """Return M1 a for a step of size h up to t, where M(t1, q1) a is `there`.

        None if it may be wrong by more than what is `allowed`.
        """
        if t != self._last:
            self._since, self._last = self._since + 1, t
        if self._since >= ASKED or not self._off <= allowed:
            return None
        found = self._extrapolated(t, h)
        if found is None or not found[1] + self._off <= allowed:
            return None
        return plus(there, h, found[0])

    def learn(self, t: float, h: float, there: Array, true: Array, made_of: Any = None) -> None:
        """Learn from a true product."""
        value, known = combined(1.0 / h, true, -1.0 / h, there), self._known
        if known and known[0][0] == t:  # asked for twice
            return
        found = self._extrapolated(t, h) if len(known) == KNOWN else None
        if found is not None:
            off = norm(plus(found[0], -1.0, value)) * abs(h) - found[1]
            self._off = max(off, FADING * self._off) if self._off < math.inf else max(off, 0.0)
        self._known, self._since = [(t, h, value, made_of), *known[: KNOWN - 1]], 0

    def _extrapolated(self, t: float, h: float) -> tuple[Array, float] | None:
        """Return the value at t for a step of size h, and what may be wrong with the product.

        That is what t^2 makes; and not nothing where it happens to make nothing there.
        Where steps are equal, t^2 and t^3 stand for h and t^2. None if that cannot be told.
        """
        (t1, h1, e1, _), (t2, h2, e2, _), (t3, h3, e3, _), (t4, h4, e4, _) = self._known
        x, x2, x3, x4 = (t - t1) / h, (t2 - t1) / h, (t3 - t1) / h, (t4 - t1) / h
        y, y2, y3, y4 = (h - h1) / h, (h2 - h1) / h, (h3 - h1) / h, (h4 - h1) / h
        z, z2, z3, z4 = x * x, x2 * x2, x3 * x3, x4 * x4
        if max(abs(y), abs(y2), abs(y3), abs(y4)) <= EQUAL:
            y, y2, y3, y4 = z, z2, z3, z4
            z, z2, z3, z4 = x * z, x2 * z2, x3 * z3, x4 * z4
        det = x2 * y3 - x3 * y2
        if det == 0.0:
            return None
        # the newest one, and c (second - newest) + ..., exact for x and y
        b2, b3 = (x * y3 - x3 * y) / det, (x2 * y - x * y2) / det
        # of the oldest one, what x and y leave, to be exact for z, too
        d2, d3 = (x4 * y3 - x3 * y4) / det, (x2 * y4 - x4 * y2) / det
        left = z4 - d2 * z2 - d3 * z3
        if left == 0.0:
            return None
        c, least = (z - b2 * z2 - b3 * z3) / left, LEAST * abs(x / x4)
        low = combined(1.0 - b2 - b3, e1, b2, e2, b3, e3)
        missed = plus(combined(d2 + d3 - 1.0, e1, -d2, e2, -d3, e3), 1.0, e4)
        return plus(low, c, missed), max(abs(c), least) * norm(missed) * abs(h)


class Following(Beside):
    """What products with vectors of order h differ by from those with a matrix that ages."""

    def __init__(self) -> None:
        super().__init__()
        self._matrix: Array | None = None

    def renew(self, matrix: Array) -> None:
        """Take another matrix."""
        self._matrix = matrix
        for i, (t, h, _, (x, true)) in enumerate(self._known):
            about = product(matrix, x)
            value = combined(1.0 / h, true, -1.0 / h, about)
            self._known[i] = t, h, value, (x, true)

    def times(self, t: float, h: float, x: Array, allowed: float) -> Array | None:
        """Return the product with x, see `told`."""
        return self.told(t, h, product(self._matrix, x), allowed)

    def follow(self, t: float, h: float, x: Array, true: Array) -> None:
        """Learn from a true product."""
        self.learn(t, h, product(self._matrix, x), true, (x, true))
