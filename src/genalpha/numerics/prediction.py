"""A first guess of a step's unknowns, extrapolated from those of the last steps.

Every order of the extrapolation saves Newton's iteration a part of a correction, as long as the
motion is smooth. Where it has a kink, or the unknowns are noise, higher orders come to nothing:
`genalpha.kernels.extrapolated` takes the highest order that is still an improvement.

Generalized-alpha schemes answer every start and every change of the step size with an oscillation
of accelerations and multipliers, which dies out as (-rho)^k, k (-rho)^k, ..., where rho is the
spectral radius at infinity. A polynomial of degree p makes it 2^(p+1) times as large; so it is
extrapolated as what it is, where the steps are equal.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from genalpha.kernels import extrapolated

Array = np.ndarray

#: Steps that a polynomial goes through: one of degree 5 needs six.
SMOOTH = 6
#: Steps that are remembered: three more for the oscillation.
LENGTH = SMOOTH + 3
#: Steps are equal if they differ by no more than this part.
EQUAL = 1e-6
#: Times and unknowns of the last steps, the newest first.
Past: TypeAlias = tuple[tuple[float, Array], ...]
#: Stands for a past that nobody will ask for.
NOTHING: Past = ()


def extended(past: Past, t: float, x: Array) -> Past:
    """Return the past with one more step, and without what is too old."""
    return ((t, x), *past[: LENGTH - 1])


def predicted(past: Past, t: float, relation: tuple[float, ...] = ()) -> Array:
    """Return a guess of the unknowns at `t`.

    They may hold an oscillation with x_k + c_1 x_{k-1} + c_2 x_{k-2} + ... = 0, where `relation`
    is (c_1, c_2, ...).
    """
    if relation and len(past) >= SMOOTH and _are_equal(past, t):
        return extrapolated(past, t, relation)
    return extrapolated(past[:SMOOTH], t)


def _are_equal(past: Past, t: float) -> bool:
    """Tell whether all steps up to `t` have the same size."""
    pair = past[0]
    later = pair[0]
    h = t - later
    for i in range(1, len(past)):
        pair = past[i]
        earlier = pair[0]
        if abs(later - earlier - h) > EQUAL * abs(h):
            return False
        later = earlier
    return True
