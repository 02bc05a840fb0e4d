"""Matrices of a residual: derivatives along the scheme's own directions, with few calls.

They are combined from the problem's `jac`, or differenced, one call per unknown, or one per group
of unknowns that no row has in common. Parts that are linear (vdot, lam, psi) are exact.
Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from genalpha.kernels import (
    increments,
    largest,
    largest_change,
    plus,
    row_times,
    rows_at,
    summed,
)
from genalpha.model.differences import EPS, scale
from genalpha.model.residual_rows import factors, indices
from genalpha.model.staying import Staying, Together

if TYPE_CHECKING:
    from genalpha.model.residual import OneResidual

Array = np.ndarray
Matrix = Any

#: Factor c in dF/dyd = (jac(c) - jac(0)) / c: so large that dF/dy costs dF/dyd no digits.
LARGE = 2.0**40
#: Columns are differenced in groups if these are no more than this part of the columns.
WORTH_GROUPING = 0.7
#: Stands for 0 in quotients, without overflow.
TINY = 1e-200
ROOT_EPS = float(np.sqrt(EPS))
#: Rounding may make G wrong by this share of it, in an iteration matrix.
ROUGH = 1e-3
#: Columns stay that change F by no more than this part, and what rounding may change relative to q.
SAME, ROUNDING = 1e-6, 16.0 * EPS


@dataclass
class Blocks:
    """Derivatives along weights ca, cq, cv of (vdot, q, v), see `OneResidual.blocks`.

    Attributes
    ----------
    A : (n, n)
        ca M + cq Kt + cv Ct.
    G : (m, n)
        dg/dq.
    K : (l, n)
        dk/dv + cq / cv dk/dq.
    R : (n, m + l)
        Derivative of the imbalance by (lam, psi).
    """

    A: Matrix
    G: Matrix
    K: Matrix
    R: Matrix


class Derivatives:
    """What finds the blocks of one residual; patterns that were seen are kept.

    Parameters
    ----------
    whole : OneResidual
    """

    def __init__(self, whole: OneResidual) -> None:
        self.whole, places = whole, whole.places
        self._multipliers = np.concatenate([places.lam, places.psi])
        self._motion, self._position = indices(places.motion), indices(places.position)
        self._velocity = indices(places.velocity)
        self._signs = None if (places.signs == 1.0).all() else factors(places.signs)
        self._alone = Together(np.eye(whole.n))
        # columns that are differenced together, and those of the pattern, if they are worth it
        self._together = self._worth = self._alone
        self._pattern: Array | None = None
        # whether more of the pattern might still be worth something
        self._learns = True
        self._last_setup = np.nan
        looked_at = np.concatenate([places.motion, places.position, places.velocity])
        self._staying = Staying(indices(looked_at))
        # when the last complete matrix was made, its G and the one before, that much earlier
        self._made, self._elapsed = np.nan, 0.0
        self._G: Array | None = None
        self._before: Array | None = None
        # how fast G turns, relative to its size
        self._turning = 0.0

    @property
    def cost(self) -> int:
        """Calls for the next matrix, beside the one that the iteration makes anyway."""
        whole = self.whole
        if whole.jacobian is not None and whole.uses_jacobian:
            return 1
        count = (self._staying.together or self._together).count
        return count + (0 if whole.ideal is not None else whole.m + whole.l)

    def note(self, t: float, G: Array) -> None:
        """Note the G of a complete matrix."""
        before, elapsed = self._G, t - self._made
        if before is not None and abs(elapsed) > 0.0:
            self._before, self._elapsed = before, elapsed
            self._turning = largest_change(G, before) / abs(elapsed) / (largest(G) or 1.0)
        self._made, self._G = t, G

    @property
    def is_turning_known(self) -> bool:
        """Whether there were two complete matrices, which tell how fast G turns."""
        return self._before is not None

    def turned(self, t: float) -> float:
        """Return how much G has turned since the last complete matrix, relative to its size."""
        return float(self._turning * abs(t - self._made))

    def gradient(self, t: float) -> Array:
        """Return about G, if it goes on turning since the last complete matrix as it did before."""
        assert self._G is not None
        if self._before is None:
            return self._G
        c = (t - self._made) / self._elapsed
        return summed(1.0 + c, self._G, -c, self._before)

    def _parts(self, D: Array, cq: float, cv: float) -> tuple[Array, Array, Array]:
        """Return the rows of the imbalance, and the gradients of g and k."""
        return (
            rows_at(D, self._motion, 1.0, self._signs),
            rows_at(D, self._position, cq or 1.0),
            rows_at(D, self._velocity, cv or 1.0),
        )

    def differenced(self, state: tuple[Any, ...], ca: float, cq: float, cv: float) -> Blocks:
        """Return blocks by differences; `state` is (t, q, v, vdot, lam, psi)."""
        whole, (t, q, v, vdot, lam, psi) = self.whole, state
        base = whole.rows(t, q, v, vdot, lam, psi)
        whole.remember(state, base)
        whole.F.matrix_calls -= 1  # the iteration that follows has it
        sizes = self._sizes(q, v, vdot, cq, cv)
        if ca and cq and cv:  # other sweeps do not see all that depends on each other
            D = self._complete(state, base, sizes, ca, cq, cv)
        else:
            alone = self._alone
            D = alone.placed(self._moved(alone, state, sizes, ca, cq, cv), base, sizes)
        A, G, K = self._parts(D, cq, cv)
        if ca and cq and cv:
            self.note(t, G)
        return Blocks(A, G, K, self._reactions(state, base, G, K))

    def _complete(
        self, state: tuple[Any, ...], base: Array, sizes: Array, ca: float, cq: float, cv: float
    ) -> Array:
        """Return all derivatives; columns that stay need not be differenced again."""
        together, staying = self._chosen(state[0]), self._staying
        if staying.learns:
            units = self._units(ca, cq, cv)
            doubts = SAME * sizes + ROUNDING / cq * scale(state[1])
        if staying.together is not None:
            rows = self._moved(staying.together, state, sizes, ca, cq, cv)
            found = staying.completed(rows, base, units, sizes, doubts)
            if found is not None:
                return found
        D = together.placed(self._moved(together, state, sizes, ca, cq, cv), base, sizes)
        learns = self._learns and together is self._alone
        settled = self._learn(D) if learns else True
        if staying.learns:
            staying.learn(D, units, sizes, doubts, self._together if settled else None)
        return D

    def _moved(
        self,
        together: Together,
        state: tuple[Any, ...],
        sizes: Array,
        ca: float,
        cq: float,
        cv: float,
    ) -> list[Array]:
        """Return F with one group of unknowns after the other moved."""
        whole, (t, q, v, vdot, lam, psi) = self.whole, state
        found = []
        for i in range(together.count):
            d = row_times(together.members, i, sizes)
            moved = plus(q, cq, d), plus(v, cv, d), plus(vdot, ca, d)
            found.append(whole.rows(t, *moved, lam, psi))
        return found

    def _units(self, ca: float, cq: float, cv: float) -> Array:
        """Return the weights of M in the imbalance, of G and of K, row by row."""
        n, m = self._motion.shape[0], self._position.shape[0]
        return np.repeat([ca, cq, cv], [n, m, self._velocity.shape[0]])

    def _sizes(self, q: Array, v: Array, vdot: Array, cq: float, cv: float) -> Array:
        """Return how far unknowns are moved: q and v within the range where F is nearly linear.

        In a very short step v would move out of it long before q moves by more than rounding, and G
        would be noise. Then it moves so far that G is not: what is not linear in v is small there.
        """
        if not cq and not cv:  # linear
            return scale(vdot)
        least = ROOT_EPS / ROUGH if cq and cv and self.whole.m else 0.0
        return increments(q, v, cq, cv, ROOT_EPS, least, TINY)

    def _chosen(self, t: float) -> Together:
        """Return the columns to be differenced together; one by one again if groups failed."""
        again, self._last_setup = t == self._last_setup, t
        if again:
            self._together = self._alone
            self._staying.forget()
        return self._together

    def _learn(self, D: Array) -> bool:
        """Group columns by where derivatives have been seen so far; tell whether there are no more.

        At a start, some may be zero by chance, or by symmetry: groups are trusted once a second
        matrix has shown no more.
        """
        seen = D != 0.0
        if self._pattern is not None:
            seen |= self._pattern
            if np.array_equal(seen, self._pattern):
                self._together = self._worth
                return True
        self._pattern, self._worth = seen, self._grouped(seen)
        return not self._learns

    def _grouped(self, seen: Array) -> Together:
        """Return groups of columns that share no row, or all of them alone."""
        most = WORTH_GROUPING * self.whole.n
        if np.count_nonzero(seen, axis=1).max(initial=0) > most:
            self._learns = False  # all of this row are in groups of their own, and will be
            return self._alone
        colour = _colours(seen)
        count = int(colour.max(initial=-1)) + 1
        if count > most:
            return self._alone
        return Together((np.arange(count)[:, None] == colour).astype(float), colour, seen)

    def _reactions(self, state: tuple[Any, ...], base: Array, G: Array, K: Array) -> Array:
        """Return the imbalance's derivative by the multipliers."""
        whole = self.whole
        if whole.ideal is not None:
            J = np.concatenate([G, K]) if whole.l else G
            return np.asarray(J.T * whole.ideal)
        t, q, v, vdot, lam, psi = state
        x = np.concatenate([lam, psi])
        step = np.maximum(1.0, np.abs(x)) * (1.0 if whole.linear else np.sqrt(EPS))
        columns = []
        for j in range(x.size):
            moved = x.copy()
            moved[j] += step[j]
            rows = whole.rows(t, q, v, vdot, moved[: whole.m], moved[whole.m :])
            columns.append(whole.split(rows - base).motion / step[j])
        return np.array(columns).reshape(x.size, whole.n).T

    def from_jacobian(self, state: tuple[Any, ...], ca: float, cq: float, cv: float) -> Blocks:
        """Combine columns of dF/dy + c dF/dyd with the c for which they are ours."""
        whole, places = self.whole, self.whole.places
        assert whole.jacobian is not None
        t, (y, yd) = state[0], whole.state(*state[1:])
        one = bool(ca and cv) and not whole.uses_rates
        c = ca / cv if one else LARGE
        J = dense(whole.jacobian(c, t, y, yd))
        D = cv * J[:, places.v] + cq * J[:, places.q]
        if not one:
            J0 = dense(whole.jacobian(0.0, t, y, yd))
            by_rates = (J - J0) / c
            D = cv * J0[:, places.v] + cq * J0[:, places.q]
            D = D + ca * by_rates[:, places.v] + cv * by_rates[:, places.q]
        A, G, K = self._parts(np.ascontiguousarray(D), cq, cv)
        if ca and cq and cv:
            self.note(t, G)
        R = places.signs[:, None] * J[np.ix_(places.motion, self._multipliers)]
        return Blocks(A, G, K, R)


def _colours(seen: Array) -> Array:
    """Colour columns greedily (Curtis, Powell, Reid 1974): those of a colour share no row."""
    marks = seen.astype(float)
    meet, colour = marks.T @ marks != 0.0, np.full(seen.shape[1], -1)
    for j in range(colour.size):
        taken, free = set(colour[meet[j]].tolist()), 0
        while free in taken:
            free += 1
        colour[j] = free
    return colour


def dense(matrix: Matrix) -> Array:
    """Return a matrix as an array."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)
