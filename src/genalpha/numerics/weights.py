"""Error weights: what an error of a component counts, given tolerances."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray


def weights(atol: ArrayLike, rtol: float, x: Array, x_new: Array) -> Array:
    """Return atol + rtol max(|x|, |x_new|), component by component."""
    return np.asarray(atol + rtol * np.maximum(np.abs(x), np.abs(x_new)))


def weighted_norm(error: Array, weight: Array) -> float:
    """Return the root mean square of error / weight, as IDA and RADAU5 take it; 0 if empty."""
    if not error.size:
        return 0.0
    scaled = error / weight
    return sqrt(scaled.dot(scaled) / error.size)
