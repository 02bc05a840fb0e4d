"""What a generalized-alpha scheme does to a first-order mode z' = lambda z, step by step.

The velocity's part of a step, with a rate that is known at both ends, is the first-order
generalized-alpha method of Jansen, Whiting and Hulbert (2000):

    z1 = z0 + h (1 - gamma) a0 + h gamma a1,
    (1 - alpha_m) a1 + alpha_m a0 = lambda ((1 - alpha_f) z1 + alpha_f z0).

It maps (z, h a) linearly. All three schemes of the package advance states by it.
"""

from __future__ import annotations

import numpy as np

from genalpha.numerics.coefficients import Coefficients

Array = np.ndarray


def first_order_matrix(c: Coefficients, lambda_h: complex) -> Array:
    """Return the matrix that takes (z, h a) to those of the next step."""
    x = lambda_h
    new = np.array([[1.0, -c.gamma], [-(1.0 - c.alpha_f) * x, 1.0 - c.alpha_m]])
    old = np.array([[1.0, 1.0 - c.gamma], [c.alpha_f * x, -c.alpha_m]])
    return np.linalg.solve(new, old)


def first_order_radius(c: Coefficients, lambda_h: Array) -> Array:
    """Return the spectral radius for each lambda h, real or complex."""
    values = np.asarray(lambda_h).ravel()
    return np.array([np.abs(np.linalg.eigvals(first_order_matrix(c, x))).max() for x in values])


def radius_at_infinity(c: Coefficients) -> float:
    """Return the spectral radius for lambda h -> infinity: that of two roots.

    -alpha_f / (1 - alpha_f) is the factor of z, -(1 - gamma) / gamma that of a.

    Examples
    --------
    >>> from genalpha import Coefficients
    >>> round(radius_at_infinity(Coefficients.chung_hulbert(0.8)), 12)
    0.8
    >>> round(radius_at_infinity(Coefficients.chung_hulbert(0.0)), 12)
    0.333333333333
    """
    return max(abs(c.alpha_f / (1.0 - c.alpha_f)), abs((1.0 - c.gamma) / c.gamma))
