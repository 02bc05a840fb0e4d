"""What the differences of columns say about the error of their extrapolation.

With K columns, A is the extrapolation from all of them, B from the K - 1 finest, C from the K - 2
finest. Their errors are of order K + 1, K and K - 1, so that |A - B| is the error of B and more
than that of A. How much more is not known at one step size alone: over the catalogue, all schemes
and different steps, the error of A was 0.002 to 1.1 times |A - B|, with a median of 0.1. Two things
do not follow the expansion and are known by other signs:

- The start of `a`, of second order only, excites a transient that decays with rho_inf^n. In v it is
  a term h^3 of the first steps, which every column has at another place: there the error of A was
  up to 3.6 times |A - B|. The part of it that violates the constraints is projected away before.
- Where |A - B| is not clearly less than |B - C|, the columns do not shrink: steps do not resolve
  the motion, or something jumps.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter1d

Array = np.ndarray

#: Estimate over |A - B|: after the start, at the first step, and how it goes from one to the other.
SHARE, AT_START, DECAY = 0.75, 4.0, 0.7
#: |A - B| over |B - C| from which columns count as not shrinking; the largest is then doubled.
NOT_SHRINKING, DOUBLED = 0.8, 2.0
#: An accident of sign must not make an estimate small: the largest of so many points counts.
NEIGHBOURS = 5


def bound(A: Array, B: Array, C: Array | None = None, noise: float = 0.0) -> Array:
    """Return an estimate of the error of A that is a bound but for a small factor.

    Parameters
    ----------
    A, B, C : (s, n) array
        Extrapolations from all columns, and from the finest but for one and for two columns;
        without C it is not seen whether columns shrink.
    noise : float
        Errors of rounding and of Newton's iteration, relative to the largest value.
    """
    if not A.size:
        return np.zeros(A.shape)
    near = _largest_nearby(np.abs(A - B))
    factor = SHARE + AT_START * DECAY ** np.arange(A.shape[0])
    estimate = factor[:, None] * near
    if C is not None:
        before = _largest_nearby(np.abs(B - C))
        # of all components together: a single one may be small by accident
        stuck = near.max(axis=1) > NOT_SHRINKING * before.max(axis=1)
        estimate[stuck] = np.maximum(estimate, DOUBLED * np.maximum(near, before))[stuck]
    estimate += noise * np.abs(A).max()
    estimate[0] = 0.0
    return estimate


def _largest_nearby(x: Array) -> Array:
    return np.asarray(maximum_filter1d(x, NEIGHBOURS, axis=0, mode="nearest"))
