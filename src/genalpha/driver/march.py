"""A run: steps whose sizes somebody chooses, and points within the last of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.driver.blame import jumping_callback
from genalpha.driver.options import Options
from genalpha.driver.sizes import FixedSteps, StepSizes
from genalpha.driver.stepper import Stepper, complete
from genalpha.model import Mechanism
from genalpha.numerics.counters import Counters
from genalpha.numerics.initial_values import project_position, project_velocity
from genalpha.numerics.interpolation import Knot, between, interpolate

Array = np.ndarray


class March(Stepper):
    """A stepper that knows its step sizes.

    All that changes from step to step is the stepper's; what adaptive sizes remember of errors is
    theirs.

    Parameters
    ----------
    mechanism, options, counters, tolerance
        See `Stepper`.
    sizes : StepSizes

    Attributes
    ----------
    left, right : Knot
        The motion at both ends of the last step; the same at the start. What costs something is
        worked out when it is asked for.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        options: Options,
        sizes: StepSizes,
        counters: Counters | None = None,
        tolerance: float | None = None,
    ) -> None:
        super().__init__(mechanism, options, counters, tolerance)
        self.sizes = sizes

    def start(self, start: Knot, t_end: float, last: Any = None) -> None:
        """Start at `start`, of which q and v must be consistent and lam, psi are guesses.

        With `last`, see `genalpha.driver.origin.Last`, it goes on from there.
        """
        if last is None:
            self.sizes.begin(self, start, t_end)
        else:
            self.resume(last.state, last.reduction)
            self.sizes.resume(self, start, t_end, last.size)

    def step(self, t_end: float) -> None:
        """See `Advance`."""
        self.sizes.advance(self, t_end)

    @property
    def leaps(self) -> bool:
        """Whether `leap` may take steps."""
        return isinstance(self.sizes, FixedSteps) and self.is_native

    def leap(self, t_end: float, rows: Array) -> int:
        """Take many steps at once into rows of a record; return how many.

        Nothing is known of the last of them but its end, as at the start.
        """
        return self.sizes.leap(self, t_end, rows)

    @property
    def left(self) -> Knot:
        """The motion where the last step began."""
        if self._left_known is None:
            s = self._left_state
            self._left_known = complete(self.scheme, self._left_reduction, s.t, s.q, s.v, s.kept)
        return self._left_known

    @property
    def right(self) -> Knot:
        """The motion where the last step ended."""
        return self.knot()

    def at(self, t: float) -> Knot:
        """See `Advance`."""
        if t == self.t:
            return self.knot()
        return interpolate(self.left, self.right, t)

    def consistent_at(self, t: float) -> Knot:
        """See `Advance`; interpolation misses the constraints by O(h^3)."""
        knot, o = self.at(t), self.full
        q = project_position(o, t, knot.q)
        return knot._replace(q=q, v=project_velocity(o, t, q, knot.v))

    def coordinates_at(self, t: float) -> tuple[float, Array, Array]:
        """Return t, q, v only, if possible without what accelerations and multipliers cost."""
        left, right = self._left_state, self.state
        if t == right.t:
            return t, right.q, right.v
        if self.scheme.a_is_acceleration:
            a0, a1 = left.a, right.a
        else:
            a0, a1 = self.left.vdot, self.right.vdot
        return t, *between(left.t, left.q, left.v, a0, right.t, right.q, right.v, a1, t)

    def consistent_coordinates_at(self, t: float) -> tuple[float, Array, Array]:
        """Return the same on the constraints."""
        _, q, v = self.coordinates_at(t)
        o = self.full
        if o.n_lam + o.n_psi:
            q = project_position(o, t, q)
            v = project_velocity(o, t, q, v)
        return t, q, v

    def jump(self) -> str:
        """See `Advance`."""
        left, right = self._left_state, self.state
        return jumping_callback(self.full, (left.t, left.q, left.v), (right.t, right.q, right.v))
