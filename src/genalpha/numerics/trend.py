"""Where the error is going: local errors moved to the step that they are asked for.

Differences of the past tell v''' one step before the middle of the present step. While the motion
grows wilder, such an estimate is too small, afterwards too large, and the steps lag behind. With
phi = err / h^3, the motion's part of the error, the estimate is multiplied with phi's change over
one more step. See the theory page.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from genalpha.kernels import weighted_cosine

Array = np.ndarray

#: So many steps the estimate is moved. By its derivation it is one behind; the trend is old too.
AHEAD = 1.2
#: A fall is followed by this share only: v''' may fall because it is about to change its sign.
FALL = 0.5
#: Share of the last step in the trend; the rest is that of the step before.
LATEST = 2.0 / 3.0
#: The error changes at most by this factor, up or down.
LIMIT = 2.5


def motion_part(error: float, h: float) -> float:
    """Return phi = err / h^3 of a step."""
    return error / abs(h) ** 3


class Trend:
    """Remembers phi and v''' of the last two accepted steps."""

    def __init__(self) -> None:
        self._past: list[tuple[float, Array]] = []

    def factor(self, phi: float, snap: Array, weight: Array) -> float:
        """Return the factor that moves an error to the middle of its step.

        Parameters
        ----------
        phi : float
            err / h^3 of the step, not moved.
        snap : (n,) array
            v''' of the step.
        weight : (n,) array
            What an error of each component of v counts.
        """
        if len(self._past) < 2 or not phi > 0.0:
            return 1.0
        (oldest, _), (last, last_snap) = self._past
        now, before = log(phi / last), log(last / oldest)
        if now < 0.0 < before:  # a rise is believed at once, a fall only when it goes on
            return 1.0
        change = LATEST * now + (1.0 - LATEST) * before
        # a v''' that turns round, as swinging errors do, has no trend
        shift = AHEAD * change * (1.0 if change > 0.0 else FALL)
        shift *= max(0.0, weighted_cosine(snap, last_snap, weight))
        return min(LIMIT, max(1.0 / LIMIT, exp(shift)))

    def append(self, phi: float, snap: Array | None) -> None:
        """Add an accepted step; without its v''', or without an error, the past ends there."""
        if snap is None or not 0.0 < phi < inf:
            self._past = []
        else:
            self._past = [*self._past[-1:], (phi, snap)]
