"""Where the error is going: the one predictor of adaptive steps.

Differences of the past tell v''' a step or more before the middle of the present step. While the
motion grows wilder, such an estimate is too small, afterwards too large, and the steps lag behind.
With phi = err / h^3, the motion's part of the error, `Trend` tells by how much log(phi) changes
from one step to the next. The estimate is moved along this trend to where it is wanted (`moved`),
and the next step size follows it by one step more (`step_control`). See the theory page.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from genalpha.kernels import weighted_cosine

Array = np.ndarray

#: By so many steps the estimate is moved. It is one behind, and the trend half a step older still.
AHEAD = 1.2
#: A change is at most this, up or down. Smooth motions hardly know it; where a force jumps, phi
#: comes from nothing, and to follow that would cut steps without end.
STEEPEST = 2.0


def motion_part(error: float, h: float) -> float:
    """Return phi = err / h^3 of a step."""
    return error / abs(h) ** 3


def moved(error: float, change: float, older: float) -> float:
    """Return an error moved along the trend to the middle of its step.

    Parameters
    ----------
    error : float
        As differences of the past tell it.
    change : float
        Of log(phi) per step.
    older : float
        By how many steps the estimate is more than one behind the middle.
    """
    return error * exp((AHEAD + older) * change)


class Trend:
    """Remembers phi and v''' of the last accepted step."""

    def __init__(self) -> None:
        self._phi = 0.0
        self._snap: Array | None = None

    def change(self, phi: float, snap: Array, weight: Array) -> float:
        """Return by how much log(phi) changes per step, as of a step that is tried.

        Parameters
        ----------
        phi : float
            err / h^3 of the step, not moved.
        snap : (n,) array
            v''' of the step.
        weight : (n,) array
            What an error of each component of v counts.
        """
        if self._snap is None or not 0.0 < phi < inf:
            return 0.0
        # a v''' that turns round, as swinging errors do, has no trend
        change = log(phi / self._phi) * max(0.0, weighted_cosine(snap, self._snap, weight))
        return min(STEEPEST, max(-STEEPEST, change))

    def append(self, phi: float, snap: Array | None) -> None:
        """Add an accepted step; without its v''', or without an error, the past ends there."""
        known = snap is not None and 0.0 < phi < inf
        self._phi, self._snap = (phi, snap) if known else (0.0, None)
