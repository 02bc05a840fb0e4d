"""A glance beside the motion: is what is believed of a function's gradient still so?

Values of g along the motion cannot tell. A plane that begins to bank under a ball is where it was
on the ball's way; only its slope across has changed, and it is the slope that pushes the ball
aside. So one value a little beside the motion, in a direction of no special value, is compared with
what the gradient says. A gradient that is wrong in whatever entries is wrong along such a
direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.model.callbacks import Array, VectorFunction
from genalpha.model.differences import EPS, scale

#: How far beside, relative to q, and by which part of what a row changes it may change otherwise.
ASIDE, CLOSE = 1e-7, 1e-6
#: Rounding errors of a value, relative to what it sums up.
ROUNDING = 16.0 * EPS
#: So many directions are taken in turn.
DIRECTIONS = 8


class Glance:
    """Directions to look along.

    Parameters
    ----------
    n : int
        Coordinates.
    moving : int, optional
        The function depends on those before this one only.
    """

    def __init__(self, n: int, moving: int | None = None) -> None:
        random = np.random.default_rng(2)
        self._directions = random.uniform(0.5, 1.0, (DIRECTIONS, n))
        self._directions *= random.choice([-1.0, 1.0], (DIRECTIONS, n))
        self._directions[:, n if moving is None else moving :] = 0.0
        self._next = 0

    def direction(self, q: Array) -> Array:
        """Return the next direction, as long as q."""
        self._next = (self._next + 1) % DIRECTIONS
        return self._directions[self._next] * scale(q)

    def confirms(
        self,
        g: VectorFunction,
        t: float,
        q: Array,
        value: Array,
        G: Any,
        by_time: Array | None = None,
    ) -> bool:
        """Tell whether g changes as its gradient says.

        A call of g; one more where g bends so much that a difference to one side tells nothing.

        Parameters
        ----------
        g : callable(t, q) -> (m,)
        t, q, value : float, (n,) array, (m,) array
            A point, and g there.
        G : (m, n) matrix
            The gradient there that is believed in.
        by_time : (m,) array, optional
            The derivative by the time, if something is believed of it too.
        """
        if not np.isfinite(value).all():
            return True  # nothing can be told here, and nobody will go on with it
        aside = ASIDE * self.direction(q)
        rows, change = abs(G), G @ aside
        allowed = CLOSE * (rows @ np.abs(aside))
        allowed = allowed + ROUNDING * (np.abs(value) + rows @ np.abs(q))
        later = 0.0
        if by_time is not None:
            later = ASIDE * max(1.0, abs(t))
            change, allowed = change + later * by_time, allowed + CLOSE * later * np.abs(by_time)
        ahead = g(t + later, q + aside)
        if (np.abs(ahead - value - change) <= allowed).all():
            return True
        behind = g(t - later, q - aside)
        return bool((np.abs(ahead - behind - 2.0 * change) <= 2.0 * allowed).all())
