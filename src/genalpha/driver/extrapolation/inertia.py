"""Where the mass matrix becomes singular on the way, as at poles of angles.

Euler angles of a body that passes their pole, or a disk that lies flat: the motion goes on smoothly
if constraints determine what has no mass, and so do schemes that solve with mass and constraints
together. HHTI2 needs M^-1 by itself: M^-1 f has a pole beside the motion.
"""

from __future__ import annotations

import numpy as np
import scipy

from genalpha.kernels import DenseLU
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Osculating
from genalpha.numerics.linear import Matrix, smallest_pivot

Array = np.ndarray
Way = tuple[Array, Array, Array]  # times, q and v there: shapes (s,), (s, n), (s, n)

#: Where the smallest pivot is less than this part of the largest one on the way, it may be about to
#: vanish; below the second it has vanished.
SMALL, NOTHING = 0.1, 1e-6
#: Its place is found to this part of a step: it vanishes with the square of the distance.
NEAR = 1e-4


def singular_at(o: Mechanism, way: Way) -> float | None:
    """Return when the mass matrix becomes singular on the way of a loose run, or None."""
    if o.constant_mass is not None:
        return None
    times, q, v = way
    unit = np.abs(_diagonal(o.mass(float(times[0]), q[0])))
    unit = 1.0 / np.sqrt(np.where(unit > 0.0, unit, 1.0))
    pivots = np.array([_pivot(o.mass(float(t), x), unit) for t, x in zip(times, q, strict=True)])
    least = scipy.ndimage.minimum_filter1d(pivots, 3, mode="nearest")
    for i in np.flatnonzero((pivots == least) & (pivots < SMALL * pivots.max())).tolist():
        near = slice(max(i - 1, 0), i + 2)
        path = Osculating(times[near], q[near], v[near])
        low, high = sorted((float(times[near][0]), float(times[near][-1])))
        found = scipy.optimize.minimize_scalar(
            lambda t, path=path: _pivot(o.mass(t, path.at(t)), unit),
            bounds=(low, high),
            method="bounded",
            options={"xatol": NEAR * (high - low)},
        )
        if found.fun < NOTHING * pivots.max():
            return float(found.x)
    return None


def _diagonal(mass: Matrix) -> Array:
    return np.asarray(mass.diagonal())


def _pivot(mass: Matrix, unit: Array) -> float:
    """Return the smallest pivot of a mass matrix in the units of the start."""
    if not isinstance(mass, np.ndarray):
        return smallest_pivot(mass)
    return float(DenseLU(np.asfortranarray(unit[:, None] * mass * unit)).smallest)
