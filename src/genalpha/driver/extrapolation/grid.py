"""A smooth grid: times t(x) of a number x in [0, 1], to be taken at x = i / m for any m.

Errors have expansions in the step size only where it changes smoothly, and a step that changes
abruptly excites transients of the schemes, which have none.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

Array = np.ndarray

#: Step sizes that differ by less than this factor are taken as equal.
WORTH_GRADING = 4.0
#: Step sizes are smoothed over this part of all steps, and at least over so many of them.
SMOOTHED_PART, SMOOTHED_STEPS = 0.03, 3.0
#: Points of the spline for each step of the run that it comes from.
FINENESS = 4


class SmoothGrid:
    """Times of m steps, for any m.

    Parameters
    ----------
    times : (s,) array
        Steps that suit the motion, for example those of an adaptive run at a loose tolerance.

    Attributes
    ----------
    is_equal : bool
        Whether steps are all of the same size, because those given differ too little.
    """

    def __init__(self, times: Array) -> None:
        self.t0, self.t_final = float(times[0]), float(times[-1])
        sizes = np.diff(times)
        width = max(SMOOTHED_STEPS, SMOOTHED_PART * sizes.size)
        smooth = gaussian_filter1d(np.log(np.abs(sizes)), width, mode="nearest")
        self.is_equal = bool(np.ptp(smooth) <= np.log(WORTH_GRADING)) or sizes.size < 8
        if not self.is_equal:
            middles = (np.arange(sizes.size) + 0.5) / sizes.size
            x = np.linspace(0.0, 1.0, FINENESS * sizes.size + 1)
            rate = CubicSpline(x, np.exp(np.interp(x, middles, smooth)))
            self._part = rate.antiderivative()
            self._whole = float(self._part(1.0))

    def times(self, steps: int) -> Array:
        """Return the times of so many steps, the start included; both ends are exact."""
        x = np.arange(steps + 1) / steps
        part = x if self.is_equal else self._part(x) / self._whole
        t = self.t0 + (self.t_final - self.t0) * part
        t[-1] = self.t_final
        return t
