"""Newton's iteration: corrections until none is needed, with a matrix that lives long.

The iteration knows nothing of mechanics. It is given a `Problem`, which corrects its unknowns and
factorizes its iteration matrix. It stops when the error that remains, predicted from the
contraction rate, is well below 1. It gives up as soon as the rate says that it cannot get there;
matrices are then renewed first. A step is never accepted unconverged.

How long a matrix lives: until the iterations that it has cost beyond those of a new one add up to
what a new one costs, or until it is as old as the last one that failed. In between, Broyden's
updates make up for its age (`accelerated`).

With adaptive steps, where corrections are dear and need not be accurate, the iteration learns from
step to step: what corrections have missed is remembered as long as the matrix lives, and the
contraction rate of a new matrix is believed of the next one. So one correction often suffices.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from genalpha.errors import ConvergenceError
from genalpha.numerics.counters import Counters
from genalpha.numerics.secants import Secants

Array = np.ndarray
Sizes: TypeAlias = tuple[float, ...]

MODES = ("auto", "every step", "every iteration")
#: Default of the most iterations in a step.
MAX_ITERATIONS = 15
#: What a new matrix costs, in iterations, beside differences.
SETUP_COST = 5
#: By how many steps matrices are tried longer, each time that one has been renewed in good time.
LIFE_GROWTH = 0.2
#: The error that may remain, in units of the accuracy wanted.
REMAINING = 0.1
#: Corrections below this, in units of the accuracy wanted, may be rounding errors: two of them in
#: a row are the end of what the iteration can do.
ROUNDING = 16.0
#: They differ from step to step by less than this factor.
AGAIN = 2.0
#: A rate below this is not believed of the next step, nor one below this of the next matrix.
SMALLEST_RATE, SMALLEST_NEW_RATE = 1e-3, 1e-4


class NotFiniteCorrectionError(ConvergenceError):
    """Corrections are NaN or infinite: a callback has returned it, or the motion has run away."""


class Problem:
    """What is to be solved.

    Attributes
    ----------
    unknowns : object
        The present ones, at first a guess. They are replaced, never changed.
    """

    unknowns: Any

    def correct(self, solvers: Any) -> Sizes:
        """Correct the unknowns, and return how much that was.

        Evaluate the residuals and solve with what `setup` made. The norms are one for each group
        of unknowns that converges at a rate of its own, in units of the accuracy wanted: an error
        of size 1 is the largest that may remain.
        """
        raise NotImplementedError

    def setup(self) -> Any:
        """Evaluate and factorize the iteration matrix at the present unknowns."""
        raise NotImplementedError


class Newton:
    """An iteration, and what it remembers from one step to the next.

    Parameters
    ----------
    mode : {"auto", "every step", "every iteration"}
        When the iteration matrix is renewed. "auto" (default) keeps it while it contracts well.
    max_iterations : int
        Default 15.
    counters : Counters, optional
        Counts iterations and failures; `correct` and `setup` count the rest.
    setup_cost : int
        What a new matrix costs, in iterations.
    learns : bool
        Whether it learns from step to step.

    Attributes
    ----------
    solvers : object or None
        What the last `setup` returned, if it may be used for the next step.
    last_solvers : object or None
        What the last iteration solved with, usable or not.
    rate : float
        Contraction rate of the last iteration; 1 is "unknown".
    left : float
        What all solutions so far have left, added up, in units of the accuracy wanted: as it is
        predicted from the last correction of each.
    """

    def __init__(
        self,
        mode: str = "auto",
        max_iterations: int = MAX_ITERATIONS,
        counters: Counters | None = None,
        setup_cost: int = SETUP_COST,
        learns: bool = False,
    ) -> None:
        self.learns = learns
        self.mode, self.max_iterations, self.setup_cost = mode, max_iterations, setup_cost
        self.counters = counters or Counters()
        self.solvers: Any = None
        self.last_solvers: Any = None
        self.rate = 1.0
        self.left = 0.0
        # fewest iterations of a step with the present matrix, and how many more others have needed
        self._fewest = self._extra = 0
        # steps that the present matrix has served, and how many the last one did that failed
        self._age, self._life = 0, math.inf
        # contraction rate of a new matrix; 1 is "unknown"
        self._rate_of_new = 1.0
        # corrections that the present matrix could not make smaller when it was new
        self._floor = 0.0
        # what matrices have missed
        self._secants = Secants(learns)
        # how the last iteration that did not converge ended; whether with numbers, and small ones
        self._last, self._was_finite, self._was_near = "", True, False

    def forget(self) -> None:
        """Drop the matrix and what is believed of the next one: the problem may have changed."""
        self.solvers, self.rate, self._rate_of_new = None, 1.0, 1.0

    def accelerated(
        self,
        d: Array,
        n: int,
        mass_over_gradient: float,
        t: float,
        noise: float,
        units: Array | None = None,
    ) -> Array:
        """Return a correction that makes up for the age of the matrix, see `Secants`.

        Parameters
        ----------
        d : (n + m + l,) array
            What the iteration matrix gives for accelerations and multipliers.
        n : int
        mass_over_gradient : float
            Unit of the multipliers in those of accelerations.
        t : float
            The time, from which the age of the matrix follows.
        noise : float
            What rounding does to accelerations, see `Scales.noise_of`.
        units : (n + m + l,) array, optional
            Sizes of all unknowns, where accelerations are not of one.
        """
        if units is not None:
            return self.accelerated(d / units, n, mass_over_gradient, t, noise) * units
        return self._secants.accelerated(d, n, _weight(mass_over_gradient), t, noise)

    def improved(self, d: Array, n: int, mass_over_gradient: float, t: float) -> Array:
        """Return the same for what is no correction of the present iteration; overwrites `d`."""
        return self._secants.improved(d, n, _weight(mass_over_gradient), t)

    def solve(self, problem: Problem) -> None:
        """Correct the unknowns of a problem until they solve it.

        In "auto", the old matrix is tried first, then a new one, then one per correction.

        Raises
        ------
        ConvergenceError
            Not even with a new matrix for every correction.
        """
        start = problem.unknowns
        if self.mode == "auto":
            if self.solvers is None:
                self._renew_believing(problem)
            if self._iterate(problem, False):
                return
            problem.unknowns = start
            if self._age:  # it was an old one
                if not self._was_near:
                    self._life = self._age - 1
                self._renew(problem)
                if self._iterate(problem, False):
                    return
                problem.unknowns = start
        self._renew(problem)
        if not self._iterate(problem, self.mode != "every step"):
            self.counters.nnfails += 1
            self.forget()
            kind = ConvergenceError if self._was_finite else NotFiniteCorrectionError
            raise kind(f"Newton's iteration did not converge: {self._last}")

    def renewed(self, problem: Problem) -> Any:
        """Make a new matrix at a solution, for whoever finds the old one of no use; return it."""
        self._renew_believing(problem)
        self.last_solvers = self.solvers
        return self.solvers

    def _renew_believing(self, problem: Problem) -> None:
        """Make a new matrix that is taken to contract as the last new one did, where it learns."""
        believed = self._rate_of_new
        self._renew(problem)
        self.rate = believed if self.learns else 1.0

    def _renew(self, problem: Problem) -> None:
        """Make a new matrix."""
        self.solvers, self.rate, self._rate_of_new = problem.setup(), 1.0, 1.0
        self._fewest, self._extra, self._age, self._floor = self.max_iterations, 0, 0, 0.0
        self._secants.renew()

    def _iterate(self, problem: Problem, renew: bool) -> bool:
        """Iterate with the present matrix, or with a new one for each correction but the first.

        Return whether that has led to a solution.
        """
        last: Sizes = ()
        remaining, rounding = REMAINING, ROUNDING
        worst = largest_before = 0.0
        self._secants.begin()
        for iteration in range(self.max_iterations):
            if iteration and renew:
                self.solvers = problem.setup()
                self._secants.renew()
            sizes = problem.correct(self.solvers)
            self.counters.nniters += 1
            rate = _rate(sizes, last) if iteration else self.rate
            if iteration and self.learns:  # what was learnt may help this once only
                rate = max(rate, min(self._secants.missed, 0.5))
            size = _largest(sizes)
            # of two small ones, the second may be rounding: the rate is then this or better
            if iteration == 1 or largest_before > rounding:
                worst = max(worst, rate)
            left = rate / (1.0 - rate) * size if rate < 1.0 else 1.0
            if left <= remaining:
                self.left += left
                self._remember(iteration, worst)
                return True
            if iteration and size <= rounding and largest_before <= rounding:
                if self._is_rounding(size):
                    self.left += size
                    self._remember(iteration, worst)
                    return True
                if size >= largest_before:  # they do not shrink: a new matrix tells why
                    break
            # a new matrix for every correction speeds up: no prediction then; what is not finite is
            # told without looking up infinity
            if size - size != 0.0 or (not renew and self._hopeless(iteration, size, rate)):
                break
            last, largest_before = sizes, size
        self._was_finite, self._was_near = size < math.inf, size <= rounding
        self._last = (
            f"after {iteration + 1} corrections the last one is {size:.1e} times what is allowed, "
            f"the contraction rate {rate:.2g}"
        )
        return False

    def _is_rounding(self, size: float) -> bool:
        """Tell whether small corrections, two in a row, are the end of what the iteration can do.

        Where it learns, the accuracy wanted is far from rounding, and corrections that are larger
        may come from the age of the matrix as well. They do not if the same matrix, when it was
        new, could not make them smaller either.
        """
        if self._age == 0:
            self._floor = size
        return size <= max(1.0, AGAIN * self._floor) or not self.learns

    def _hopeless(self, iteration: int, size: float, rate: float) -> bool:
        """Predict whether the corrections that are left will not do."""
        if iteration < 2 or size <= ROUNDING:  # too early to say, or too late
            return False
        left = self.max_iterations - 1 - iteration
        return rate >= 1.0 or rate**left / (1.0 - rate) * size > REMAINING

    def _remember(self, iteration: int, worst: float) -> None:
        """Keep the step's worst rate for the next one, and the matrix while it pays."""
        smallest, smallest_new = SMALLEST_RATE, SMALLEST_NEW_RATE
        self.last_solvers = self.solvers
        self._fewest = min(self._fewest, iteration)
        self._extra += iteration - self._fewest
        # one correction tells nothing new: the old rate fades towards 1 (Hairer and Wanner)
        seen = self.rate**0.8 if iteration == 0 else worst
        if self._age == 0:
            self._rate_of_new = max(seen, smallest_new)
        self.rate = max(seen, smallest)
        self._age += 1
        if self._extra >= self.setup_cost:
            self.solvers = None
        elif self._age > self._life:  # no use in trying it: it would fail
            self._life += LIFE_GROWTH
            self.solvers = None


def _weight(mass_over_gradient: float) -> float:
    """Return how much multipliers count in scalar products with accelerations."""
    return 1.0 / mass_over_gradient**2 if mass_over_gradient else 1.0


def _largest(sizes: Sizes) -> float:
    """Return the largest size; NaN wins."""
    largest = 0.0
    for size in sizes:
        if not size <= largest:
            largest = size
        if size != size:
            break
    return largest


def _rate(sizes: Sizes, last: Sizes) -> float:
    """Return the worst contraction of all groups; those of rounding errors do not count."""
    worst, rounding = 0.0, ROUNDING
    for i in range(len(sizes)):
        new, old = sizes[i], last[i]
        rate = new / old if old else math.inf if new > rounding else 0.0
        if new <= rounding:
            rate = min(rate, 0.5)
        worst = max(worst, rate)
    return worst
