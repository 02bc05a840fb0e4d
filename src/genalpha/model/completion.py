"""Fill in what the user left out of a mechanism: every missing derivative, by differences.

Each function here takes wrapped callbacks (see `callbacks`) and returns one that is missing.
The formulas are the model's own (see `mechanism`); how to difference is in `differences`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.kernels import plus, transposed_product
from genalpha.model.callbacks import Array, Matrix, MatrixFunction, VectorFunction, now
from genalpha.model.differences import (
    Groups,
    directional_derivative,
    forward_jacobian,
    scale,
    second_directional_derivative,
    time_scale,
)
from genalpha.model.structure import Whole


def velocity_jacobian(k: VectorFunction, groups: Groups | None) -> MatrixFunction:
    """K(t, q, v) = dk/dv."""
    return Whole(k, groups)


def position_gradient(k: VectorFunction, groups: Groups | None) -> MatrixFunction:
    """dk/dq; it only enters Newton's iteration matrix."""
    return lambda t, q, v: forward_jacobian(lambda x: k(t, x, v), q, k(t, q, v), groups)


class Magnitude:
    """The size of what constraints sum up, |J| |x|: their rounding errors are in proportion to it.

    It is needed to one digit, so it is worked out anew only when x has moved by much.

    Parameters
    ----------
    J : callable(t, q, ...) -> (m, n) matrix
        Gradients by the last argument.
    """

    def __init__(self, J: MatrixFunction) -> None:
        self._J, self._x, self._terms = J, np.zeros(0), np.zeros(0)

    def __call__(self, *arguments: Any) -> Array:
        """Return the sizes, shape (m,)."""
        x = arguments[-1]
        moved = self._x.size != x.size or np.abs(x - self._x).max() > 0.2 * np.abs(self._x).max()
        if moved:
            terms = abs(self._J(*arguments)) @ np.abs(x)
            if not np.isfinite(terms).all():  # of no use elsewhere
                return np.asarray(terms)
            self._x, self._terms = x.copy(), terms
        return self._terms


def position_rate(g: VectorFunction, G: MatrixFunction) -> VectorFunction:
    """g_t + G v; only g_t is differenced, and it is exactly 0 where g does not know the time."""

    def rate(t: float, q: Array, v: Array) -> Array:
        matrix = G(t, q)
        terms = abs(matrix) @ np.abs(q)
        return matrix @ v + directional_derivative(lambda s: g(t + s, q), terms)

    return rate


def position_rate_along(g: VectorFunction, terms: Magnitude, n: int | None) -> VectorFunction:
    """g_t + G v as one derivative along the motion: where G is differenced too, it costs less.

    Here and below, `n` is the number of coordinates that tell how fast the motion is.
    """

    def rate(t: float, q: Array, v: Array) -> Array:
        T = time_scale(q[:n], v[:n])
        return directional_derivative(lambda s: g(t + s * T, q + s * T * v), terms(t, q)) / T

    return rate


def along_motion(function: VectorFunction, J: MatrixFunction, n: int) -> VectorFunction:
    """Derivative of function(t, q, v) along (1, v) at constant v: what its rate holds beside v'.

    `J` is its derivative by v, of the same arguments.
    """

    def derivative(t: float, q: Array, v: Array) -> Array:
        T, terms = time_scale(q[:n], v[:n]), abs(J(t, q, v)) @ np.abs(v)
        return directional_derivative(lambda s: function(t + s * T, q + s * T * v, v), terms) / T

    return derivative


def position_acceleration(g: VectorFunction, terms: Magnitude, n: int | None) -> VectorFunction:
    """g_tt + 2 g_tq v + g_qq(v, v), straight from g: one differencing instead of two nested."""

    def acceleration(t: float, q: Array, v: Array) -> Array:
        T = time_scale(q[:n], v[:n])
        phi = second_directional_derivative(lambda s: g(t + s * T, q + s * T * v), terms(t, q))
        return phi / T**2

    return acceleration


def default_reaction(G: MatrixFunction, K: MatrixFunction, m: int, l: int) -> VectorFunction:  # noqa: E741
    """-G^T lam - K^T psi, without the product that is empty."""
    G, K = now(G), now(K)
    if m and l:
        return lambda t, q, v, lam, psi: plus(
            transposed_product(-1.0, G(t, q), lam), -1.0, transposed_product(1.0, K(t, q, v), psi)
        )
    if m:
        return lambda t, q, v, lam, psi: transposed_product(-1.0, G(t, q), lam)
    if l:
        return lambda t, q, v, lam, psi: transposed_product(-1.0, K(t, q, v), psi)
    return lambda t, q, v, lam, psi: np.zeros(q.size)


def default_reaction_jacobian(G: MatrixFunction, K: MatrixFunction) -> MatrixFunction:
    """[-G^T, -K^T]."""

    def jacobian(t: float, q: Array, v: Array, lam: Array, psi: Array) -> Matrix:
        left, right = -G(t, q).T, -K(t, q, v).T
        if not right.shape[1]:
            return left
        if not left.shape[1]:
            return right
        if sparse.issparse(left):
            return sparse.hstack([left, right], format="csc")
        return np.hstack([left, right])

    return jacobian


def reaction_jacobian(reaction: VectorFunction, m: int, groups: Groups | None) -> MatrixFunction:
    """Derivative of a custom reaction by (lam, psi)."""

    def jacobian(t: float, q: Array, v: Array, lam: Array, psi: Array) -> Matrix:
        def of(x: Array) -> Array:
            return reaction(t, q, v, x[:m], x[m:])

        x = np.concatenate([lam, psi])
        return forward_jacobian(of, x, of(x), groups)

    return jacobian


Imbalance = Callable[[float, Array, Array, Array, Array, Array], Array]


def stiffness(imbalance: Imbalance, groups: Groups | None) -> MatrixFunction:
    """Derivative of M vdot - f - reaction by q."""

    def derivative(t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Matrix:
        base = imbalance(t, q, v, vdot, lam, psi)
        return forward_jacobian(lambda x: imbalance(t, x, v, vdot, lam, psi), q, base, groups)

    return derivative


def damping(imbalance: Imbalance, groups: Groups | None) -> MatrixFunction:
    """Derivative of M vdot - f - reaction by v."""

    def derivative(t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Matrix:
        base = imbalance(t, q, v, vdot, lam, psi)
        return forward_jacobian(lambda x: imbalance(t, q, x, vdot, lam, psi), v, base, groups)

    return derivative


def tangent(imbalance: Imbalance, groups: Groups | None, n: int) -> MatrixFunction:
    """cq Kt + cv Ct in one sweep: half the evaluations of differencing Kt and Ct apart.

    Coordinates from n on only stand for states: how far they move does not matter.
    """

    def derivative(
        t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array, cq: float, cv: float
    ) -> Matrix:
        base = imbalance(t, q, v, vdot, lam, psi)
        # q and v move together: keep both within the range where f is nearly linear
        tiny = 1e-200  # stands for 0 without overflow
        sizes = scale(v) / max(abs(cv), tiny)
        sizes[:n] = np.minimum(scale(q[:n]) / max(abs(cq), tiny), sizes[:n])
        return forward_jacobian(
            lambda x: imbalance(t, q + cq * x, v + cv * x, vdot, lam, psi),
            np.zeros(q.size),
            base,
            groups,
            sizes,
        )

    return derivative
