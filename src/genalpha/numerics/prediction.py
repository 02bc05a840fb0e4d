"""A first guess of a step's unknowns, extrapolated from those of the last steps.

Every order of the extrapolation saves Newton's iteration a part of a correction, as long as the
motion is smooth. Where it has a kink, or the unknowns are noise, higher orders come to nothing:
`genalpha.kernels.extrapolated` takes the highest order that is still an improvement.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from genalpha.kernels import extrapolated

Array = np.ndarray

#: Steps that are remembered: a quartic needs five.
LENGTH = 5
#: Times and unknowns of the last steps, the newest first.
Past: TypeAlias = tuple[tuple[float, Array], ...]
#: Stands for a past that nobody will ask for.
NOTHING: Past = ()


def extended(past: Past, t: float, x: Array) -> Past:
    """Return the past with one more step, and without what is too old."""
    return ((t, x), *past[: LENGTH - 1])


def predicted(past: Past, t: float) -> Array:
    """Return a guess of the unknowns at `t`."""
    return extrapolated(past, t)
