"""Dense output: the motion between two steps.

Positions are cubic Hermite polynomials of q and v at both ends, velocities their derivatives, so
that q and v are continuous and agree with each other. Accelerations and multipliers, which the
schemes know to second order, are linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Knot(NamedTuple):
    """The motion at one instant."""

    t: float
    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array


def interpolate(left: Knot, right: Knot, t: float) -> Knot:
    """Return the motion at `t`; errors O(h^4) in q, O(h^3) in v, O(h^2) in the rest.

    Outside of [left.t, right.t] this extrapolates.
    """
    h = right.t - left.t
    if h == 0.0 or t == right.t:
        return right
    if t == left.t:
        return left
    s = (t - left.t) / h
    # q = left.q + h (s v0 + s^2 A + s^3 B): the standard cubic with q', v given at s = 0 and 1
    slope = (right.q - left.q) / h
    A = 3.0 * slope - 2.0 * left.v - right.v
    B = left.v + right.v - 2.0 * slope
    q = left.q + h * s * (left.v + s * (A + s * B))
    v = left.v + s * (2.0 * A + 3.0 * s * B)
    linear = (a + s * (b - a) for a, b in zip(left[3:], right[3:], strict=True))
    return Knot(t, q, v, *linear)
