"""Columns of dF/dy and dF/dyd at the start of a residual: from the problem's `jac`, or by moving.

What a residual is must not rest on a `jac` that may be rough, or wrong. So its columns are taken
only where one call of F, with all of these unknowns moved at once, agrees with their product: as
exactly as F can tell, and where entries are not too small for that. Otherwise F is asked with one
unknown after the other moved.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np

from genalpha.assimulo.residual import Residual
from genalpha.kernels import norm
from genalpha.model.differences import EPS, scale
from genalpha.model.residual_blocks import LARGE, dense

Array = np.ndarray
Moves = dict[int, float]

#: How far all of y or yd are moved at once, relative to their size.
MOVE = 1e-5
#: Changes agree if they differ by no more than this part.
CLOSE = 1e-6
#: Products with columns in which F is linear differ by no more than this part.
EXACT = 1e-10
#: Products with gradients and central differences, which are no better, by no more than this.
NEAR = 1e-7
#: Step of differences of constraints.
STEP = float(np.sqrt(EPS))


class DoubtError(Exception):
    """Something is not as expected."""


@cache
def random_numbers(count: int) -> Array:
    """Return numbers between 0.5 and 1, the same ones every time."""
    return np.random.default_rng(1).uniform(0.5, 1.0, count)


def _moves(x: Array, which: Array, shares: Array) -> Moves:
    return dict(zip(which.tolist(), (scale(x[which]) * shares).tolist(), strict=True))


class Beside:
    """A residual beside its start.

    Attributes
    ----------
    base : array
        F at the start.
    """

    def __init__(self, F: Residual, t: float, y: Array, yd: Array) -> None:
        self.F, self.t, self.y, self.yd = F, t, y, yd
        self._drawn = 0  # so many random numbers have been used
        self.base = F(t, y, yd)

    def change(self, y: Moves | None = None, yd: Moves | None = None) -> Array:
        """Return the change of F when unknowns and rates are moved: one call."""
        moved = self.y.copy(), self.yd.copy()
        for x, moves in zip(moved, (y, yd), strict=True):
            for j, move in (moves or {}).items():
                x[j] += move
        rows = self.F.fresh(self.t, *moved)
        if rows.shape != self.base.shape:
            raise DoubtError
        if not norm(rows) < np.inf and not np.isfinite(rows).all():  # squares may be infinite
            raise DoubtError
        return rows - self.base

    def moves(self, x: Array, which: Array, size: float = MOVE) -> Moves:
        """Return moves of some components, each of its own size, other ones every time."""
        first, self._drawn = self._drawn, self._drawn + which.size
        return _moves(x, which, size * random_numbers(self._drawn)[first:])

    def apart(self, x: Array, which: Array, size: float = 1.0) -> Moves:
        """Return moves, each of its own size, which need not differ from those of another call."""
        return _moves(x, which, size * random_numbers(which.size))

    @cached_property
    def given(self) -> tuple[Any, Any] | None:
        """dF/dy and dF/dyd by two calls of `jac`; None if there is none, or none that is usable."""
        if not self.F.has_jacobian or not self.F.asks_jacobian:
            return None
        try:  # with c > 0, as everybody asks
            near, far = (self.F.jacobian(c, self.t, self.y, self.yd) for c in (1.0, LARGE))
        except Exception:  # it is the user's: Newton's iteration reports it, if it gets there
            return None
        is_finite = all(np.isfinite(dense(x)).all() for x in (near, far))
        if not is_finite or not near.shape[0] == far.shape[0] == self.base.size:
            return None
        by_yd = (far - near) / (LARGE - 1.0)
        return near - by_yd, by_yd


class Columns:
    """Where derivatives at the start come from.

    Parameters
    ----------
    beside : Beside
    """

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    def linear(self, part: str, moves: Moves, change: Array, rows: Array) -> Array:
        """Return changes of rows of F per unit of unknowns in which it should be linear.

        Parameters
        ----------
        part : "y" or "yd"
        moves : {unknown: float}
            How these unknowns, all of them, were moved once; far, compared with their size.
        change : array
            How F changed.
        rows : int array
        """
        beside, which = self._beside, np.array(list(moves), dtype=int)
        x = np.abs(getattr(beside, part)[which])
        table, told = self._agreed(part, moves, change, rows)
        steps = 2.0 ** np.ceil(np.log2(scale(x)))
        for i in np.flatnonzero(~told.all(axis=0)).tolist():
            table[:, i] = beside.change(**{part: {int(which[i]): steps[i]}})[rows] / steps[i]
        noise = 8.0 * EPS * (np.abs(beside.base[rows]) + np.abs(table) @ x)
        return np.where(np.abs(table) <= noise[:, None], 0.0, table)

    def _agreed(self, part: str, moves: Moves, change: Array, rows: Array) -> tuple[Array, Array]:
        """Return columns that were given, if they explain a change, and what it tells of them.

        Those that are so small that their product does not count might be anything.

        Returns
        -------
        table : (rows, unknowns) array
            Without rounding errors.
        told : (rows, unknowns) bool array
            Nothing if the columns do not explain the change.
        """
        which, d = np.array(list(moves), dtype=int), np.array(list(moves.values()))
        table = self._given(part, which, rows)
        if table is None:
            table = np.zeros((rows.size, which.size))
            return table, np.zeros_like(table, dtype=bool)
        x, sizes = getattr(self._beside, part)[which], np.abs(table)
        base = np.abs(self._beside.base[rows])
        allowed = EXACT * (sizes @ (np.abs(x) + d)) + 64.0 * EPS * base
        if not (np.abs(table @ d - change[rows]) <= allowed).all():
            return table, np.zeros_like(table, dtype=bool)
        noise = 8.0 * EPS * (base + sizes @ scale(x))
        table = np.where(sizes <= noise[:, None], 0.0, table)
        return table, (table == 0.0) | (sizes * d > allowed[:, None])

    def slopes(self, which: Array, rows: Array, seen: Array) -> Array:
        """Return derivatives of rows of F by some of y.

        Parameters
        ----------
        which, rows : int array
        seen : (rows,) bool array
            Whose derivatives are wanted; those of other rows may be wrong.
        """
        beside = self._beside
        if not seen.any():
            return np.zeros((rows.size, which.size))
        table = self._verified(which, rows, seen)
        if table is not None:
            return table
        steps = STEP * scale(beside.y[which])
        columns = [
            beside.change(y={j: step})[rows] / step
            for j, step in zip(which.tolist(), steps.tolist(), strict=True)
        ]
        return np.array(columns).T

    def _verified(self, which: Array, rows: Array, seen: Array) -> Array | None:
        """Return derivatives that were given, if a central difference agrees with them."""
        beside, table = self._beside, self._given("y", which, rows)
        if table is None:
            return None
        moves = beside.apart(beside.y, which, MOVE)
        ahead, behind = (
            beside.change(y={j: sign * d for j, d in moves.items()})[rows] for sign in (1.0, -1.0)
        )
        d, sizes = np.array(list(moves.values())), np.abs(table)
        rounding = 64.0 * EPS * (np.abs(beside.base[rows]) + sizes @ scale(beside.y[which]))
        wrong = np.abs(table @ d - 0.5 * (ahead - behind)) > NEAR * (sizes @ d) + rounding
        if (wrong & seen).any():
            return None
        moved = (ahead != 0.0) | (behind != 0.0)
        return np.where(moved[:, None], table, 0.0)

    def along(self, v: Array, q: Array, rows: Array, d: Array, change: Array) -> Array | None:
        """Return derivatives by velocities that are q' as well, if they explain a change.

        Parameters
        ----------
        v, q, rows : int array
        d : array
            How far all velocities, and q' with them, were moved once.
        change : array
            How these rows of F changed.
        """
        by_v, by_qdot = self._given("y", v, rows), self._given("yd", q, rows)
        if by_v is None or by_qdot is None:
            return None
        table, y = by_v + by_qdot, self._beside.y[v]
        sizes = np.abs(table)
        rounding = 64.0 * EPS * (np.abs(self._beside.base[rows]) + sizes @ scale(y))
        agree = np.abs(table @ d - change) <= NEAR * (sizes @ d) + rounding
        return table if agree.all() else None

    def with_rates(self) -> Array:
        """Return the unknowns whose rates appear."""
        beside, everything = self._beside, np.arange(self._beside.y.size)
        appear: Array = np.zeros(everything.size, dtype=bool)
        left: Array = everything
        if beside.given is not None:
            moves, rows = beside.apart(beside.yd, everything), np.arange(beside.base.size)
            table, told = self._agreed("yd", moves, beside.change(yd=moves), rows)
            appear = np.asarray(((table != 0.0) & told).any(axis=0))
            left = np.flatnonzero(~appear & ~told.all(axis=0))
        for j in left.tolist():
            appear[j] = beside.change(yd={j: 1.0}).any()
        return np.flatnonzero(appear)

    def _given(self, part: str, which: Array, rows: Array) -> Array | None:
        given = self._beside.given
        return None if given is None else dense(given[part == "yd"][:, which])[rows]
