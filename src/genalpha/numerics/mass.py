"""Solving with the mass matrix; a constant one is factorized once per mechanism."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.linear import Matrix, Solve, factorize

_constant: WeakKeyDictionary[Mechanism, Mass] = WeakKeyDictionary()


class Mass(NamedTuple):
    """A mass matrix, and a function that solves with it."""

    matrix: Matrix
    solve: Solve


def mass_and_solver(o: Mechanism, t: float, q: np.ndarray) -> Mass:
    """Return M(t, q), and a function that solves with it."""
    if o.constant_mass is None:
        matrix = o.mass(t, q)
        return Mass(matrix, factorize(matrix.copy()))
    known = _constant.get(o)
    if known is None:
        known = _constant[o] = Mass(o.constant_mass, factorize(o.constant_mass.copy()))
    return known


def mass_solver(o: Mechanism, t: float, q: np.ndarray) -> Solve:
    """Return a function that solves with M(t, q)."""
    return mass_and_solver(o, t, q).solve
