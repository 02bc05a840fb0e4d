"""How accurately Newton's iteration must solve: to a fraction of the accelerations, or rounding.

The unknowns of all schemes are accelerations and multipliers. An error e in an acceleration moves
the position by h^2 beta e, and is the most that is tolerated if it is

- a fraction `relative` of the accelerations, or
- what rounding of the position does to it: eps |q| / (h^2 beta).

Multipliers are accelerations in other units: those of mass over constraint gradient.
Norms are Euclidean.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
#: Default of `relative`: solved as well as double precision allows for all but tiny steps.
FULL = 1e-13


def norm(x: Array) -> float:
    """Return the Euclidean norm; for short vectors, several times faster than NumPy's."""
    return sqrt(x.dot(x))


def tolerated(
    relative: float,
    acceleration: Array,
    x: Array,
    displacement: float,
    noise: float = 0.0,
    rounding: float = EPS,
) -> float:
    """Return the error of an acceleration that may remain.

    Parameters
    ----------
    relative : float
        Fraction of the acceleration.
    acceleration : (n,) array
    x : (n,) array
        Position or velocity, and
    displacement : float
        how far it moves per unit of acceleration: h^2 beta or h gamma.
    noise : float
        What rounding of positions does to accelerations through stiff forces, see `force_noise`.
    rounding : float
        Relative error with which constraints are evaluated.
    """
    return relative * norm(acceleration) + rounding * max(1.0, norm(x)) / abs(displacement) + noise


def force_noise(tangent: Matrix, inertia: Matrix, q: Array, displacement: float) -> float:
    """Return the acceleration that forces make of a rounding error of the position.

    Parameters
    ----------
    tangent : (n, n) matrix
        The part of the iteration matrix that comes from the forces: h^2 beta Kt + h gamma Ct.
    inertia : (n, n) matrix
        The part that comes from the mass.
    q : (n,) array
    displacement : float
        h^2 beta, or h gamma where beta is 0.

    Notes
    -----
    Forces much stiffer than inertia at this step size are inverted by the iteration matrix, so
    that their noise is never more than that of the position itself.
    """
    stiffness = abs(tangent).max() / max(abs(inertia).max(), TINY)
    return float(min(stiffness, 1.0)) * EPS * max(1.0, norm(q)) / abs(displacement)


def tolerated_multiplier(
    relative: float, multiplier: Array, acceleration: float, mass_over_gradient: float
) -> float:
    """Return the error of a multiplier that may remain, when that of `acceleration` may."""
    return mass_over_gradient * acceleration + relative * norm(multiplier) + TINY
