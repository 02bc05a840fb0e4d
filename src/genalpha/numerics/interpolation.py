"""Dense output: the motion between two steps.

Positions are cubic Hermite polynomials of q and v at both ends, velocities their derivatives, so
that q and v are continuous and agree with each other. Accelerations and multipliers, which the
schemes know to second order, are linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from genalpha.kernels import combined, plus

Array = np.ndarray


class Knot(NamedTuple):
    """The motion at one instant."""

    t: float
    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array


class DrivenKnot(NamedTuple):
    """The motion of a mechanism with first-order states z at one instant."""

    t: float
    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array
    z: Array
    zdot: Array


def narrow_knot(knot: Knot, n: int) -> Any:
    """Return a motion of Q and V, see `genalpha.model.states`, as one of n coordinates and z."""
    t, q, v, vdot, lam, psi = knot
    q, (v, z), (vdot, zdot) = q[..., :n], *((x[..., :n], x[..., n:]) for x in (v, vdot))
    return DrivenKnot(t, q, v, vdot, lam, psi, z, zdot)


def hermite(
    t0: float, x0: Array, d0: Array, t1: float, x1: Array, d1: Array, t: float
) -> tuple[Array, Array]:
    """Return the cubic with given values x and derivatives d at t0 and t1, and its derivative."""
    h = t1 - t0
    s = (t - t0) / h
    r = 1.0 - s
    x = combined(r * r * (1.0 + 2.0 * s), x0, s * s * (3.0 - 2.0 * s), x1, h * s * r * r, d0)
    slope = 6.0 * s * r / h
    d = combined(slope, x1, -slope, x0, r * (1.0 - 3.0 * s), d0)
    return plus(x, -h * s * s * r, d1), plus(d, s * (3.0 * s - 2.0), d1)


def interpolate(left: Knot, right: Knot, t: float) -> Knot:
    """Return the motion at `t`; errors O(h^4) in q, O(h^3) in v, O(h^2) in the rest.

    Outside of [left.t, right.t] this extrapolates.
    """
    h = right.t - left.t
    if h == 0.0 or t == right.t:
        return right
    if t == left.t:
        return left
    q, v = hermite(left.t, left.q, left.v, right.t, right.q, right.v, t)
    s = (t - left.t) / h
    linear = (a + s * (b - a) for a, b in zip(left[3:], right[3:], strict=True))
    return Knot(t, q, v, *linear)


def hermite_at(times: Sequence[float], x: Sequence[Array], d: Sequence[Array], t: float) -> Array:
    """Return, at `t`, the polynomial with values x and derivatives d at k times.

    Its error is O(h^(2 k)). By Newton's divided differences, with every time twice.
    """
    nodes = [time for time in times for _ in (0, 1)]
    column = [value for value in x for _ in (0, 1)]
    coefficients = [column[0]]
    for order in range(1, len(nodes)):
        column = [
            d[i // 2]
            if order == 1 and i % 2 == 0
            else (column[i + 1] - column[i]) / (nodes[i + order] - nodes[i])
            for i in range(len(column) - 1)
        ]
        coefficients.append(column[0])
    value = coefficients[-1]
    for node, coefficient in zip(nodes[-2::-1], coefficients[-2::-1], strict=True):
        value = coefficient + (t - node) * value
    return value
