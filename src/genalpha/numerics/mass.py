"""Solving with the mass matrix; a constant one is factorized once per mechanism, if at all."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from genalpha.errors import SingularSystemError
from genalpha.model import Mechanism
from genalpha.numerics.linear import Matrix, Solve, factorize

_constant: WeakKeyDictionary[Mechanism, Solve | SingularSystemError] = WeakKeyDictionary()


def mass_solver(o: Mechanism, t: float, q: np.ndarray) -> Solve:
    """Return a function that solves with M(t, q).

    Raises
    ------
    SingularSystemError
        M is singular; of a constant one, that is found out once.
    """
    if o.constant_mass is None:
        return factorize(o.mass(t, q))
    known = _constant.get(o)
    if known is None:
        try:
            known = _constant_solver(o.constant_mass)
        except SingularSystemError as error:
            known = error.with_traceback(None)
        _constant[o] = known
    if isinstance(known, SingularSystemError):
        raise type(known)(*known.args)
    return known


def _constant_solver(matrix: Matrix) -> Solve:
    """Factorize a constant mass matrix; with a sparse diagonal one, solving is a division."""
    if sparse.issparse(matrix):
        diagonal = matrix.diagonal()
        is_diagonal = matrix.count_nonzero() == np.count_nonzero(diagonal) == diagonal.size
        if is_diagonal and np.isfinite(diagonal).all():
            return lambda right: right / diagonal
    return factorize(matrix.copy())
