"""The fixed sparsity pattern that scikit-sundae wants for a Jacobian."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.errors import UnsupportedProblemError

Array = np.ndarray


class Pattern:
    """Where a sparse Jacobian may be nonzero: wherever any of the samples stores an entry.

    Attributes
    ----------
    matrix : sparse.csc_array
        The pattern, in the index type of SUNDIALS.
    """

    def __init__(self, samples: Iterable[Any]) -> None:
        union: Any = 0
        for sample in samples:
            stored = sparse.csc_array(sample, copy=True)
            stored.data = np.ones(stored.nnz)  # zeros that are stored count
            union = union + stored if sparse.issparse(union) else stored
        union.sum_duplicates()
        self.matrix = sparse.csc_array(
            (union.data, union.indices.astype(np.int32), union.indptr.astype(np.int32)),
            shape=union.shape,
        )
        self._keys = self._places(self.matrix)

    @staticmethod
    def _places(matrix: sparse.csc_array) -> Array:
        """Number the entries by columns; ascending if the matrix is in canonical format."""
        columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
        return columns * matrix.shape[0] + matrix.indices

    def values(self, given: Any) -> Array:
        """Return the entries of a Jacobian in the order of the pattern."""
        given = sparse.csc_array(given)
        given.sum_duplicates()
        keys = self._places(given)
        place = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        known = self._keys[place] == keys
        outside = ~known & (given.data != 0)
        if outside.any():
            column, row = divmod(int(keys[outside][0]), given.shape[0])
            raise UnsupportedProblemError(
                f"jac is nonzero at [{row}, {column}], where it stored nothing at the start: "
                "store a zero there, or set linear_solver = 'DENSE'"
            )
        values = np.zeros(self._keys.size)
        values[place[known]] = given.data[known]
        return values
