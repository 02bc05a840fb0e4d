"""A long motion in windows, each extrapolated and then continued from its projected end.

Extrapolation over many oscillations would need a coarsest run that is still in phase with the
motion; windows need only the steps that resolve it. A window ends early at an event that stops the
motion.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from genalpha.driver.extrapolation.columns import Columns
from genalpha.driver.extrapolation.control import Search
from genalpha.driver.extrapolation.grid import SmoothGrid
from genalpha.driver.extrapolation.measure import Pair
from genalpha.driver.extrapolation.suited import LOOSEST
from genalpha.driver.extrapolation.trial import Trial
from genalpha.driver.stepper import Stepper
from genalpha.driver.watch import Happening
from genalpha.errors import ConvergenceError, SingularSystemError
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: Steps of the loose run in a window, at most about; fewer if columns do not shrink then.
STEPS, SHORTER = 240, 96
#: A window may have this part of the wanted error, over the number of windows to this power: errors
#: add up, and those of velocities grow in positions.
PART, POWER = 0.4, 1.5
#: By how much Newton's iteration is made less accurate at once where it fails.
LOOSER = 30.0
#: Fewest steps of the coarsest run in a window.
FEWEST_STEPS = 8


class Window(NamedTuple):
    """The extrapolated motion of a window.

    Attributes
    ----------
    trial : Trial
    runs : Columns
    times : (s,) array
        Those of the trial, or until the event that has ended the window.
    motion, signed, bounds : pair of (s, n) array
        q and v there, and their errors, with signs and as bounds: those of the window itself,
        or with what has become of earlier ones, see `genalpha.driver.extrapolation.carry`.
    parts : (s,) array
        The window's own errors, relative to what they may be.
    density : float
        Steps of the coarsest run per step of the loose one.
    stop : Happening or None
        The event that has ended it.
    """

    trial: Trial
    runs: Columns
    times: Array
    motion: Pair
    signed: Pair
    bounds: Pair
    parts: Array
    density: float
    stop: Happening | None = None

    def until(self, stop: Happening) -> Window:
        """Return the window until an event."""
        count = self.before(stop.t)
        t, q, v = stop.point
        return self._replace(
            times=np.append(self.times[:count], t),
            motion=(np.vstack([self.motion[0][:count], q]), np.vstack([self.motion[1][:count], v])),
            signed=self.cut(self.signed, t),
            bounds=self.cut(self.bounds, t),
            parts=np.append(self.parts[:count], self.parts[min(count, self.trial.base)]),
            stop=stop,
        )

    def before(self, t: float) -> int:
        """Return how many points of the trial are before a time."""
        sign = 1.0 if self.trial.times[-1] > self.trial.times[0] else -1.0
        return max(1, int(np.searchsorted(sign * self.trial.times, sign * t)))

    def cut(self, pair: Pair, t: float) -> Pair:
        """Return values at the trial's points before a time, and at that time."""
        count, times = self.before(t), self.trial.times
        i = min(count, times.size - 1)
        x = (t - times[i - 1]) / (times[i] - times[i - 1])
        q, v = (np.vstack([e[:count], (1.0 - x) * e[i - 1] + x * e[i]]) for e in pair)
        return q, v


def divided(times: Array, steps: int = STEPS) -> list[Array]:
    """Divide the times of a loose run into windows of so many steps at most."""
    count = math.ceil((times.size - 1) / steps)
    ends = np.linspace(0, times.size - 1, count + 1).round().astype(int)
    return [times[a : b + 1] for a, b in pairwise(ends)]


def share(count: int) -> float:
    """Return which part of the wanted error each of so many windows may have."""
    return PART / float(count) ** POWER if count > 1 else 1.0


def scaled(wanted: Mapping[str, float], part: float) -> dict[str, float]:
    """Return a part of all errors."""
    return {kind: part * x for kind, x in wanted.items()}


@dataclass
class Budget:
    """Steps of all runs together that are left."""

    left: int


class Pass:
    """The motion through all windows.

    Parameters
    ----------
    stepper : Stepper
        Takes all steps.
    symmetric : bool
        Whether its scheme is.
    accuracy : float
        That of Newton's iteration.
    budget : Budget
    """

    def __init__(self, stepper: Stepper, symmetric: bool, accuracy: float, budget: Budget) -> None:
        self._stepper, self._symmetric = stepper, symmetric
        self._accuracy, self._budget = accuracy, budget

    @property
    def mechanism(self) -> Mechanism:
        """What moves."""
        return self._stepper.full

    def through(
        self,
        start: Knot,
        windows: Sequence[Array],
        wanted: Mapping[str, float],
        count: int,
        density: float,
        look: Callable[[Trial], Happening | None],
    ) -> list[Window]:
        """Integrate through windows of given times, or to the first event that stops the motion.

        Parameters
        ----------
        start : Knot
        windows : sequence of array
            The times of a loose run, see `divided`.
        wanted : mapping of str to float
            The errors that all windows of the motion may have together.
        count : int
            How many those are, as far as it is known.
        density : float
            Steps of the coarsest run per step of the loose one, at first.
        look : callable(Trial) -> Happening or None
            Looks for events that stop the motion.
        """
        found: list[Window] = []
        left = list(windows)
        while left:
            times = left.pop(0)
            window = self._window(times, start, scaled(wanted, share(count)), density)
            if window is None:  # and so will be those that follow
                shorter = [short for long in (times, *left) for short in divided(long, SHORTER)]
                count += len(shorter) - len(left) - 1
                left = shorter
                continue
            density = window.density
            stop = look(window.trial)
            if stop is not None:
                found.append(window.until(stop))
                break
            found.append(window)
            start = self.end(window, start)
        return found

    def end(self, window: Window, start: Knot) -> Knot:
        """Return where a window ends, on the constraints."""
        q, v = (x[-1] for x in window.motion)
        return window.trial.consistent_near(float(window.times[-1]), q, v, start.lam, start.psi)

    def _window(
        self, times: Array, start: Knot, allowed: Mapping[str, float], density: float
    ) -> Window | None:
        """Extrapolate in one window; None if it must be divided."""
        base = max(FEWEST_STEPS, math.ceil(density * (times.size - 1)))
        grid = SmoothGrid(times)
        while True:
            runs = Columns(grid.times, self._stepper, start, self._symmetric)
            search = Search(self.mechanism, runs, allowed, self._accuracy, self._budget.left)
            try:
                found = search.best(base, times.size - 1 > SHORTER)
                break
            except (ConvergenceError, SingularSystemError) as error:
                if not self._loosen():
                    if search.best_so_far is None:
                        raise
                    found = search.best_so_far
                    found.trial.failure = str(error)
                    break
            finally:
                self._budget.left -= runs.spent
        if found is None:
            return None
        trial, parts = found
        return Window(
            trial,
            runs,
            trial.times,
            trial.motion,
            trial.signed,
            trial.bounds,
            parts,
            trial.base / (times.size - 1),
        )

    def _loosen(self) -> bool:
        """Let Newton's iteration be less accurate; tell whether it may.

        It has failed with short steps, too: rounding errors of stiff forces, for example, may be
        more than it allows. What it leaves is in the estimates.
        """
        looser = LOOSER * self._accuracy
        if looser > LOOSEST:
            return False
        options = copy.copy(self._stepper.options)
        vars(options)["newton_accuracy"] = self._accuracy = looser
        self._stepper.exchange(self.mechanism, options)
        return True
