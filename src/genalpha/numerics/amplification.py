"""What a generalized-alpha scheme does to an oscillator, step by step: damping and period error.

For q'' = -omega^2 q one step maps (q, h v, h^2 a) linearly, by the amplification matrix A(omega h).
Of its three eigenvalues, the two principal ones, a conjugate pair for small omega h, stand for the
motion; the third is the scheme's own, which is -alpha_m / (1 - alpha_m) for omega h -> 0. With the
principal ones written as exp(Omega (-xi +- i)), xi is the algorithmic damping ratio and
2 pi / Omega the number of steps in a numerical period (Chung and Hulbert 1993).

All three schemes of the package are this one where there is no constraint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.numerics.coefficients import Coefficients

Array = np.ndarray


class Amplification(NamedTuple):
    """What an oscillator of frequency omega becomes, for each omega h.

    Attributes
    ----------
    radius : (k,) array
        Spectral radius: factor per step of what is left after many steps.
    damping_ratio : (k,) array
        Of the principal roots, as if the oscillator had a damper; NaN where they are real.
    period_error : (k,) array
        (numerical period - true period) / true period; NaN where the principal roots are real.
    """

    radius: Array
    damping_ratio: Array
    period_error: Array


def amplification_matrix(c: Coefficients, omega_h: float) -> Array:
    """Return the matrix that takes (q, h v, h^2 a) of an oscillator to those of the next step.

    The scheme is written as new @ x1 = old @ x0, with (4), (5) of Arnold and Brüls, and (3), in
    which the acceleration is -omega^2 q.
    """
    x = omega_h**2
    new = np.array(
        [
            [1.0, 0.0, -c.beta],
            [0.0, 1.0, -c.gamma],
            [(1.0 - c.alpha_f) * x, 0.0, 1.0 - c.alpha_m],
        ]
    )
    old = np.array(
        [
            [1.0, 1.0, 0.5 - c.beta],
            [0.0, 1.0, 1.0 - c.gamma],
            [-c.alpha_f * x, 0.0, -c.alpha_m],
        ]
    )
    return np.linalg.solve(new, old)


def amplification(c: Coefficients, omega_h: Array) -> Amplification:
    """Return spectral radius, damping ratio and period error for given omega h > 0."""
    x = np.asarray(omega_h, dtype=float)
    radius, ratio, error = (np.full(x.shape, np.nan) for _ in range(3))
    for i, value in enumerate(x):
        roots = np.linalg.eigvals(amplification_matrix(c, value))
        radius[i] = np.abs(roots).max()
        principal = roots[np.argmax(roots.imag)]
        if principal.imag > 1e-12:  # otherwise it is real: no oscillation is left
            turn = np.angle(principal)
            ratio[i] = -np.log(np.abs(principal)) / turn
            error[i] = value / turn - 1.0
    return Amplification(radius, ratio, error)


def overshoot(c: Coefficients, omega_h: float, steps: int) -> tuple[Array, Array]:
    """Return |q| and |v| / omega in the first steps of an oscillator that starts with q = 1, v = 0.

    The start is the plain one, a = -omega^2 q. The true values never exceed 1; where omega h is
    large, the scheme damps the motion only after its first steps.

    Parameters
    ----------
    c : Coefficients
    omega_h : float
    steps : int

    Returns
    -------
    q, v : (steps + 1,) arrays
    """
    matrix, x = amplification_matrix(c, omega_h), np.array([1.0, 0.0, -(omega_h**2)])
    found = [x]
    for _ in range(steps):
        found.append(matrix @ found[-1])
    q, hv, _ = np.abs(found).T
    return q, hv / omega_h
