"""Solving with the mass matrix; a constant one is factorized once per mechanism."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from genalpha.model import Mechanism
from genalpha.numerics.linear import Matrix, Solve, factorize

_constant: WeakKeyDictionary[Mechanism, Solve] = WeakKeyDictionary()


def mass_solver(o: Mechanism, t: float, q: np.ndarray) -> Solve:
    """Return a function that solves with M(t, q)."""
    if o.constant_mass is None:
        return factorize(o.mass(t, q))
    known = _constant.get(o)
    if known is None:
        known = _constant[o] = _constant_solver(o.constant_mass)
    return known


def _constant_solver(matrix: Matrix) -> Solve:
    """Factorize a constant mass matrix; with a sparse diagonal one, solving is a division."""
    if sparse.issparse(matrix):
        diagonal = matrix.diagonal()
        is_diagonal = matrix.count_nonzero() == np.count_nonzero(diagonal) == diagonal.size
        if is_diagonal and np.isfinite(diagonal).all():
            return lambda right: right / diagonal
    return factorize(matrix.copy())
