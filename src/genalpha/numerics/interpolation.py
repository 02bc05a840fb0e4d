"""Dense output: the motion between two steps.

Positions are cubic Hermite polynomials of q and v at both ends. Velocities are their derivatives,
but for a parabola: schemes make (q1 - q0) / h agree with v0 and v1 to O(h^2) only, and that would
be the error between them, large in the middle and none at the ends. At an impact it would depend on
where in a step it happens. The parabola is known from the accelerations at both ends,

    v -= 6 s (1 - s) ((q1 - q0) / h - (v0 + v1) / 2 + h (a1 - a0) / 12),   s = (t - t0) / h.

Accelerations and multipliers, which the schemes know to second order, are linear.
"""

from __future__ import annotations

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


def between(
    t0: float, q0: Array, v0: Array, a0: Array, t1: float, q1: Array, v1: Array, a1: Array, t: float
) -> tuple[Array, Array]:
    """Return position and velocity between two times, see above; a: acceleration, or nearly so."""
    q, v = hermite(t0, q0, v0, t1, q1, v1, t)
    h = t1 - t0
    s = (t - t0) / h
    weight = 6.0 * s * (1.0 - s)
    v = combined(1.0, v, -weight / h, q1, weight / h, q0)
    v = combined(1.0, v, 0.5 * weight, v0, 0.5 * weight, v1)
    return q, combined(1.0, v, -weight * h / 12.0, a1, weight * h / 12.0, a0)


def interpolate(left: Knot, right: Knot, t: float) -> Knot:
    """Return the motion at `t`; errors O(h^4) in q, O(h^3) in v, O(h^2) in the rest.

    Outside of [left.t, right.t] this extrapolates.
    """
    h = right.t - left.t
    if h == 0.0 or t == right.t:
        return right
    if t == left.t:
        return left
    q, v = between(left.t, left.q, left.v, left.vdot, right.t, right.q, right.v, right.vdot, t)
    s = (t - left.t) / h
    linear = (a + s * (b - a) for a, b in zip(left[3:], right[3:], strict=True))
    return Knot(t, q, v, *linear)


def between_rows(
    q0: Array, v0: Array, a0: Array, q1: Array, v1: Array, a1: Array, h: float | Array, s: Array
) -> tuple[Array, Array]:
    """Return the same as `between` at many shares s, (k, 1), of steps of size h, as rows."""
    r = 1.0 - s
    q = r * r * ((1.0 + 2.0 * s) * q0 + h * s * v0)
    q += s * s * ((3.0 - 2.0 * s) * q1 - h * r * v1)
    return q, r * v0 + s * v1 - 0.5 * h * s * r * (a1 - a0)


def interpolate_rows(left: Knot, right: Knot, t: Array) -> Knot:
    """Return the same at many times, each between the rows of `left` and `right`."""
    h = (np.asarray(right.t) - left.t)[:, None]
    s = (t - left.t)[:, None] / h
    q, v = between_rows(left.q, left.v, left.vdot, right.q, right.v, right.vdot, h, s)
    linear = (a + s * (b - a) for a, b in zip(left[3:], right[3:], strict=True))
    return Knot(t, q, v, *linear)  # type: ignore[arg-type]


class Osculating:
    """Polynomials with given values and derivatives at k times each; their errors are O(h^(2 k)).

    By Newton's divided differences, in which every time counts twice.

    Parameters
    ----------
    times : (..., k) array
    x, d : (..., k, n) array
        Values and derivatives.
    """

    def __init__(self, times: Array, x: Array, d: Array) -> None:
        z = np.repeat(times, 2, axis=-1)
        column = np.empty((*z.shape[:-1], z.shape[-1] - 1, x.shape[-1]))
        column[..., ::2, :] = d
        column[..., 1::2, :] = _divided(x, np.diff(times, axis=-1))
        self._nodes = z[..., :-1]
        self._coefficients = np.empty((*z.shape, x.shape[-1]))
        self._coefficients[..., 0, :] = x[..., 0, :]
        self._coefficients[..., 1, :] = column[..., 0, :]
        for k in range(2, z.shape[-1]):
            column = _divided(column, z[..., k:] - z[..., :-k])
            self._coefficients[..., k, :] = column[..., 0, :]

    def at(self, t: float | Array) -> Array:
        """Return the value of each polynomial at its time; `t` has the shape of all of them."""
        powers = np.cumprod(np.asarray(t)[..., None] - self._nodes, axis=-1)
        rest = self._coefficients[..., 1:, :]
        return np.asarray(self._coefficients[..., 0, :] + (powers[..., None, :] @ rest)[..., 0, :])


def _divided(x: Array, by: Array) -> Array:
    """Return divided differences of rows."""
    return np.asarray((x[..., 1:, :] - x[..., :-1, :]) / by[..., None])
