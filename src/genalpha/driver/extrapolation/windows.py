"""A long motion in windows, each extrapolated and then continued from its projected end.

Extrapolation over many oscillations would need a coarsest run that is still in phase with the
motion; windows need only the steps that resolve it. What errors of earlier windows become in later
ones, the motion itself tells: its coarsest run is made once more from a start that is off by them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from genalpha.driver.extrapolation.columns import Columns
from genalpha.driver.extrapolation.control import Search
from genalpha.driver.extrapolation.grid import SmoothGrid
from genalpha.driver.extrapolation.points import consistent
from genalpha.driver.extrapolation.trial import Pair, Trial
from genalpha.driver.stepper import Stepper
from genalpha.errors import GenAlphaError
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: Steps of the loose run in a window, at most about.
STEPS = 96
#: Fewest steps of the coarsest run in a window.
FEWEST_STEPS = 8
#: Errors are carried on as differences of this size, relative to the motion's.
VISIBLE = 1e-5
#: A window may have this part of the wanted error, over the number of windows to this power: errors
#: add up, and those of velocities grow in positions.
PART, POWER = 0.4, 1.5


class Window(NamedTuple):
    """The extrapolated motion of a window, and its whole error, with signs and as a bound."""

    trial: Trial
    runs: Columns
    signed: Pair
    bounds: Pair
    parts: Array


def cut(times: Array) -> list[Array]:
    """Divide the times of a loose run into windows."""
    count = math.ceil((times.size - 1) / STEPS)
    ends = np.linspace(0, times.size - 1, count + 1).round().astype(int)
    return [times[a : b + 1] for a, b in pairwise(ends)]


class Pass:
    """The motion through all windows.

    Parameters
    ----------
    stepper : Stepper
        Takes all steps.
    symmetric : bool
        Whether its scheme is.
    scales : mapping of str to float
        The sizes of "q", "v", "lam", "psi" that errors are relative to.
    accuracy : float
        That of Newton's iteration.
    budget : int
        Most steps of all runs together.
    """

    def __init__(
        self,
        stepper: Stepper,
        symmetric: bool,
        scales: Mapping[str, float],
        accuracy: float,
        budget: int,
    ) -> None:
        self._stepper, self._symmetric, self._scales = stepper, symmetric, scales
        self._accuracy, self.left = accuracy, budget

    @property
    def mechanism(self) -> Mechanism:
        """What moves."""
        return self._stepper.full

    def through(
        self, start: Knot, windows: Sequence[Array], wanted: Mapping[str, float], density: float
    ) -> list[Window]:
        """Integrate through windows of given times.

        Parameters
        ----------
        start : Knot
        windows : sequence of array
            The times of a loose run, see `cut`.
        wanted : mapping of str to float
            The wanted errors.
        density : float
            Steps of the coarsest run per step of the loose one, at first.
        """
        share = PART / len(windows) ** POWER if len(windows) > 1 else 1.0
        allowed = {kind: share * x for kind, x in wanted.items()}
        off: Pair = (np.zeros(start.q.size), np.zeros(start.q.size))
        found: list[Window] = []
        for times in windows:
            base = max(FEWEST_STEPS, math.ceil(density * (times.size - 1)))
            window = self._window(times, start, off, allowed, base)
            found.append(window)
            density = window.trial.base / (times.size - 1)
            q, v = (x[-1] for x in window.trial.motion)
            start = consistent(self.mechanism, float(times[-1]), q, v, start.lam, start.psi)
            off = (window.signed[0][-1], window.signed[1][-1])
        return found

    def _window(
        self, times: Array, start: Knot, off: Pair, allowed: Mapping[str, float], base: int
    ) -> Window:
        """Extrapolate in one window, and add what has become of earlier errors."""
        runs = Columns(SmoothGrid(times).times, self._stepper, start, self._symmetric)
        trial, parts = Search(self.mechanism, runs, allowed, self._accuracy, self.left).best(base)
        self.left -= runs.spent
        signed, bounds = trial.signed, trial.bounds
        if any(x.any() for x in off):
            carried = self._carried(runs, trial.base, off)
            bounds = (bounds[0] + np.abs(carried[0]), bounds[1] + np.abs(carried[1]))
            signed = self._added(carried, signed)
        return Window(trial, runs, signed, bounds, parts)

    def _carried(self, runs: Columns, base: int, off: Pair) -> Pair:
        """Return what becomes of an error at the start, at the points of the coarsest run."""
        start, reference = runs.start, runs.run(base)
        sizes = [np.abs(x).max() / (self._scales[k] or 1.0) for k, x in zip("qv", off, strict=True)]
        scale = VISIBLE / max(sizes)
        try:
            q, v = start.q + scale * off[0], start.v + scale * off[1]
            moved = runs.run_from(
                consistent(self.mechanism, start.t, q, v, start.lam, start.psi), base
            )
        except GenAlphaError:  # it has left where the mechanism can be
            whole = np.ones((base + 1, 1))
            return whole * off[0], whole * off[1]
        self.left -= base
        return (moved.q - reference.q) / scale, (moved.v - reference.v) / scale

    def _added(self, carried: Pair, signed: Pair) -> Pair:
        """Add errors with the sign that makes them larger at the end of the window."""
        sizes = [self._scales[k] or 1.0 for k in "qv"]
        three = zip(carried, signed, sizes, strict=True)
        agree = sum(float(x[-1] @ y[-1]) / size**2 for x, y, size in three)
        sign = 1.0 if agree >= 0.0 else -1.0
        q, v = (x + sign * y for x, y in zip(carried, signed, strict=True))
        return q, v
