"""Consistent accelerations and multipliers of a residual, with as few calls as possible.

    M vdot - f - reaction = 0,    g'' = 0,    k' = 0

are solved by Newton's iteration with matrices that live as long as they contract. A correction
costs one call for the imbalance and two, beside the state along the motion, for g'' and k'.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from genalpha.errors import ConvergenceError
from genalpha.model.residual import Blocks, OneResidual
from genalpha.numerics.linear import Solve, factorize, saddle

Array = np.ndarray

#: A correction of this size, relative to accelerations or multipliers, is the last one: second
#: differences are no better.
ENOUGH = 1e-6
#: A start whose first correction is smaller than this is taken as it is.
NOTHING = 1e-8
#: A matrix that contracts worse than this is renewed.
SLOW = 0.1
MAX_ITERATIONS = 20


_known: WeakKeyDictionary[OneResidual, Accelerations] = WeakKeyDictionary()


def accelerations_of(whole: OneResidual) -> Accelerations:
    """Return what finds the accelerations of a residual."""
    found = _known.get(whole)
    if found is None:
        found = _known[whole] = Accelerations(whole, whole.start_vdot, whole.start_blocks)
    return found


class Accelerations:
    """Accelerations and multipliers of one residual; what is known of it is kept.

    Parameters
    ----------
    whole : OneResidual
    vdot : (n,) array
        A first guess.
    known : Blocks, optional
        M, G, K and the reactions' derivatives near the start.
    """

    def __init__(self, whole: OneResidual, vdot: Array, known: Blocks | None = None) -> None:
        self.whole, self.vdot = whole, vdot
        self._solve = None if known is None else self._factorized(known)
        self._last: tuple[tuple[float, bytes, bytes], tuple[Array, Array, Array]] | None = None

    @staticmethod
    def _factorized(blocks: Blocks) -> Solve:
        return factorize(saddle(blocks.A, blocks.R, np.vstack([blocks.G, blocks.K])))

    def __call__(
        self, name: str, t: float, q: Array, v: Array, lam: Array, psi: Array
    ) -> tuple[Array, Array, Array]:
        """Return vdot, lam, psi; `lam` and `psi` are guesses.

        Raises
        ------
        ConvergenceError, SingularSystemError
        """
        point = t, q.tobytes(), v.tobytes()
        if self._last is not None and self._last[0] == point:
            return self._last[1]
        found = self._solved(name, t, q, v, np.concatenate([self.vdot, lam, psi]))
        self._last, self.vdot = (point, found), found[0]
        return found

    def _solved(
        self, name: str, t: float, q: Array, v: Array, x: Array
    ) -> tuple[Array, Array, Array]:
        n, m = self.whole.n, self.whole.m
        last, fresh = np.inf, False
        for iteration in range(MAX_ITERATIONS):
            if self._solve is None:
                self._solve, fresh = self._factorized(self._blocks(t, q, v, x)), True
            d = self._solve(-self._imbalance(t, q, v, x))
            size = self._size(d, x)
            if not iteration and size <= NOTHING:
                return x[:n], x[n : n + m], x[n + m :]
            x, rate, last = x + d, size / last, size
            if size <= ENOUGH:
                return x[:n], x[n : n + m], x[n + m :]
            if not rate <= SLOW and not fresh:
                self._solve = None
        raise ConvergenceError(
            f"{name}: accelerations and multipliers at t = {t:g} not found in {MAX_ITERATIONS} "
            "iterations; give a better guess in y0 and yd0"
        )

    def _imbalance(self, t: float, q: Array, v: Array, x: Array) -> Array:
        n, m = self.whole.n, self.whole.m
        vdot = x[:n]
        at = self.whole.balance(t, q, v, vdot, x[n : n + m], x[n + m :])
        if x.size == n:
            return at.motion
        return np.concatenate([at.motion, *self.whole.acceleration_level(t, q, v, vdot, at)])

    def _size(self, d: Array, x: Array) -> float:
        n, size = self.whole.n, 0.0
        for part in (slice(0, n), slice(n, None)):
            if d[part].size:
                whole = float(np.max(np.abs(x[part]))) + float(np.max(np.abs(d[part])))
                size = max(size, float(np.max(np.abs(d[part]))) / (whole or 1.0))
        return size

    def _blocks(self, t: float, q: Array, v: Array, x: Array) -> Blocks:
        """Return M, G, K and reactions: three sweeps, because they are wanted apart."""
        n, m = self.whole.n, self.whole.m
        state = t, q, v, x[:n], x[n : n + m], x[n + m :]
        inertia = self.whole.blocks(*state, 1.0, 0.0, 0.0)
        of_position = self.whole.blocks(*state, 0.0, 1.0, 0.0)
        K = self.whole.blocks(*state, 0.0, 0.0, 1.0).K if self.whole.l else inertia.K
        return Blocks(inertia.A, of_position.G, K, of_position.R)
