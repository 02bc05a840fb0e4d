"""Which equation is to blame when a step fails."""

from __future__ import annotations

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot


def worst_equations(o: Mechanism, start: Knot, h: float) -> str:
    """Name the coordinate and the constraint with the largest residuals where a step begins.

    "Where it begins" is its first guess, the motion continued with constant acceleration: of the
    iteration itself, once it has diverged, no value means anything.
    """
    t, q, v = (
        start.t + h,
        start.q + h * start.v + 0.5 * h * h * start.vdot,
        start.v + h * start.vdot,
    )
    motion = np.abs(o.imbalance(t, q, v, start.vdot, start.lam, start.psi))
    i = int(np.argmax(motion))
    text = f"the largest residuals at its first guess are {motion[i]:.2e} in the equation of q[{i}]"
    constraints = np.abs(np.concatenate([o.holonomic(t, q), o.nonholonomic(t, q, v)]))
    if constraints.size:
        j = int(np.argmax(constraints))
        text += f" and {constraints[j]:.2e} in constraint {o.constraint_names[j]}"
    return text
