"""Linear systems: saddle points, dense or sparse, factorized once and solved many times.

Nothing here knows what the matrices mean. Dense systems go to LAPACK directly (getrf, getrs),
sparse ones to SuperLU. Systems that are solved again and again with other values are in `systems`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse

from genalpha.errors import SingularSystemError
from genalpha.kernels import DenseLU

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array
Solve = Callable[[Array], Array]

#: Pivots smaller than this, relative to the largest, count as zero.
SMALLEST_PIVOT = 1e-14
#: Singular values smaller than this, relative to the largest, count as zero.
SMALLEST_SINGULAR_VALUE = 1e-11
#: How often rows and columns are scaled before a matrix is called singular.
SCALINGS = 8
TINY = float(np.finfo(float).tiny)


class NotFiniteError(SingularSystemError):
    """The matrix holds NaN or infinity: some callback has returned it."""

    def __init__(self, message: str = "the matrix holds NaN or infinity") -> None:
        super().__init__(message)


def factorize(matrix: Matrix) -> Solve:
    """Return a function that solves with `matrix`.

    Raises
    ------
    SingularSystemError
        The matrix is singular to working precision, or holds NaN or infinity.
    """
    if not isinstance(matrix, np.ndarray):
        return sparse_lu(matrix).solve
    try:
        return dense_lu(matrix.copy())
    except SingularSystemError:
        return equilibrated_lu(matrix)


def dense_lu(matrix: Array) -> DenseLU:
    """Factorize a dense matrix, which must not be singular to working precision."""
    lu = DenseLU(matrix)
    # written so that NaN fails too
    if not lu.smallest > SMALLEST_PIVOT * lu.largest:
        raise _singular(lu.smallest, lu.largest)
    return lu


def equilibrated_lu(matrix: Array) -> Solve:
    """Factorize a dense matrix of very different units, which pivots alone take for singular.

    Rows and columns are scaled until the largest entry of each is about 1 (Ruiz 2001); whether the
    matrix is singular does not depend on units then. The scales are powers of 2, which cost no
    digits.
    """
    scaled, left, right = matrix.copy(order="F"), np.ones(len(matrix)), np.ones(len(matrix))
    if not np.isfinite(scaled).all():
        raise NotFiniteError()
    for _ in range(SCALINGS):
        size = np.abs(scaled)
        by_row, by_column = (_root(size.max(axis=axis, initial=0.0)) for axis in (1, 0))
        scaled /= by_row[:, None] * by_column
        left, right = left * by_row, right * by_column
    lu = dense_lu(scaled)

    def solve(b: Array) -> Array:
        wide = b.ndim == 2
        x = lu(b / (left[:, None] if wide else left))
        return np.asarray(x / (right[:, None] if wide else right))

    return solve


def _root(sizes: Array) -> Array:
    """Return square roots as powers of 2; 1 for zeros."""
    return np.where(sizes > 0.0, np.exp2(np.round(0.5 * np.log2(np.maximum(sizes, TINY)))), 1.0)


def sparse_lu(matrix: sparse.csc_array, **options: Any) -> Any:
    """Factorize a sparse matrix with SuperLU; `options` are those of `scipy.sparse.linalg.splu`."""
    if not np.isfinite(matrix.data).all():
        raise NotFiniteError()
    with warnings.catch_warnings():
        warnings.simplefilter("error", sparse.linalg.MatrixRankWarning)
        try:
            return sparse.linalg.splu(matrix, **options)
        except (RuntimeError, sparse.linalg.MatrixRankWarning) as error:
            raise SingularSystemError("the sparse matrix is exactly singular") from error


def smallest_pivot(matrix: sparse.csc_array) -> float:
    """Return the smallest pivot of a sparse matrix relative to the largest; 0 if it is singular.

    `factorize` does not look at the pivots of sparse matrices, because SuperLU gives them only
    with a copy of the whole factor.
    """
    try:
        pivots = np.abs(sparse_lu(matrix).U.diagonal())
    except SingularSystemError:
        return 0.0
    return float(pivots.min() / pivots.max())


def _singular(smallest: float, largest: float) -> SingularSystemError:
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        return NotFiniteError()
    return SingularSystemError(
        f"the matrix is singular: its smallest pivot is {smallest:.1e}, its largest {largest:.1e}"
    )


def least_squares(matrix: Matrix) -> Solve:
    """Return a function that solves in the sense of least squares, with the minimum norm.

    For systems that are singular but consistent; dense, and several times the cost of
    `factorize`.
    """
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    if not np.isfinite(dense).all():
        raise NotFiniteError()
    U, s, Vt = linalg.svd(dense, full_matrices=False)
    rank = int((s > SMALLEST_SINGULAR_VALUE * s.max(initial=0.0)).sum())
    U, s, Vt = U[:, :rank], s[:rank], Vt[:rank]
    return lambda right: Vt.T @ ((U.T @ right) / s)


def saddle(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
    """Return the matrix ::

        [ A  B ]
        [ C  0 ]

    dense in Fortran order (as LAPACK wants it) or sparse in CSC, as `A` is.
    """
    if sparse.issparse(A):
        return _sparse_saddle(A.tocsc(), B.tocsc(), C.tocsc())
    n, m = B.shape
    matrix = np.zeros((n + C.shape[0], n + m), order="F")
    matrix[:n, :n] = A
    matrix[:n, n:] = B
    matrix[n:, :n] = C
    return matrix


def _sparse_saddle(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
    """Return a sparse saddle, in half the time that `scipy.sparse.block_array` takes."""
    n, size = A.shape[0], A.shape[0] + C.shape[0]
    column_a, column_c = (np.repeat(np.arange(n), np.diff(x.indptr)) for x in (A, C))
    # in each of the first columns, the entries of A come first and those of C follow
    place_a = np.arange(A.nnz) + C.indptr[column_a]
    place_c = np.arange(C.nnz) + A.indptr[column_c + 1]
    left = A.nnz + C.nnz
    data, indices = np.empty(left + B.nnz), np.empty(left + B.nnz, dtype=A.indices.dtype)
    data[place_a], data[place_c], data[left:] = A.data, C.data, B.data
    indices[place_a], indices[place_c], indices[left:] = A.indices, n + C.indices, B.indices
    indptr = np.concatenate([A.indptr + C.indptr, left + B.indptr[1:]])
    return sparse.csc_array((data, indices, indptr), shape=(size, n + B.shape[1]))


def stack(upper: Matrix, lower: Matrix) -> Matrix:
    """Return one matrix on top of another, dense or sparse."""
    if not lower.shape[0]:
        return upper
    if not upper.shape[0]:
        return lower
    if sparse.issparse(upper):
        return sparse.vstack([upper, lower], format="csc")
    return np.vstack([upper, lower])


def row_lengths(matrix: Matrix) -> Array:
    """Return the Euclidean lengths of the rows; 1 for rows that are zero."""
    if sparse.issparse(matrix):
        csc = matrix.tocsc()
        squares = np.bincount(csc.indices, csc.data**2, minlength=csc.shape[0])
    else:
        squares = (matrix * matrix).sum(axis=1)
    if not squares.all():
        squares = np.where(squares == 0.0, 1.0, squares)
    return np.sqrt(squares)
