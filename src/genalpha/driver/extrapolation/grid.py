"""A smooth grid: times t(x) of a number x in [0, 1], to be taken at x = i / m for any m.

Errors have expansions in the step size only as far as the step size itself is a smooth function of
x, and a step that changes abruptly excites transients of the schemes, which have none. So t(x) is
analytic: the logarithm of the step size is a sum of a few cosines, of which the quick ones fade.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.polynomial import chebyshev

Array = np.ndarray

#: Step sizes that differ by less than this factor are taken as equal: where they differ little,
#: equal steps are better, because expansions on them have smaller coefficients. (Andrews' squeezer,
#: 13: equal steps take 0.6 times the work; a motor that drives a slider-crank, 25: 2 to 4 times.)
WORTH_GRADING = 20.0
#: Cosines: so many, and at most one for so many steps; the j-th fades as exp(-(2 j / count)^2).
COSINES, STEPS_PER_COSINE = 6, 4
#: Degree of the polynomial that stands for the step size, which makes its integral exact.
DEGREE = 64


class SmoothGrid:
    """Times of m steps, for any m.

    Parameters
    ----------
    times : (s,) array
        Steps that suit the motion, for example those of an adaptive run at a loose tolerance.
    worth : float, optional
        Sizes that differ by less than this factor are taken as equal.

    Attributes
    ----------
    is_equal : bool
        Whether steps are all of the same size, because those given differ too little.
    """

    def __init__(self, times: Array, worth: float = WORTH_GRADING) -> None:
        self.t0, self.t_final = float(times[0]), float(times[-1])
        sizes = np.abs(np.diff(times))
        count = min(COSINES, sizes.size // STEPS_PER_COSINE)
        self.is_equal = count < 2
        if not self.is_equal:
            size = _smooth(np.log(sizes), count)
            seen = size(np.linspace(0.0, 1.0, 4 * sizes.size))
            self.is_equal = bool(seen.max() <= worth * seen.min())
        if not self.is_equal:
            rate = chebyshev.Chebyshev.interpolate(size, DEGREE, [0, 1])
            self._part = rate.integ(lbnd=0.0)
            self._whole = float(self._part(1.0))

    def times(self, steps: int) -> Array:
        """Return the times of so many steps, the start included; both ends are exact."""
        x = np.arange(steps + 1) / steps
        part = x if self.is_equal else self._part(x) / self._whole
        t = self.t0 + (self.t_final - self.t0) * part
        t[0], t[-1] = self.t0, self.t_final
        return np.asarray(t)


def _smooth(logs: Array, count: int):  # type: ignore[no-untyped-def]
    """Return the smoothed step size as a function of x."""
    j = np.arange(count)
    coefficients = scipy.fft.dct(logs, type=2)[:count] / logs.size
    coefficients[1:] *= np.exp(-((2.0 * j[1:] / count) ** 2))
    coefficients[0] *= 0.5
    return lambda x: np.exp(2.0 * np.cos(np.pi * np.multiply.outer(x, j)) @ coefficients)
