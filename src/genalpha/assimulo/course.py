"""A march of the driver in the terms of Assimulo: times, y and yd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.assimulo.layout import Layout
from genalpha.driver.march import March, StepSizes
from genalpha.driver.stepper import Stepper
from genalpha.errors import InconsistentStartError
from genalpha.model import Mechanism, Motion
from genalpha.numerics.initial_values import check_start, project_position, project_velocity
from genalpha.numerics.interpolation import Knot, interpolate

Array = np.ndarray


class Point(NamedTuple):
    """A result: a time, and independent arrays y and yd."""

    t: float
    y: Array
    yd: Array


class Course:
    """An integration under way.

    Parameters
    ----------
    stepper : Stepper
    sizes : StepSizes
    layout : Layout
        The order of the unknowns in y.
    """

    def __init__(self, stepper: Stepper, sizes: StepSizes, layout: Layout) -> None:
        self._march, self.layout = March(stepper, sizes), layout
        self.mechanism = stepper.full

    def begin(self, t: float, y: Array, t_end: float) -> None:
        """Start at a consistent y, of which the multipliers are guesses; mu is ignored."""
        self._march.begin(start_knot(self.mechanism, self.layout, t, y), t_end)

    @property
    def t(self) -> float:
        """The time reached."""
        return self._march.t

    @property
    def t_left(self) -> float:
        """The time at which the last step began."""
        return self._march.t_left

    def step(self, t_end: float) -> None:
        """Take one step towards `t_end`."""
        self._march.step(t_end)

    def at(self, t: float) -> Point:
        """Return the motion at a time within the last step."""
        return self._point(interpolate(self._march.left, self._march.right, t))

    def consistent_at(self, t: float) -> Point:
        """Return the same, moved onto the constraints, which interpolation misses by O(h^3)."""
        o, knot = self.mechanism, interpolate(self._march.left, self._march.right, t)
        q = project_position(o, t, knot.q)
        return self._point(knot._replace(q=q, v=project_velocity(o, t, q, knot.v)))

    def _point(self, knot: Knot) -> Point:
        motion = Motion(knot.q, knot.v, knot.vdot, knot.lam, knot.psi)
        return Point(float(knot.t), *self.layout.assemble(motion))


def start_knot(o: Mechanism, layout: Layout, t: float, y: Array) -> Knot:
    """Return y as the start of a march; an explicit problem knows no multipliers."""
    q, v, lam, psi = layout.split(y)
    if lam.size + psi.size < o.n_lam + o.n_psi:
        lam, psi = o.multiplier_guess()
    return Knot(float(t), q, v, np.zeros(o.n_q), lam, psi)


def made_consistent(
    o: Mechanism, t: float, q: Array, v: Array, keep_position: bool = False
) -> tuple[Array, Array]:
    """Return the nearest consistent position and velocity; those that are consistent stay.

    With `keep_position` only the velocity is moved.
    """
    try:
        check_start(o, t, q, v)
    except InconsistentStartError:
        q = q if keep_position else project_position(o, t, q)
        v = project_velocity(o, t, q, v)
    return q, v
