"""Step after step towards a time: who chooses the sizes, and landing exactly on the end."""

from __future__ import annotations

import numpy as np

from genalpha.driver.stepper import Stepper, complete
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: A last step shorter than this, relative to the step before, is merged with it.
SHORTEST_LAST = 0.01


class StepSizes:
    """Chooses step sizes, and takes steps of them.

    1. `begin` is called once after a start, or a new start, with the time and the end ahead.
       It starts the stepper (which needs the first step size).
    2. `advance` takes one accepted step, never beyond `t_end`, and lands on it exactly.
    """

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start the stepper."""
        raise NotImplementedError

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take one accepted step."""
        raise NotImplementedError


class March:
    """An integration under way; keeps both ends of the last step for dense output.

    Parameters
    ----------
    stepper : Stepper
    sizes : StepSizes

    Attributes
    ----------
    left, right : Knot
        The motion at both ends of the last step; the same at the start. What costs something is
        worked out when it is asked for.
    t_left, t : float
        Their times.
    """

    def __init__(self, stepper: Stepper, sizes: StepSizes) -> None:
        self.stepper, self.sizes = stepper, sizes
        self.t_left = self.t = np.nan

    def begin(self, start: Knot, t_end: float) -> None:
        """Start at `start`, of which q and v must be consistent and lam, psi are guesses."""
        self.sizes.begin(self.stepper, start, t_end)
        self._left: Knot | None = self.stepper.knot()
        self.t_left = self.t = self.stepper.t

    def step(self, t_end: float) -> None:
        """Take one accepted step towards `t_end`."""
        stepper = self.stepper
        left, self._state, self._reduction = stepper.known, stepper.state, stepper.reduction
        self.sizes.advance(stepper, t_end)
        self._left, self.t_left, self.t = left, self.t, stepper.t

    @property
    def left(self) -> Knot:
        """The motion where the last step began."""
        if self._left is None:
            s = self._state
            self._left = complete(self.stepper.scheme, self._reduction, s.t, s.q, s.v, s.kept)
        return self._left

    @property
    def right(self) -> Knot:
        """The motion where the last step ended."""
        return self.stepper.knot()


class FixedSteps(StepSizes):
    """Steps of equal size; the last one before an end is shorter if it must be.

    Parameters
    ----------
    h : float
        Step size; its sign does not matter.
    """

    def __init__(self, h: float) -> None:
        self.h = abs(h)

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start with a grid of equal steps from the start's time."""
        self._new_grid(start.t, t_end)
        stepper.begin(*start[:3], start.lam, start.psi, self._size(start.t, t_end)[0])

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take one step; times are multiples of h, so that rounding does not add up."""
        if t_end != self._end:
            self._new_grid(stepper.t, t_end)
        h, t = self._size(stepper.t, t_end)
        stepper.accept(stepper.attempt(h), t)
        self._count += 1

    def _new_grid(self, t: float, t_end: float) -> None:
        """Lay steps from `t` to `t_end`; an h that divides the interval is rounded to do so."""
        self._origin, self._end, self._count = t, t_end, 0
        steps = abs(t_end - t) / self.h
        whole = round(steps)
        exact = whole and abs(steps - whole) <= 1e-9 * whole
        self._signed = (t_end - t) / whole if exact else float(np.copysign(self.h, t_end - t))

    def _size(self, t: float, t_end: float) -> tuple[float, float]:
        """Return the size of the next step and the time at which it ends."""
        following = self._origin + (self._count + 1) * self._signed
        left = (t_end - following) / self._signed
        if left > SHORTEST_LAST:
            return self._signed, following
        equal = abs(left) <= 1e-9 * (self._count + 1)
        return (self._signed if equal else t_end - t), t_end


class GivenSteps(StepSizes):
    """Steps of given sizes, for the papers' alternating steps.

    Parameters
    ----------
    sizes : sequence of float
    """

    def __init__(self, sizes: Array) -> None:
        self._sizes = sizes.tolist()
        self._count = 0

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start with the first size."""
        stepper.begin(*start[:3], start.lam, start.psi, self._sizes[0])

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take the next step; the last one ends at `t_end`, where rounding has not led quite."""
        state = stepper.attempt(self._sizes[self._count])
        self._count += 1
        stepper.accept(state, t_end if self._count == len(self._sizes) else None)
