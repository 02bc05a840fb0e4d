"""Solving with the mass matrix; a constant one is factorized once per mechanism."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.linear import Solve, factorize

_constant: WeakKeyDictionary[Mechanism, Solve] = WeakKeyDictionary()


def mass_solver(o: Mechanism, t: float, q: np.ndarray) -> Solve:
    """Return a function that solves with M(t, q)."""
    if o.constant_mass is None:
        return factorize(o.mass(t, q).copy())
    if o not in _constant:
        _constant[o] = factorize(o.constant_mass.copy())
    return _constant[o]
