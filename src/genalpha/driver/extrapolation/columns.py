"""The same motion with different numbers of steps on one smooth grid, and their extrapolation.

Errors of q and v have expansions c2 h^2 + c3 h^3 + c4 h^4 + ..., of symmetric schemes with even
powers only. So results with N, 2 N, ..., K N steps are, at the points of the coarsest grid, values
of a polynomial in 1/k without linear term, and its value at 1/k = 0 has an error of order K + 1, or
of order 2 K for a symmetric scheme.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from genalpha.driver.stepper import Stepper
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

EPS = float(np.finfo(float).eps)
#: Steps are equal if their sizes differ by no more than this part.
EQUAL = 1e-9
COUNTED = ("nsteps", "nfcns", "njacs", "nfcnjacs", "nlus", "nniters", "nnfails")


@cache
def weights(multiples: tuple[int, ...], symmetric: bool = False) -> Array:
    """Return the weights of results with step sizes H/k in their extrapolation to step size 0.

    Examples
    --------
    >>> from genalpha.driver.extrapolation.columns import weights
    >>> bool(abs(weights((1, 2)) * 3 - [-1, 4]).max() < 1e-15)
    True
    """
    k = np.array(multiples, dtype=float)
    powers = [0, *(2 * i if symmetric else i + 1 for i in range(1, k.size))]
    return np.linalg.solve(np.array([k**-p for p in powers]), np.eye(k.size)[0])


def rounding(multiples: tuple[int, ...], base: int, symmetric: bool) -> float:
    """Return what rounding does to an extrapolation, relative to its largest value.

    A position is known to eps, and so a velocity to eps / h; the weights amplify it.
    """
    amplified = np.abs(weights(multiples, symmetric)).sum()
    return float(2.0 * amplified * EPS * base * multiples[-1])


class Column(NamedTuple):
    """A run with a given number of steps; q and v have shape (steps + 1, n).

    `left` is what Newton's iteration has left, as it has predicted it: the mean over all steps,
    relative to its accuracy.
    """

    steps: int
    q: Array
    v: Array
    counters: Counters
    left: float


class Columns:
    """Runs on one grid; none is made twice.

    Parameters
    ----------
    times : callable(int) -> array
        The grid: the times of so many steps.
    stepper : Stepper
        Takes all steps; starts are checked once.
    start : Knot
    symmetric : bool
        Whether the scheme's errors have even powers only.

    Attributes
    ----------
    made : dict of int to Column
        All runs, by their numbers of steps.
    """

    def __init__(
        self, times: Callable[[int], Array], stepper: Stepper, start: Knot, symmetric: bool
    ) -> None:
        self.times, self._stepper, self.start = times, stepper, start
        self.symmetric = symmetric
        self.made: dict[int, Column] = {}

    def run(self, steps: int) -> Column:
        """Return the run with so many steps."""
        if steps not in self.made:
            self.made[steps] = self.run_from(self.start, steps)
        return self.made[steps]

    def run_from(self, start: Knot, steps: int) -> Column:
        """Return a run from any start, which is not kept."""
        stepper, times = self._stepper, self.times(steps)
        before, left = copy.copy(stepper.counters), stepper.newton.left
        q, v = np.empty((steps + 1, start.q.size)), np.empty((steps + 1, start.q.size))
        q[0], v[0] = start.q, start.v
        sizes, h = np.diff(times), float(times[-1] - times[0]) / steps
        are_equal = np.ptp(sizes) <= EQUAL * abs(h)
        if are_equal:  # but for rounding
            sizes[:] = h
        stepper.begin(*start[:3], start.lam, start.psi, float(sizes[0]))
        done = self._leap(times, h, q, v) if are_equal else 0
        for i, size in enumerate(sizes[done:].tolist(), done + 1):
            state = stepper.attempt(size)
            stepper.accept(state, float(times[i]))
            q[i], v[i] = state.q, state.v
        left = (stepper.newton.left - left) / steps
        return Column(steps, q, v, _since(before, stepper.counters), left)

    def _leap(self, times: Array, h: float, q: Array, v: Array) -> int:
        """Take as many of the equal steps as machine code can; return how many."""
        stepper, n = self._stepper, q.shape[1]
        if not stepper.is_native:
            return 0
        rows = np.empty((times.size - 1, 1 + 3 * n + stepper.state.kept.size))
        taken = stepper.run_native(h, rows, float(times[0]), 0, float(times[-1]))
        at = slice(1, taken + 1)
        q[at], v[at] = rows[:taken, 1 : 1 + n], rows[:taken, 1 + n : 1 + 2 * n]
        return taken

    def extrapolated(self, base: int, multiples: Sequence[int]) -> tuple[Array, Array]:
        """Return q and v at the points of `base` steps, from runs with multiples of them."""
        w = weights(tuple(multiples), self.symmetric)
        columns = [self.run(k * base) for k in multiples]
        q = sum(x * c.q[::k] for x, c, k in zip(w, columns, multiples, strict=True))
        v = sum(x * c.v[::k] for x, c, k in zip(w, columns, multiples, strict=True))
        return np.asarray(q), np.asarray(v)

    def left(self, base: int, multiples: Sequence[int]) -> float:
        """Return the most that Newton's iteration has left in some runs, see `Column`."""
        return max(self.run(k * base).left for k in multiples)

    def cost(self, base: int, multiples: Sequence[int]) -> int:
        """Return how many steps the runs would take that are not made yet."""
        return sum(k * base for k in multiples if k * base not in self.made)

    @property
    def spent(self) -> int:
        """Steps of all runs."""
        return sum(self.made)


def _since(before: Counters, now: Counters) -> Counters:
    """Return what has been counted since then."""
    return Counters(**{name: getattr(now, name) - getattr(before, name) for name in COUNTED})
