"""Explicit steps of x' = rhs(t, x), one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from genalpha.driver.advance import Advance
from genalpha.driver.sizes import Grid
from genalpha.numerics.interpolation import hermite

Array = np.ndarray
RightHandSide = Callable[[float, Array], Array]


class Point(NamedTuple):
    """x and its derivative at a time."""

    t: float
    x: Array
    xdot: Array


class ExplicitMarch(Advance):
    """Steps of a fixed size, or of given sizes, by an explicit method.

    Parameters
    ----------
    method : callable(rhs, t, x, xdot, h) -> x
    rhs : callable(t, x) -> xdot
        For the stages of a step.
    arrived : callable(t, x, h) -> xdot
        The derivative at the end of a step of size h, or at a start (h = 0): for whoever wants to
        know of it.
    start : (t, x)
    sizes : float, or iterator of (size, end)
    """

    def __init__(
        self,
        method: Callable[..., Array],
        rhs: RightHandSide,
        arrived: Callable[[float, Array, float], Array],
        start: tuple[float, Array],
        sizes: Any,
    ) -> None:
        super().__init__(start[0])
        self._method, self._rhs, self._arrived, self._sizes = method, rhs, arrived, sizes
        self._grid: Grid | None = None
        self.left = self.right = Point(*start, arrived(*start, 0.0))

    def step(self, t_end: float) -> None:
        """See `Advance`."""
        t, x, xdot = self.right
        h, t_next = self._following(t, t_end)
        x = self._method(self._rhs, t, x, xdot, h)
        right = Point(t_next, x, self._arrived(t_next, x, h))
        self.left, self.right = self.right, right
        self.t_left, self.t = t, t_next

    def _following(self, t: float, t_end: float) -> tuple[float, float]:
        if not isinstance(self._sizes, float):
            return next(self._sizes)
        if self._grid is None or self._grid.end != t_end:
            self._grid = Grid(self._sizes, t, t_end)
        found = self._grid.following(t)
        self._grid.count()
        return found

    def at(self, t: float) -> Point:
        """See `Advance`; cubic, with errors O(h^4)."""
        left, right = self.left, self.right
        if t == right.t or left.t == right.t:
            return right
        return Point(t, *hermite(*left, *right, t))
