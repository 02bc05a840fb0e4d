"""Who chooses the sizes of steps: equal ones, and given ones; both land exactly on the end."""

from __future__ import annotations

import math

import numpy as np

from genalpha.driver.stepper import Stepper
from genalpha.errors import InvalidOptionError
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: A last step shorter than this, relative to the step before, is merged with it.
SHORTEST_LAST = 0.01
#: Given steps are not smaller than this share of the times, where t + h would be t.
SMALLEST_SHARE = 4.0 * float(np.finfo(float).eps)


class StepSizes:
    """Chooses step sizes, and takes steps of them.

    1. `begin` is called once after a start, or a new start, with the time and the end ahead.
       It starts the stepper (which needs the first step size).
    2. `resume` is called instead where an earlier run goes on: the stepper has its state already.
    3. `advance` takes one accepted step, never beyond `t_end`, and lands on it exactly.
    """

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start the stepper."""
        raise NotImplementedError

    def resume(self, stepper: Stepper, start: Knot, t_end: float, size: float) -> None:
        """Go on from where the stepper is; `size` is what `next_size` was there."""

    def next_size(self) -> float:
        """Return the size wanted of the next step; 0 where sizes do not depend on the motion."""
        return 0.0

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take one accepted step."""
        raise NotImplementedError

    def leap(self, stepper: Stepper, t_end: float, rows: Array) -> int:
        """Take many steps at once, see `Stepper.run_native`; return how many."""
        return 0


class Grid:
    """Equal steps from a time to an end; the last one is shorter if it must be, or a bit longer.

    Parameters
    ----------
    h : float
        Step size; its sign does not matter.
    t, t_end : float
        An h that divides the interval is rounded to do so.
    """

    def __init__(self, h: float, t: float, t_end: float) -> None:
        if not h > SMALLEST_SHARE * max(abs(t), abs(t_end)):
            fault = (
                f"h = {h:g}; expected a step that changes the time, t = {max(t, t_end, key=abs):g}"
            )
            raise InvalidOptionError("fixed steps", [fault])
        self._origin, self.end, self._count = t, t_end, 0
        steps = abs(t_end - t) / h
        whole = round(steps)
        exact = whole and abs(steps - whole) <= 1e-9 * whole
        self._signed = (t_end - t) / whole if exact else float(np.copysign(h, t_end - t))

    def following(self, t: float) -> tuple[float, float]:
        """Return size and end of the next step.

        Times are multiples of h, so that rounding does not add up.
        """
        following = self._origin + (self._count + 1) * self._signed
        left, shortest = (self.end - following) / self._signed, SHORTEST_LAST
        if left > shortest:
            return self._signed, following
        equal = abs(left) <= 1e-9 * (self._count + 1)
        return (self._signed if equal else self.end - t), self.end

    def count(self, steps: int = 1) -> None:
        """Go on to the next step, or further."""
        self._count += steps

    def equal(self) -> tuple[float, float, int, int]:
        """Return origin and size of the steps, those that are done, and how many are to come.

        The last step, if it has another size, is not one of them.
        """
        steps = (self.end - self._origin) / self._signed
        whole = round(steps)
        if not abs(steps - whole) <= 1e-9 * whole:
            whole = math.ceil(steps - SHORTEST_LAST) - 1
        return self._origin, self._signed, self._count, whole - self._count


class FixedSteps(StepSizes):
    """Steps of equal size, see `Grid`.

    Parameters
    ----------
    h : float
        Step size; its sign does not matter.
    """

    def __init__(self, h: float) -> None:
        self.h = abs(h)
        self._grid: Grid | None = None

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start with a grid of equal steps from the start's time."""
        self._grid = Grid(self.h, start.t, t_end)
        size, _ = self._grid.following(start.t)
        stepper.begin(*start[:3], start.lam, start.psi, size)

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take one step."""
        grid = self._grid
        if grid is None or t_end != grid.end:
            self._grid = grid = Grid(self.h, stepper.t, t_end)
        h, t = grid.following(stepper.t)
        stepper.accept(stepper.attempt(h), t)
        grid.count()

    def leap(self, stepper: Stepper, t_end: float, rows: Array) -> int:
        """See `StepSizes`."""
        grid = self._grid
        if grid is None or t_end != grid.end:
            self._grid = grid = Grid(self.h, stepper.t, t_end)
        origin, h, done, left = grid.equal()
        if left < 1:
            return 0
        taken = stepper.run_native(h, rows[:left], origin, done, t_end)
        grid.count(taken)
        return taken


class GivenSteps(StepSizes):
    """Steps of given sizes, for the papers' alternating steps.

    After an event within a step, the rest of that step is the first one.

    Parameters
    ----------
    sizes : (k,) array
    """

    def __init__(self, sizes: Array) -> None:
        self._sizes = sizes.tolist()
        self._ends: list[float] = []
        self._count = 0

    def begin(self, stepper: Stepper, start: Knot, t_end: float) -> None:
        """Start with the first size, or with what is left of the present one."""
        if not self._ends:
            self._ends = (start.t + np.cumsum(self._sizes)).tolist()
            self._ends[-1] = t_end
        else:
            left = [
                (end - start.t) / size for end, size in zip(self._ends, self._sizes, strict=True)
            ]
            self._count = next(i for i, part in enumerate(left) if part > 1e-9)
            self._sizes[self._count] = self._ends[self._count] - start.t
        stepper.begin(*start[:3], start.lam, start.psi, self._sizes[self._count])

    def resume(self, stepper: Stepper, start: Knot, t_end: float, size: float) -> None:
        """See `StepSizes`."""
        self._ends = (start.t + np.cumsum(self._sizes)).tolist()
        self._ends[-1] = t_end

    def advance(self, stepper: Stepper, t_end: float) -> None:
        """Take the next step; the last one ends at `t_end`, where rounding has not led quite."""
        state = stepper.attempt(self._sizes[self._count])
        self._count += 1
        stepper.accept(state, t_end if self._count == len(self._sizes) else math.nan)
