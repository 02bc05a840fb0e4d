"""Saddle point systems that are solved again and again: assembled in place, factorized, solved.

An iteration matrix is built of blocks, and each block is a sum of terms, coefficient times matrix::

    [ A    R_1  R_2 ... ]
    [ J_1   0    0      ]
    [ J_2   0    0      ]

Where the values go is worked out once and kept while the blocks' patterns stay the same. `Systems`
holds one system for every name that a scheme gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from genalpha.errors import SingularSystemError
from genalpha.kernels import assembled, largest, largest_of_rows, product, same, scattered
from genalpha.numerics.linear import (
    Array,
    Matrix,
    NotFiniteError,
    Solve,
    dense_lu,
    equilibrated_lu,
    sparse_lu,
)

Terms: TypeAlias = Sequence[tuple[float, Matrix]]
Placed: TypeAlias = list[tuple[int, int, float, Matrix]]

LINEAR_SOLVERS = ("auto", "dense", "sparse", "superlu", "klu")
#: Sparse systems up to this size are solved faster by LAPACK (measured with the chain, see
#: docs/pages/theory/newton.md).
SMALL = 60
#: Dense matrices from this size on are worth a look at how many entries are zero, and are treated
#: as sparse if no more than this part is not.
LARGE, SPARSE_ENOUGH = 200, 0.05
#: A solution of KLU with a larger relative residual than this is none.
WORST_RESIDUAL = 1e-6


class Transposed:
    """The transpose of a sparse matrix (CSC), which is the same arrays read by rows."""

    __slots__ = ("data", "indices", "indptr", "shape")
    format = "csr"

    def __init__(self, matrix: sparse.csc_array) -> None:
        self.data, self.indices, self.indptr = matrix.data, matrix.indices, matrix.indptr
        self.shape = matrix.shape[::-1]

    def toarray(self) -> Array:
        """Return the matrix as a dense one."""
        return sparse.csr_array((self.data, self.indices, self.indptr), self.shape).toarray()


def transposed(matrix: Matrix) -> Matrix:
    """Return the transpose, as a term of a block; nothing is copied."""
    return matrix.T if isinstance(matrix, np.ndarray) else Transposed(matrix)


def size_of(terms: Terms) -> float:
    """Return a bound of the largest entry of a sum."""
    return sum([abs(c) * largest(matrix) for c, matrix in terms])


def row_sizes(terms: Terms) -> Array:
    """Return a bound of the largest entry of each row of a sum."""
    c, matrix = terms[0]
    sizes = largest_of_rows(matrix)
    if c != 1.0:
        sizes *= abs(c)
    for c, matrix in terms[1:]:
        sizes += abs(c) * largest_of_rows(matrix)
    return sizes


class Systems:
    """The systems of an integration, by name.

    Parameters
    ----------
    method : {"auto", "dense", "sparse", "superlu", "klu"}
        "auto" (default) chooses by size and density; "sparse" is KLU where it is installed.
    """

    def __init__(self, method: str = "auto") -> None:
        self.method = method.lower()
        self._systems: dict[str, DenseSystem | SparseSystem] = {}

    def factorize(self, name: str, A: Terms, R: Sequence[Terms], J: Sequence[Terms]) -> Solve:
        """Assemble and factorize a system; return what solves with it.

        Parameters
        ----------
        name : str
            Of the system; its patterns are expected to stay the same.
        A : terms, (n, n)
        R : sequence of terms
            Blocks beside each other, (n, m_1), (n, m_2), ...
        J : sequence of terms
            Blocks below each other, (m_1, n), (m_2, n), ...; together as many as R's columns.

        Raises
        ------
        SingularSystemError
        """
        blocks, size = _placed(A, R, J)
        system = self._systems.get(name)
        if system is None:
            system = self._systems[name] = self._chosen(blocks, size)
        return system.factorize(blocks)

    def _chosen(self, blocks: Placed, size: int) -> DenseSystem | SparseSystem:
        is_sparse = any(not isinstance(matrix, np.ndarray) for _, _, _, matrix in blocks)
        method = self.method
        if method == "auto":
            small = size <= SMALL or not (is_sparse or _mostly_zero(blocks, size))
            method = "dense" if small else "sparse"
        if method == "sparse":
            method = "klu" if klu() else "superlu"
        return DenseSystem(size) if method == "dense" else SparseSystem(size, method)


def _placed(A: Terms, R: Sequence[Terms], J: Sequence[Terms]) -> tuple[Placed, int]:
    """Return all terms with the row and column where they begin, and the size of the whole."""
    n = A[0][1].shape[0]
    blocks: Placed = [(0, 0, c, matrix) for c, matrix in A]
    column = row = n
    for terms in R:
        blocks += [(0, column, c, matrix) for c, matrix in terms]
        column += terms[0][1].shape[1]
    for terms in J:
        blocks += [(row, 0, c, matrix) for c, matrix in terms]
        row += terms[0][1].shape[0]
    return [block for block in blocks if 0 not in block[3].shape], row


def _mostly_zero(blocks: Placed, size: int) -> bool:
    if size < LARGE:
        return False
    return sum(int(np.count_nonzero(block[3])) for block in blocks) <= SPARSE_ENOUGH * size**2


class DenseSystem:
    """Assembled in Fortran order, for LAPACK."""

    def __init__(self, size: int) -> None:
        self.size = size

    def factorize(self, blocks: Placed) -> Solve:
        """Assemble and factorize."""
        dense = [
            (row, column, c, matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
            for row, column, c, matrix in blocks
        ]
        try:
            return dense_lu(assembled(self.size, dense))
        except SingularSystemError:
            return equilibrated_lu(assembled(self.size, dense))


class SparseSystem:
    """Assembled in CSC; the places of all values, and the order of the columns, are kept.

    Parameters
    ----------
    size : int
    method : {"superlu", "klu"}
    """

    def __init__(self, size: int, method: str) -> None:
        self.size, self.method = size, method
        self._seen: list[tuple[Array, Array]] = []
        self._order: Array | None = None

    def factorize(self, blocks: Placed) -> Solve:
        """Assemble and factorize."""
        parts = [
            (row, column, c, sparse.csc_array(matrix) if isinstance(matrix, np.ndarray) else matrix)
            for row, column, c, matrix in blocks
        ]
        if not self._knows(parts):
            self._order = None
            self._lay_out(parts)
        terms = [(c, matrix.data) for _, _, c, matrix in parts]
        data = scattered(self._matrix.data.size, self._places, terms)
        if not np.isfinite(data).all():
            raise NotFiniteError()
        self._matrix.data = data
        return self._klu() if self.method == "klu" else self._superlu(parts)

    def _knows(self, parts: Placed) -> bool:
        """Tell whether all blocks have the patterns that they had."""
        return len(parts) == len(self._seen) and all(
            same(matrix.indptr, indptr) and same(matrix.indices, indices)
            for (_, _, _, matrix), (indptr, indices) in zip(parts, self._seen, strict=True)
        )

    def _lay_out(self, parts: Placed) -> None:
        """Find the pattern of the whole, and the place of every value of every block in it."""
        self._seen = [(matrix.indptr.copy(), matrix.indices.copy()) for _, _, _, matrix in parts]
        rows, columns = [], []
        for row, column, _, matrix in parts:
            inner = matrix.indices
            outer = np.repeat(np.arange(matrix.indptr.size - 1), np.diff(matrix.indptr))
            by_rows = matrix.format == "csr"
            rows.append(row + (outer if by_rows else inner))
            columns.append(column + (inner if by_rows else outer))
        outer = np.concatenate(columns).astype(np.int64)
        if self._order is not None:
            position = np.empty(self.size, dtype=np.int64)
            position[self._order] = np.arange(self.size)
            outer = position[outer]
        keys, self._places = np.unique(
            outer * self.size + np.concatenate(rows), return_inverse=True
        )
        indptr = np.searchsorted(keys, np.arange(self.size + 1) * self.size)
        # csc_matrix, because KLU's binding takes no other
        self._matrix = sparse.csc_matrix(
            (np.zeros(keys.size), (keys % self.size).astype(np.int32), indptr.astype(np.int32)),
            shape=(self.size, self.size),
        )

    def _superlu(self, parts: Placed) -> Solve:
        """Factorize with SuperLU, whose order of the columns is found once.

        Panels of one column suit the narrow factors of mechanisms: half the time.
        """
        if self._order is None:
            lu = sparse_lu(self._matrix, relax=1, panel_size=1)
            self._order = np.argsort(lu.perm_c)
            self._lay_out(parts)  # for the next time
            return lu.solve
        lu, order = (
            sparse_lu(self._matrix, permc_spec="NATURAL", relax=1, panel_size=1),
            self._order,
        )

        def solve(right: Array) -> Array:
            x = np.empty_like(right)
            x[order] = lu.solve(right)
            return x

        return solve

    def _klu(self) -> Solve:
        """Factorize with KLU, and try the result: its binding says nothing when it fails."""
        lu = klu()(self._matrix)
        right = np.ones(self.size)
        x = lu.solve(right)
        residual = largest(product(self._matrix, x) - right)
        scale = 1.0 + largest(self._matrix) * largest(x)
        # written so that NaN fails too
        if not residual <= WORST_RESIDUAL * scale:
            raise SingularSystemError(f"the sparse matrix is singular: residual {residual:.1e}")
        return lu.solve


@cache
def klu() -> Any:
    """Return KLU's class if PyKLU is installed, otherwise None."""
    try:
        from PyKLU import Klu  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return None
    return Klu
