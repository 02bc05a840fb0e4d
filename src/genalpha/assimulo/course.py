"""A march of the driver in the terms of Assimulo: times, y and yd.

Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

import numpy as np

from genalpha.assimulo.layout import Layout
from genalpha.assimulo.reports import Point
from genalpha.driver.advance import Advance
from genalpha.driver.march import March
from genalpha.errors import InconsistentStartError
from genalpha.model import Mechanism
from genalpha.model.residual import OneResidual
from genalpha.numerics.initial_values import project_position, project_velocity
from genalpha.numerics.interpolation import Knot

Array = np.ndarray


class Course(Advance):
    """A march under way, whose points are y and yd.

    It owns nothing but the layout: the state is the march's, and the times are copies of its, since
    the loop reads them as plain numbers.

    Parameters
    ----------
    march : Advance
        That has begun; its points are knots.
    layout : Layout
        The order of the unknowns in y.
    whole : OneResidual, optional
        The residual that is asked, if that is its order as well.
    """

    def __init__(self, march: Advance, layout: Layout, whole: OneResidual | None = None) -> None:
        super().__init__(march.t)
        self.march, self._layout = march, layout
        self._whole = None if whole is None or whole.size != layout.size else whole

    def step(self, t_end: float) -> None:
        """See `Advance`."""
        march = self.march
        march.step(t_end)
        self.t_left, self.t = march.t_left, march.t

    def at(self, t: float) -> Point:
        """See `Advance`."""
        return self._point(self.march.at(t))

    def consistent_at(self, t: float) -> Point:
        """See `Advance`."""
        return self._point(self.march.consistent_at(t))

    def jump(self) -> str:
        """See `Advance`."""
        return self.march.jump()

    def _point(self, knot: Knot) -> Point:
        whole = self._whole
        if whole is None:
            return Point(float(knot.t), *self._layout.assemble(knot))
        t, q, v, vdot, lam, psi = knot
        y, yd = whole.state(q, v, vdot, lam, psi)
        return Point(t, y, yd)


def start_knot(o: Mechanism, layout: Layout, t: float, y: Array) -> Knot:
    """Return y as the start of a march; an explicit problem knows no multipliers."""
    q, v, lam, psi = layout.split(y)
    if lam.size + psi.size < o.n_lam + o.n_psi:
        lam, psi = o.multiplier_guess()
    return Knot(float(t), q, v, np.zeros(o.n_q), lam, psi)


def made_consistent(
    march: March, t: float, q: Array, v: Array, keep_position: bool = False
) -> tuple[Array, Array]:
    """Return the nearest consistent position and velocity; those that are consistent stay.

    With `keep_position` only the velocity is moved.
    """
    try:
        march.check(t, q, v)
    except InconsistentStartError:
        o = march.full
        q = q if keep_position else project_position(o, t, q)
        v = project_velocity(o, t, q, v)
    return q, v
