"""Which step sizes a solver's options ask for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from assimulo.exception import AssimuloRecoverableError

from genalpha.assimulo.layout import Layout
from genalpha.driver.adaptive import AdaptiveSteps
from genalpha.driver.sizes import FixedSteps, StepSizes
from genalpha.driver.stepper import Stepper
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: What a callback raises where it cannot be evaluated, and a shorter step may still succeed.
RECOVERABLE = (np.linalg.LinAlgError, ZeroDivisionError, AssimuloRecoverableError)
#: How often a step is halved.
MAX_CUTS = 10


def step_sizes(solver: Any, layout: Layout, o: Mechanism) -> StepSizes:
    """Return fixed steps if the solver has `h`, otherwise adaptive ones."""
    if solver.h is not None:
        return CautiousSteps(solver.h)
    # the solver counts steps from one output point to the next
    atol = _tolerances(solver.atol, layout, o)
    return AdaptiveSteps.chosen(solver, atol, sys.maxsize, RECOVERABLE)


def _tolerances(atol: Array, layout: Layout, o: Mechanism) -> Array:
    """Return absolute tolerances of [q, v, z, lam, psi] from those of y."""
    q, v, lam, psi = (np.asarray(atol)[places] for places in layout[1:])
    if lam.size + psi.size < o.n_lam + o.n_psi:  # y of an explicit problem has no multipliers
        lam, psi = (np.full(size, np.max(v)) for size in (o.n_lam, o.n_psi))
    return np.concatenate([q, v, lam, psi])


class CautiousSteps(StepSizes):
    """Fixed steps, but shorter ones where a callback cannot be evaluated.

    The steps after a shorter one have the size `h` again, up to the end.

    Parameters
    ----------
    h : float
    """

    def __init__(self, h: float) -> None:
        self._h, self._steps = abs(h), FixedSteps(h)

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start the stepper; it may try a first step."""
        self._try(lambda end: self._steps.begin(stepper, start, end), start.t, t_end)

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take one step, shorter than h if it must be."""
        self._try(lambda end: self._steps.advance(stepper, end), stepper.t, t_end)

    def _try(self, call: Callable[[float], None], t: float, t_end: float) -> None:
        """Call with `t_end`, or else with ends closer and closer to `t`."""
        try:
            call(t_end)
            return
        except RECOVERABLE as error:
            first = error
        size = float(np.copysign(min(self._h, abs(t_end - t)), t_end - t))
        for _ in range(MAX_CUTS):
            size *= 0.5
            try:
                call(t + size)
                return
            except RECOVERABLE:
                continue
        raise first
