"""Constraints whose functions take complex numbers: Im g(q + i e d) / e is G d, to rounding.

One call gives a column of G, without a step size to choose. Columns that are the same wherever q is
(g is linear in those coordinates) are kept, and columns that share no row are taken together: a
linkage of Cartesian coordinates and angles costs a call or two. NumPy's functions take complex
numbers; `math` does not, and abs, conj or an array of floats that is written to lose the imaginary
part, so that nothing is believed before it has been compared with differences.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from genalpha.model.callbacks import Array, VectorFunction
from genalpha.model.differences import (
    CENTRAL_STEP,
    EPS,
    accurate_jacobian,
    directional_derivative,
    time_scale,
)
from genalpha.model.structure import Structure, beside

#: The imaginary step: its square is lost in rounding.
TINY = 1e-30
#: Gradients agree with differences if they differ by no more than this part of a row.
CLOSE = 1e-7


class Analytic:
    """G, g_t + G v and what g'' holds beside G vdot, by complex steps.

    Something is always assumed: at least that no branch of g drops imaginary parts.

    Parameters
    ----------
    g : callable(t, q) -> m complex numbers
        The user's function.
    t, q : float, (n,) array
        Where it is tried.
    m : int

    Raises
    ------
    Exception
        Whatever a function raises that does not take complex numbers.
    """

    assumes = True

    def __init__(self, g: Callable[..., Any], t: float, q: Array, m: int) -> None:
        self.g, self.m = g, m
        #: The value that came with the last gradient.
        self.value: Array | None = None
        self._structure = Structure.unknown(m, q.size)
        points = beside(t, q)
        found = np.array([self.jacobian(*point) for point in points])
        still = [self._imaginary(x + 1j * TINY, y.astype(complex)) for x, y in points]
        #: Whether g depends on the time.
        self.knows_time = bool(np.any(still))
        self._structure = Structure.of(found, 8.0 * EPS)

    @property
    def steady(self) -> bool:
        """Whether it is believed that g does not depend on the time."""
        return not self.knows_time

    def _imaginary(self, t: Any, q: Array) -> Array:
        value = np.asarray(self.g(t, q)).ravel()
        if value.dtype.kind != "c" or value.size != self.m:
            raise TypeError("no complex numbers")
        self.value = value.real.copy()
        return value.imag / TINY

    def jacobian(self, t: float, q: Array) -> Array:
        """Return G, and leave g in `value`: one call per group of columns."""
        constant, pattern, groups = self._structure
        G, self.value = constant.copy(), None
        for group in groups:
            x = q.astype(complex)
            x[group] += 1j * TINY
            G[:, group] += pattern[:, group] * self._imaginary(t, x)[:, None]
        return G

    def by_time(self, t: float, q: Array) -> Array:
        """Return g_t: no call if g does not know the time."""
        if self.steady:
            return np.zeros(self.m)
        return self._imaginary(t + 1j * TINY, q.astype(complex))

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """Return g_t + G v: one call."""
        return self._imaginary(t + 1j * TINY, q + 1j * TINY * v)

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Return g_tt + 2 g_tq v + g_qq(v, v): the derivative of the rate along the motion."""
        T = time_scale(q, v)
        return directional_derivative(lambda s: self.rate(t + s * T, q + s * T * v, v)) / T

    def agrees(self, g: VectorFunction, t: float, q: Array, G: Array) -> bool:
        """Compare G, and G v + g_t along some v, with differences of g."""
        s = CENTRAL_STEP * max(1.0, abs(t))
        by_time = (g(t + s, q) - g(t - s, q)) / (2.0 * s)
        size = np.abs(G).max(axis=1) + np.abs(by_time)
        wrong = np.abs(self.jacobian(t, q) - G).max(axis=1)
        v = np.ones(q.size)
        late = np.abs(self.rate(t, q, v) - G @ v - by_time)
        return bool((wrong <= CLOSE * size).all() and (late <= q.size * CLOSE * size).all())


def analytic_at(g: VectorFunction, user: Callable[..., Any], t: float, q: Array) -> Analytic | None:
    """Return g with complex steps, if that works at a point; `user` is the function behind g."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        try:
            found = Analytic(user, t, q, g(t, q).size)
            return found if found.agrees(g, t, q, accurate_jacobian(lambda x: g(t, x), q)) else None
        except Exception:  # it is the user's code, and was not written for this
            return None
