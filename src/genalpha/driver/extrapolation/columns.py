"""The same motion with different numbers of steps on one smooth grid, and their extrapolation.

Errors of q and v have expansions c2 h^2 + c3 h^3 + c4 h^4 + ... So results with N, 2 N, ..., K N
steps are, at the points of the coarsest grid, values of a polynomial in 1/k without linear term,
and its value at 1/k = 0 has an error of order K + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from genalpha.driver.integration import Integration
from genalpha.driver.march import March, StepSizes
from genalpha.driver.record import Record
from genalpha.driver.stepper import Stepper
from genalpha.numerics.counters import Counters
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

EPS = float(np.finfo(float).eps)


@cache
def weights(multiples: tuple[int, ...]) -> Array:
    """Return the weights of results with step sizes H/k in their extrapolation to step size 0.

    Examples
    --------
    >>> from genalpha.driver.extrapolation.columns import weights
    >>> bool(abs(weights((1, 2)) * 3 - [-1, 4]).max() < 1e-15)
    True
    """
    k = np.array(multiples, dtype=float)
    powers = [0, *range(2, k.size + 1)]
    return np.linalg.solve(np.array([k**-p for p in powers]), np.eye(k.size)[0])


def rounding(multiples: tuple[int, ...], base: int) -> float:
    """Return what rounding does to an extrapolation, relative to its largest value.

    A position is known to eps, and so a velocity to eps / h; the weights amplify it.
    """
    return float(2.0 * np.abs(weights(multiples)).sum() * EPS * base * multiples[-1])


class GivenTimes(StepSizes):
    """Steps between given times."""

    def __init__(self, times: Array) -> None:
        self._times = times.tolist()
        self._count = 0

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """See `StepSizes`."""
        self._count = 0
        size = self._times[1] - self._times[0]
        stepper.begin(*start[:3], start.lam, start.psi, size)

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """See `StepSizes`."""
        self._count += 1
        t = self._times[self._count]
        stepper.accept(stepper.attempt(t - self._times[self._count - 1]), t)


class Column(NamedTuple):
    """A run with a given number of steps; q and v have shape (steps + 1, n)."""

    steps: int
    q: Array
    v: Array
    counters: Counters


class Columns:
    """Runs on one grid; none is made twice.

    Parameters
    ----------
    times : callable(int) -> array
        The grid: the times of so many steps.
    stepper : callable(Counters) -> Stepper
    start : Knot

    Attributes
    ----------
    made : dict of int to Column
        All runs, by their numbers of steps.
    """

    def __init__(
        self,
        times: Callable[[int], Array],
        stepper: Callable[[Counters], Stepper],
        start: Knot,
    ) -> None:
        self.times, self._stepper, self._start = times, stepper, start
        self.made: dict[int, Column] = {}

    def run(self, steps: int) -> Column:
        """Return the run with so many steps."""
        if steps not in self.made:
            times, counters = self.times(steps), Counters()
            march = March(self._stepper(counters), GivenTimes(times))
            record = Record(march, complete=False)
            march.begin(self._start, times[-1])
            record.keep()
            Integration(march, record).run(times[-1])
            n = self._start.q.size
            rows = np.concatenate(
                [block.rows[: block.used, : 1 + 2 * n] for block in record.blocks]
            )
            self.made[steps] = Column(steps, rows[:, 1 : 1 + n], rows[:, 1 + n :], counters)
        return self.made[steps]

    def extrapolated(self, base: int, multiples: Sequence[int]) -> tuple[Array, Array]:
        """Return q and v at the points of `base` steps, from runs with multiples of them."""
        w = weights(tuple(multiples))
        columns = [self.run(k * base) for k in multiples]
        q = sum(x * c.q[::k] for x, c, k in zip(w, columns, multiples, strict=True))
        v = sum(x * c.v[::k] for x, c, k in zip(w, columns, multiples, strict=True))
        return np.asarray(q), np.asarray(v)

    def cost(self, base: int, multiples: Sequence[int]) -> int:
        """Return how many steps the runs would take that are not made yet."""
        return sum(k * base for k in multiples if k * base not in self.made)
