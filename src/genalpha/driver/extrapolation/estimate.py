"""What the differences of columns say about the error of their extrapolation.

With K columns, A is the extrapolation from all of them, B from the K - 1 finest, C from the K - 2
finest, and so on. |A - B| is the error of B, and |B - C| that of C.

Of a symmetric scheme, errors fall from column to column in a geometric sequence: that of A is about
5 |A - B|^2 / |B - C| (`regular`). Of other schemes, the start of `a`, of second order only, excites
a transient that decays with rho_inf^n, a term h^3 of v that every column has at another place; it
is more than what is left of the expansion, and the error of A is about |A - B| (`with_transient`),
more near the start. The part of it that violates the constraints is projected away before.

Two things are known by other signs, whatever the scheme:

- Where |A - B| is not less than |B - C|, columns do not shrink: steps do not resolve the motion, or
  something jumps.
- Where |A - B| is far less than |B - C| and |C - D| let expect, that may be an accident of sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy

Array = np.ndarray

#: Of symmetric schemes: estimate over |A - B|^2 / |B - C|, and over |A - B| at most. Ratios of the
#: differences are believed down to this part of that of the differences before.
GEOMETRIC, LARGEST_SHARE, ACCIDENT = 15.0, 4.0, 0.1
#: Of others: estimate over |A - B| after the start, at the first step, and how that decays.
SHARE, AT_START, DECAY = 0.75, 4.0, 0.7
#: So many points belong to the start.
TRANSIENT = 10
#: |A - B| over |B - C| from which columns count as not shrinking; what the largest difference is
#: then multiplied by, because the weights of extrapolation amplify errors without an expansion.
NOT_SHRINKING, IRREGULAR = 0.8, 10.0
#: After so large a part of all points where columns do not shrink, all later ones count as such.
PERSISTENT = 0.05
#: An accident of sign must not make an estimate small: the largest of so many points counts.
NEIGHBOURS = 5
#: Estimates of multipliers are lifted at most by this.
LARGEST_LIFT = 1e3

TINY = 1e-300


def factors(levels: Sequence[Array], symmetric: bool, noise: float) -> Array:
    """Return, for each time, what |A - B| is multiplied by to bound the error of A, shape (s,).

    Parameters
    ----------
    levels : sequence of (s, n) array
        A, B, C, and D if there is one.
    symmetric : bool
        Whether the scheme is.
    noise : float
        Errors of rounding and of Newton's iteration.
    """
    # of all components together: a single one may be small by accident
    found = [np.abs(x - y).max(axis=1) for x, y in pairwise(levels)]
    if symmetric:
        differences = [np.maximum(np.maximum.accumulate(x), TINY) for x in found]
        factor = regular(differences)
    else:
        differences = [np.maximum(largest_nearby(x), TINY) for x in found]
        factor = with_transient(differences)
    first, second, *_ = differences
    later = np.arange(first.size) >= (0 if symmetric else TRANSIENT)
    stuck = later & (first > NOT_SHRINKING * second) & (first > noise)
    stuck |= np.cumsum(stuck) > max(NEIGHBOURS, PERSISTENT * stuck.size)
    largest = np.max(differences, axis=0)
    factor[stuck] = np.maximum(factor, IRREGULAR * largest / first)[stuck]
    return factor


def regular(differences: Sequence[Array]) -> Array:
    """Return the factors of a scheme whose errors fall in a geometric sequence."""
    first, second, *more = differences
    ratio = first / second
    if more:
        ratio = np.maximum(ratio, ACCIDENT * second / more[0])
    return np.asarray(np.minimum(GEOMETRIC * ratio, LARGEST_SHARE))


def with_transient(differences: Sequence[Array]) -> Array:
    """Return the factors of a scheme whose start excites a transient."""
    first, second, *more = differences
    points = np.arange(first.size)
    factor = SHARE + AT_START * DECAY**points + np.minimum(second, first) / second
    if more:
        expected = second * (second / more[0])
        lift = np.maximum(1.0, np.minimum(expected, second) / first)
        factor *= np.where(points >= TRANSIENT, lift, 1.0)  # before, the first part says more
    return np.asarray(factor)


def lifted(estimate: Array, reference: Array) -> Array:
    """Return estimates of multipliers that are nowhere small beside those of the velocities.

    Where they are less than what velocities let expect, by the median over the run of the ratio
    of both, that may be an accident of sign. `reference` has the velocities' estimates, shape (s,).
    """
    if not estimate.size:
        return estimate
    size = np.maximum(estimate.max(axis=1), TINY)
    given = np.maximum(reference, TINY)
    usual = np.median((size / given)[1:]) * given
    return np.asarray(estimate * np.minimum(np.maximum(usual / size, 1.0), LARGEST_LIFT)[:, None])


def largest_nearby(x: Array) -> Array:
    """Return the largest value of neighbouring times."""
    return np.asarray(scipy.ndimage.maximum_filter1d(x, NEIGHBOURS, axis=0, mode="nearest"))
