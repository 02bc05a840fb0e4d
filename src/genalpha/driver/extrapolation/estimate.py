"""What the differences of columns say about the error of their extrapolation.

With K columns, A is the extrapolation from all of them, B from the K - 1 finest, C from the K - 2
finest, and so on. Their errors are of order K + 1, K, K - 1, so that |A - B| is the error of B and
more than that of A. How much more is not known at one step size alone: over the catalogue, all
schemes and different steps, the error of A was less than 0.001 to 1.7 times |A - B|.
Four things are known by other signs:

- The start of `a`, of second order only, excites a transient that decays with rho_inf^n. In v it is
  a term h^3 of the first steps, which every column has at another place: there the error of A was
  up to 3.6 times |A - B|. The part of it that violates the constraints is projected away before.
- Where |A - B| is not much less than |B - C|, powers beyond the next one still matter.
- Where it is not less at all, columns do not shrink: steps do not resolve the motion, or something
  jumps.
- Where |A - B| is far less than |B - C| and |C - D| let expect, that may be an accident of sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.ndimage import maximum_filter1d

Array = np.ndarray

#: Estimate over |A - B|: after the start, at the first step, and how it goes from one to the other.
SHARE, AT_START, DECAY = 0.75, 4.0, 0.7
#: So many points belong to the start.
TRANSIENT = 10
#: |A - B| over |B - C| from which columns count as not shrinking; what the largest difference is
#: then multiplied by, because the weights of extrapolation amplify errors without an expansion.
NOT_SHRINKING, IRREGULAR = 0.8, 4.0
#: After so large a part of all points where columns do not shrink, all later ones count as such.
PERSISTENT = 0.05
#: An accident of sign must not make an estimate small: the largest of so many points counts.
NEIGHBOURS = 5
#: Estimates of multipliers are lifted at most by this.
LARGEST_LIFT = 1e3

TINY = 1e-300


def factors(levels: Sequence[Array]) -> Array:
    """Return, for each time, what |A - B| is multiplied by to bound the error of A, shape (s,).

    Parameters
    ----------
    levels : sequence of (s, n) array
        A, B, C, and D if there is one.
    """
    # of all components together: a single one may be small by accident
    first, second, *more = (
        np.maximum(_largest_nearby(np.abs(x - y)).max(axis=1), TINY) for x, y in pairwise(levels)
    )
    factor = SHARE + AT_START * DECAY ** np.arange(first.size) + np.minimum(second, first) / second
    later = np.arange(first.size) >= TRANSIENT  # before, the first part says more
    if more:
        expected = second * (second / more[0])
        lift = np.maximum(1.0, np.minimum(expected, second) / first)
        factor *= np.where(later, lift, 1.0)
    stuck = later & (first > NOT_SHRINKING * second)
    stuck |= np.cumsum(stuck) > max(NEIGHBOURS, PERSISTENT * stuck.size)
    largest = np.max([first, second, *more], axis=0)
    factor[stuck] = np.maximum(factor, IRREGULAR * largest / first)[stuck]
    return factor


def bound(factor: Array, A: Array, B: Array, noise: float) -> Array:
    """Return an estimate of the error of A that is a bound but for a small factor.

    Parameters
    ----------
    factor : (s,) array
        See `factors`.
    A, B : (s, n) array
    noise : float
        Errors of rounding and of Newton's iteration, relative to the largest value.
    """
    if not A.size:
        return np.zeros(A.shape)
    estimate = factor[:, None] * _largest_nearby(np.abs(A - B)) + noise * np.abs(A).max()
    estimate[0] = 0.0
    return np.asarray(estimate)


def lifted(estimate: Array, reference: Array) -> Array:
    """Return estimates of multipliers that are nowhere small beside those of the velocities.

    Where they are less than what velocities let expect, by the median over the run of the ratio
    of both, that may be an accident of sign.
    """
    if not estimate.size:
        return estimate
    size = np.maximum(estimate.max(axis=1), TINY)
    given = np.maximum(reference.max(axis=1), TINY)
    usual = np.median((size / given)[1:]) * given
    return np.asarray(estimate * np.minimum(np.maximum(usual / size, 1.0), LARGEST_LIFT)[:, None])


def _largest_nearby(x: Array) -> Array:
    return np.asarray(maximum_filter1d(x, NEIGHBOURS, axis=0, mode="nearest"))
