"""Whether samples within a step tell what an event function does there.

A step is walked along in pieces (`watch`). Each function is sampled at both ends of a piece and at
two places within. The piece is accepted if the cubic through these values tells what it does:

1. the last value is where the parabola through the others expects it, to a part of their size,
2. the slope goes on as it was at the end of the piece before,
3. where the cubic comes near zero and turns back, the function, sampled there too, does the same.

Otherwise the piece is halved. Its length is remembered from step to step and grows by doubling, so
that a function which oscillates many times within a step is followed as finely as it needs.
"""

from __future__ import annotations

from math import inf, sqrt

#: Where a piece is sampled, beside its ends; not a half and a quarter, where oscillations hide.
INNER = (0.29, 0.63)
#: The fourth value may be off what the other three say by this part of the largest.
RESOLVED = 0.15
#: The slope may change from one piece to the next by this much, times the length over the largest.
SMOOTH = 0.4
#: An extremum is sampled if it is nearer to zero than this many times what the cubic may be off.
NEAR = 2.0


class Cubic:
    """The cubic through a function's values at 0, INNER and 1.

    Attributes
    ----------
    size : float
        The largest of the values.
    surprise : float
        By how much the last value differs from what the other three say.
    slopes : (float, float)
        At 0 and 1.
    """

    def __init__(self, g0: float, ga: float, gb: float, g1: float) -> None:
        a, b = INNER
        # divided differences
        d01, d12, d23 = (ga - g0) / a, (gb - ga) / (b - a), (g1 - gb) / (1.0 - b)
        second, other = (d12 - d01) / b, (d23 - d12) / (1.0 - a)
        third = other - second
        # g0 + c1 x + c2 x^2 + c3 x^3
        self.c0, self.c3 = g0, third
        self.c2 = second - third * (a + b)
        self.c1 = d01 - second * a + third * a * b
        self.size = max(abs(g0), abs(ga), abs(gb), abs(g1))
        self.surprise = abs(third) * (1.0 - a) * (1.0 - b)
        self.slope0 = self.c1
        self.slope1 = self.c1 + 2.0 * self.c2 + 3.0 * self.c3

    def at(self, x: float) -> float:
        """Return the cubic's value."""
        return self.c0 + x * (self.c1 + x * (self.c2 + x * self.c3))

    def turning_point(self, sign: float) -> float:
        """Return where, within (0, 1), the cubic comes nearest to zero from a side; -1: nowhere."""
        a, b, c = 3.0 * self.c3, self.c2, self.c1  # a x^2 + 2 b x + c = 0
        best, found = inf, -1.0
        root = b * b - a * c
        if root < 0.0:
            return found
        w = -(b + (sqrt(root) if b >= 0.0 else -sqrt(root)))
        for x in (w / a if a else -1.0, c / w if w else -1.0):
            if 0.0 < x < 1.0 and sign * self.at(x) < best:
                best, found = sign * self.at(x), x
        return found

    def is_resolved(self, slope: float) -> bool:
        """Tell whether the values look like those of a function that they resolve.

        `slope` is that at the end of the piece before, in units of this one; NaN: not known.
        """
        if not self.surprise <= RESOLVED * self.size:
            return False
        return not abs(self.slope0 - slope) > SMOOTH * self.size
