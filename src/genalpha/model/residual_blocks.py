"""Matrices of a residual: derivatives along the scheme's own directions, with few calls.

They are combined from the problem's `jac`, or differenced, one call per unknown, or one per group
of unknowns that no row has in common. Parts that are linear (vdot, lam, psi) are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from genalpha.kernels import plus, zeros
from genalpha.model.differences import EPS, Groups, scale

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
        # groups in use, and those of the pattern, if they are worth it
        self._groups: Groups | None = None
        self._worth: Groups | None = None
        self._pattern: Array | None = None
        self._last_setup = np.nan
        #: When the last complete matrix was made, and how fast G turns, relative to its size.
        self.made, self.turning = np.nan, 0.0
        self._G: Array | None = None

    @property
    def cost(self) -> int:
        """Calls for the next matrix, beside the one that the iteration makes anyway."""
        whole = self.whole
        if whole.jacobian is not None and whole.uses_jacobian:
            return 1
        columns = whole.n if self._groups is None else len(self._groups.columns)
        return int(columns + (0 if whole.ideal is not None else whole.m + whole.l))

    def note(self, t: float, G: Array) -> None:
        """Note the G of a complete matrix."""
        before, elapsed = self._G, abs(t - self.made)
        if before is not None and elapsed > 0.0:
            self.turning = float(np.abs(G - before).max(initial=0.0)) / elapsed
            self.turning /= float(np.abs(G).max(initial=0.0)) or 1.0
        self.made, self._G = t, G

    def _parts(self, D: Array, cq: float, cv: float) -> tuple[Array, Array, Array]:
        """Return the rows of the imbalance, and the gradients of g and k."""
        places = self.whole.places
        motion = places.signs[:, None] * D[places.motion]
        return motion, D[places.position] / (cq or 1.0), D[places.velocity] / (cv or 1.0)

    def differenced(self, state: tuple[Any, ...], ca: float, cq: float, cv: float) -> Blocks:
        """Return blocks by differences; `state` is (t, q, v, vdot, lam, psi)."""
        whole, (t, q, v, vdot, lam, psi) = self.whole, state
        base = whole.rows(*state)
        whole.remember(state, base)
        whole.F.matrix_calls -= 1  # the iteration that follows has it
        sizes = self._sizes(q, v, vdot, cq, cv)
        complete = bool(ca and cq and cv)  # other sweeps do not see all that depends on each other
        columns = self._columns(t) if complete else [[j] for j in range(whole.n)]
        found = np.empty((len(columns), base.size))
        for i, members in enumerate(columns):
            d = zeros(whole.n)
            d[members] = sizes[members]
            moved = plus(q, cq, d), plus(v, cv, d), plus(vdot, ca, d)
            found[i] = whole.rows(t, *moved, lam, psi)
        found -= base
        if len(columns) < whole.n and self._groups is not None:
            D = self._groups.dense(found, sizes)
        else:
            D = found.T / sizes
        if complete and len(columns) == whole.n:
            self._learn(D)
        A, G, K = self._parts(D, cq, cv)
        if complete:
            self.note(t, G)
        return Blocks(A, G, K, self._reactions(state, base, G, K))

    @staticmethod
    def _sizes(q: Array, v: Array, vdot: Array, cq: float, cv: float) -> Array:
        """Return how far unknowns are moved: q and v within the range where F is nearly linear."""
        if not cq and not cv:  # linear
            return scale(vdot)
        sizes = np.minimum(scale(q) / max(abs(cq), TINY), scale(v) / max(abs(cv), TINY))
        return np.asarray(np.sqrt(EPS) * sizes)

    def _columns(self, t: float) -> list[Any]:
        """Return the columns to be differenced together; one by one again if groups failed."""
        again, self._last_setup = t == self._last_setup, t
        if again:
            self._groups = None
        if self._groups is not None:
            return list(self._groups.columns)
        return [[j] for j in range(self.whole.n)]

    def _learn(self, D: Array) -> None:
        """Group columns by where derivatives have been seen so far."""
        seen = D != 0.0
        if self._pattern is not None:
            seen |= self._pattern
        if self._pattern is None or not np.array_equal(seen, self._pattern):
            self._pattern, groups = seen, Groups(sparse.csc_array(seen))
            worth = len(groups.columns) <= WORTH_GROUPING * self.whole.n
            self._worth = groups if worth else None
        self._groups = self._worth

    def _reactions(self, state: tuple[Any, ...], base: Array, G: Array, K: Array) -> Array:
        """Return the imbalance's derivative by the multipliers."""
        whole = self.whole
        if whole.ideal is not None:
            return np.asarray(np.concatenate([G, K]).T * whole.ideal)
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
        t, y, yd = state[0], *whole.state(*state[1:])
        one = bool(ca and cv) and not whole.uses_rates
        c = ca / cv if one else LARGE
        J = dense(whole.jacobian(c, t, y, yd))
        D = cv * J[:, places.v] + cq * J[:, places.q]
        if not one:
            J0 = dense(whole.jacobian(0.0, t, y, yd))
            by_rates = (J - J0) / c
            D = cv * J0[:, places.v] + cq * J0[:, places.q]
            D = D + ca * by_rates[:, places.v] + cv * by_rates[:, places.q]
        A, G, K = self._parts(D, cq, cv)
        if ca and cq and cv:
            self.note(t, G)
        R = places.signs[:, None] * J[np.ix_(places.motion, self._multipliers)]
        return Blocks(A, G, K, R)


def dense(matrix: Matrix) -> Array:
    """Return a matrix as an array."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)
