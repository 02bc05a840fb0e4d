"""What an iteration matrix has missed: Broyden's updates, and secants that are remembered.

Of one group of unknowns that is corrected with one matrix. Within an iteration, Broyden's updates
make up for the matrix's age. Where the iteration learns from step to step, what the last
corrections have missed is remembered as long as the matrix lives.
"""

from __future__ import annotations

import math

import numpy as np

from genalpha.kernels import broyden, combined, norm, part, plus, secant

Array = np.ndarray

#: What so many corrections have missed is remembered, as long as the matrix lives.
MEMORY = 3
#: What is missed is only learnt if it is so many times what rounding makes of it: the rest would be
#: taken to grow with the age of the matrix, and believed.
CLEAR = 4.0


class Secants:
    """The memory of one group of unknowns.

    Parameters
    ----------
    learns : bool
        Whether it learns from step to step.

    Attributes
    ----------
    missed : float
        What the matrix has missed of the last correction but one, relative to it.
    """

    def __init__(self, learns: bool = False) -> None:
        self.learns, self.missed = learns, 0.0
        # when the matrix was made; corrections, what was wrong with each, and the matrix's age then
        self._made = math.nan
        self._pairs: list[tuple[Array, Array, float]] = []
        # corrections so far of the present iteration, if it does not learn from step to step
        self._moves: list[Array] = []
        # the last correction of the present iteration, as the matrix gave it and as it was made
        self._given: Array | None = None
        self._moved: Array | None = None

    def begin(self) -> None:
        """Begin an iteration."""
        self._given, self._moves, self.missed = None, [], 0.0

    def renew(self) -> None:
        """Forget what was wrong with the last matrix."""
        self._made, self._pairs, self._given, self._moves = math.nan, [], None, []

    def accelerated(self, d: Array, n: int, weight: float, t: float, noise: float = 0.0) -> Array:
        """Return a correction with Broyden's updates of the matrix, or see `secant`.

        `d` is what the matrix gives, whose entries from n on count `weight` times; rounding makes
        its first ones wrong by `noise`.
        """
        if not self.learns:
            d = broyden(self._moves, d, n, weight)
            self._moves.append(d)
            return d
        if self._made != self._made:
            self._made = t
        if self._given is not None and self._moved is not None:
            wrong = combined(1.0, self._moved, -1.0, self._given, 1.0, d)
            moved, lost = norm(part(self._moved, 0, n)), norm(part(wrong, 0, n))
            self.missed = lost / moved if moved else 0.0
            if lost > CLEAR * noise:
                pair = self._moved, wrong, abs(t - self._made)
                self._pairs = [*self._pairs[1 - MEMORY :], pair]
        self._given = plus(d, 0.0, d)
        self._moved = self.improved(d, n, weight, t)
        return self._moved

    def improved(self, d: Array, n: int, weight: float, t: float) -> Array:
        """Return what the matrix gives, by what is known of its age; `d` is overwritten.

        The same as `accelerated` for what is no correction of the present iteration.
        """
        return secant(self._pairs, d, n, weight, abs(t - self._made))
