"""Step after step towards a time: who chooses the sizes, and landing exactly on the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from genalpha.driver.blame import jumping_callback
from genalpha.driver.stepper import Stepper, complete
from genalpha.errors import InvalidOptionError
from genalpha.numerics.initial_values import project_position, project_velocity
from genalpha.numerics.interpolation import Knot, between, interpolate

Array = np.ndarray

#: A last step shorter than this, relative to the step before, is merged with it.
SHORTEST_LAST = 0.01
#: Given steps are not smaller than this share of the times, where t + h would be t.
SMALLEST_SHARE = 4.0 * float(np.finfo(float).eps)


class Advance:
    """Something that advances by accepted steps, and knows the motion within the last of them.

    1. `step` takes one accepted step, never beyond `t_end`, and lands on it exactly.
    2. `at` gives points within the last step: tuples of the time and arrays.

    Attributes
    ----------
    t_left, t : float
        Both ends of the last step; the same at the start.
    """

    def __init__(self, t: float) -> None:
        self.t_left = self.t = t

    def step(self, t_end: float) -> None:
        """Take one accepted step towards `t_end`."""
        raise NotImplementedError

    def at(self, t: float) -> Any:
        """Return the motion at a time within the last step."""
        raise NotImplementedError

    def consistent_at(self, t: float) -> Any:
        """Return the same on the constraints, which interpolation may miss."""
        return self.at(t)

    def jump(self) -> str:
        """Say which callback jumps near the last step; empty if none does, or nobody knows."""
        return ""


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
        """Take many steps at once, see `Stepper.leap`; return how many."""
        return 0


class March(Advance):
    """A stepper and its step sizes under way; keeps both ends of the last step.

    Parameters
    ----------
    stepper : Stepper
    sizes : StepSizes

    Attributes
    ----------
    left, right : Knot
        The motion at both ends of the last step; the same at the start. What costs something is
        worked out when it is asked for.
    """

    def __init__(self, stepper: Stepper, sizes: StepSizes) -> None:
        self.stepper, self.sizes = stepper, sizes
        self.t_left = self.t = np.nan

    def begin(self, start: Knot, t_end: float, last: Any = None) -> None:
        """Start at `start`, of which q and v must be consistent and lam, psi are guesses.

        With `last`, see `genalpha.driver.origin.Last`, it goes on from there.
        """
        if last is None:
            self.sizes.begin(self.stepper, start, t_end)
        else:
            self.stepper.resume(last.state, last.reduction)
            self.sizes.resume(self.stepper, start, t_end, last.size)
        self._left: Knot | None = self.stepper.knot()
        self._state, self._reduction = self.stepper.state, self.stepper.reduction
        self.t_left = self.t = self.stepper.t

    def step(self, t_end: float) -> None:
        """Take one accepted step towards `t_end`."""
        stepper = self.stepper
        left, state, reduction = stepper.known, stepper.state, stepper.reduction
        self.sizes.advance(stepper, t_end)
        self._left, self._state, self._reduction = left, state, reduction
        self.t_left, self.t = self.t, stepper.t

    @property
    def leaps(self) -> bool:
        """Whether `leap` may take steps."""
        return isinstance(self.sizes, FixedSteps) and self.stepper.leaps

    def leap(self, t_end: float, rows: Array) -> int:
        """Take many steps at once into rows of a record; return how many.

        Nothing is known of the last of them but its end, as at the start.
        """
        taken = self.sizes.leap(self.stepper, t_end, rows)
        if taken:
            self._left, self._state = None, self.stepper.state
            self._reduction = self.stepper.reduction
            self.t_left = self.t = self.stepper.t
        return taken

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

    def at(self, t: float) -> Knot:
        """See `Advance`."""
        return interpolate(self.left, self.right, t)

    def consistent_at(self, t: float) -> Knot:
        """See `Advance`; interpolation misses the constraints by O(h^3)."""
        knot, o = self.at(t), self.stepper.full
        q = project_position(o, t, knot.q)
        return knot._replace(q=q, v=project_velocity(o, t, q, knot.v))

    def coordinates_at(self, t: float) -> tuple[float, Array, Array]:
        """Return t, q, v only, if possible without what accelerations and multipliers cost."""
        left, right = self._state, self.stepper.state
        if t == right.t:
            return t, right.q, right.v
        if self.stepper.scheme.a_is_acceleration:
            a0, a1 = left.a, right.a
        else:
            a0, a1 = self.left.vdot, self.right.vdot
        return t, *between(left.t, left.q, left.v, a0, right.t, right.q, right.v, a1, t)

    def consistent_coordinates_at(self, t: float) -> tuple[float, Array, Array]:
        """Return the same on the constraints."""
        _, q, v = self.coordinates_at(t)
        o = self.stepper.full
        if o.n_lam + o.n_psi:
            q = project_position(o, t, q)
            v = project_velocity(o, t, q, v)
        return t, q, v

    def jump(self) -> str:
        """See `Advance`."""
        left, right = self._state, self.stepper.state
        return jumping_callback(
            self.stepper.full, (left.t, left.q, left.v), (right.t, right.q, right.v)
        )


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
        left = (self.end - following) / self._signed
        if left > SHORTEST_LAST:
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
        taken = stepper.leap(h, rows[:left], origin, done, t_end)
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
        stepper.accept(state, t_end if self._count == len(self._sizes) else None)
