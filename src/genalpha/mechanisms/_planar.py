"""Planar bodies in absolute coordinates, with constraints that are linear but for angles.

Every joint of the planar mechanisms here is a set of scalar rows

    g_r(q) = sum_j C_rj q_j + sum_e (a_e cos q_b(e) + b_e sin q_b(e)) - d_r,

the second sum over the entries e of row r: each is one point of a body turned by the angle
coordinate b(e). Hence G_rb = -a sin + b cos, g'' holds -(a cos + b sin) v_b^2, and the
stiffness of the reaction is diagonal. All rows are evaluated at once, without loops.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from genalpha.mechanisms._build import Matrix, Vector


class TrigonometricRows:
    """Rows of the form above, collected one by one or in arrays, then frozen.

    Parameters
    ----------
    n : number of coordinates
    linear : (rows, columns, values) of C, each pair once
    turning : (rows, columns, a, b) of the entries e, each pair once and none of C's pairs
    offset : d, as long as there are rows
    is_sparse : whether matrices are `scipy.sparse.csc_array`
    """

    def __init__(
        self,
        n: int,
        linear: Sequence[ArrayLike],
        turning: Sequence[ArrayLike],
        offset: ArrayLike,
        is_sparse: bool = False,
    ) -> None:
        self.offset = np.asarray(offset, dtype=float)
        self.n, self.m = n, self.offset.size
        lin_rows, lin_columns = (np.asarray(x, dtype=int) for x in linear[:2])
        self.rows, self.columns = (np.asarray(x, dtype=int) for x in turning[:2])
        self.a, self.b = (np.asarray(x, dtype=float) for x in turning[2:])
        values = np.asarray(linear[2], dtype=float)
        shape = (self.m, n)
        linear_part = sparse.csr_array((values, (lin_rows, lin_columns)), shape=shape)
        self.linear: Matrix = linear_part if is_sparse else linear_part.toarray()
        self.is_sparse = is_sparse
        if is_sparse:
            self._store_pattern(lin_rows, lin_columns, values)

    def _store_pattern(self, rows: Vector, columns: Vector, values: Vector) -> None:
        """Find once where in the data of a csc matrix each entry of G goes."""
        order = np.arange(1, values.size + self.a.size + 1)
        all_rows, all_columns = np.append(rows, self.rows), np.append(columns, self.columns)
        pattern = sparse.csc_array((order, (all_rows, all_columns)), shape=(self.m, self.n))
        where = np.empty(order.size, dtype=int)
        where[pattern.data - 1] = np.arange(order.size)
        self._pattern = pattern
        self._data = np.zeros(order.size)
        self._data[where[: values.size]] = values
        self._moving = where[values.size :]

    def _turned(self, q: Vector) -> tuple[Vector, Vector]:
        """Return cosine and sine of each entry's angle."""
        angle = q[self.columns]
        return np.cos(angle), np.sin(angle)

    def value(self, q: Vector) -> Vector:
        """Return g."""
        c, s = self._turned(q)
        linear: Vector = self.linear @ q - self.offset
        return linear + self._per_row(self.a * c + self.b * s)

    def _per_row(self, entries: Vector) -> Vector:
        return np.bincount(self.rows, weights=entries, minlength=self.m)

    def jacobian(self, q: Vector) -> Matrix:
        """Return G."""
        c, s = self._turned(q)
        slope = self.b * c - self.a * s
        if not self.is_sparse:
            matrix = self.linear.copy()
            matrix[self.rows, self.columns] = slope
            return matrix
        data = self._data.copy()
        data[self._moving] = slope
        shape = (self.m, self.n)
        return sparse.csc_array((data, self._pattern.indices, self._pattern.indptr), shape=shape)

    def rate(self, q: Vector, v: Vector) -> Vector:
        """Return G v without building G."""
        c, s = self._turned(q)
        linear: Vector = self.linear @ v
        return linear + self._per_row((self.b * c - self.a * s) * v[self.columns])

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """Return g_qq(v, v)."""
        c, s = self._turned(q)
        return -self._per_row((self.a * c + self.b * s) * v[self.columns] ** 2)

    def geometric(self, q: Vector, lam: Vector) -> Vector:
        """Return the diagonal of d(G^T lam)/dq."""
        c, s = self._turned(q)
        weights = -(self.a * c + self.b * s) * lam[self.rows]
        return np.bincount(self.columns, weights=weights, minlength=self.n)


class PlanarModel:
    """Bodies with a diagonal mass, a constant load and trigonometric constraint rows."""

    def __init__(self, masses: ArrayLike, load: ArrayLike, rows: TrigonometricRows) -> None:
        self.masses = np.asarray(masses, dtype=float)
        self.load = np.asarray(load, dtype=float)
        self.rows = rows
        self.mass = self.diagonal(self.masses)
        self._no_damping = self.diagonal(np.zeros(self.masses.size))

    def diagonal(self, entries: Vector) -> Matrix:
        """Return a diagonal matrix, of the kind that all matrices of this model are."""
        if not self.rows.is_sparse:
            return np.diag(entries)
        n = entries.size
        index = np.arange(n)
        return sparse.csc_array((entries, index, np.arange(n + 1)), shape=(n, n))

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        return self.load.copy()

    def holonomic(self, t: float, q: Vector) -> Vector:
        return self.rows.value(q)

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        return self.rows.jacobian(q)

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return self.rows.rate(q, v)

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return self.rows.acceleration(q, v)

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return self.diagonal(self.rows.geometric(q, lam))

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return self._no_damping

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        return float(0.5 * v @ (self.masses * v) - self.load @ q)


class RowBuilder:
    """Collects rows for small mechanisms, one joint at a time."""

    def __init__(self) -> None:
        self.linear: list[tuple[int, int, float]] = []
        self.turning: list[tuple[int, int, float, float]] = []
        self.offset: list[float] = []

    def row(
        self,
        linear: Sequence[tuple[int, float]],
        turning: Sequence[tuple[int, float, float]],
        offset: float = 0.0,
    ) -> None:
        """Add sum c q_j + sum (a cos q_b + b sin q_b) = offset."""
        r = len(self.offset)
        self.linear += [(r, column, value) for column, value in linear]
        self.turning += [(r, column, a, b) for column, a, b in turning]
        self.offset.append(offset)

    def point(
        self,
        linear: Sequence[tuple[int, float]],
        turning: Sequence[tuple[int, float, float]],
        offset: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Add two rows: sum c (q_j, q_j+1) + sum R(q_b) (px, py) = offset."""
        self.row(linear, [(b, px, -py) for b, px, py in turning], offset[0])
        self.row(
            [(column + 1, value) for column, value in linear],
            [(b, py, px) for b, px, py in turning],
            offset[1],
        )

    def rows(self, n: int) -> TrigonometricRows:
        """Return the collected rows, for n coordinates, dense."""
        return TrigonometricRows(
            n, list(zip(*self.linear, strict=True)), list(zip(*self.turning, strict=True)),
            self.offset,
        )  # fmt: skip
