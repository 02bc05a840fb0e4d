"""Consistent accelerations and multipliers of a residual, with as few calls as possible.

    M vdot - f - reaction = 0,    g'' = 0,    k' = 0

are solved by Newton's iteration with matrices that live as long as they contract. A correction
costs one call for the imbalance and two, beside the state along the motion, for g'' and k'.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.errors import ConvergenceError, SingularSystemError
from genalpha.kernels import largest, part, plus, solution, stacked, zeros
from genalpha.model.residual import OneResidual
from genalpha.model.residual_blocks import Blocks
from genalpha.numerics.linear import Solve, factorize, saddle
from genalpha.numerics.secants import Secants

Array = np.ndarray

#: A correction of this size, relative to accelerations or multipliers, is the last one: differences
#: are no better.
ENOUGH = 1e-7
#: The same of values that are only shown, if Newton's iteration is not less accurate.
ROUGHLY = 1e-6
#: Errors of differences are smaller than this.
NOISE = 1e-4
#: A start whose first correction is smaller than this is taken as it is.
NOTHING = 1e-8
#: Accelerations below this share of the coordinates (per unit of time squared) are no measure of a
#: correction: at rest, without any force, they are 0, and corrections are errors of differences.
AT_REST = 1e-6
#: A matrix that contracts worse than this is renewed.
SLOW = 0.3
#: Contraction that is not believed to be better than this of the next point.
BELIEVED = 0.01
MAX_ITERATIONS = 20
#: So many of the last points are remembered: a start is come back to after a look beside it, and
#: after each first step that was too long, whose end is asked for twice.
REMEMBERED = 4
#: An iteration matrix larger than this many times the mass is one of stiff forces: M is no part of
#: it that could be told.
STIFF = 3.0


def accelerations_of(whole: OneResidual) -> Accelerations:
    """Return what finds the accelerations of a residual."""
    found: Accelerations | None = whole.accelerations
    if found is None:
        found = Accelerations(whole, whole.start_vdot, whole.start_blocks)
        whole.accelerations = found
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
        # what the matrices have missed
        self._secants, self._unit = Secants(learns=True), 1.0
        self._blocks, self._solve = known, None if known is None else self._factorized(known)
        self._mass: tuple[Array | None, Solve | SingularSystemError] | None = None
        # the last points, how accurate they were to be, and what was found there
        self._last: list[tuple[tuple[Any, ...], float, Array]] = []
        self._past: list[tuple[float, Array]] = []
        # contraction of the last corrections; 1 is "unknown"
        self._rate = 1.0
        #: The smallest correction of values that are only shown.
        self.roughly = ROUGHLY

    def _factorized(self, blocks: Blocks) -> Solve:
        self._secants.renew()
        reactions = largest(blocks.R)
        self._unit = largest(blocks.A) / reactions if reactions else 1.0
        return factorize(saddle(blocks.A, blocks.R, np.vstack([blocks.G, blocks.K])))

    def __call__(
        self,
        name: str,
        t: float,
        q: Array,
        v: Array,
        lam: Array,
        psi: Array,
        enough: float = 0.0,
    ) -> tuple[Array, Array, Array]:
        """Return vdot, lam, psi; `lam` and `psi` are guesses.

        They are found to a relative accuracy that is `enough`, or as good as differences are.

        Raises
        ------
        ConvergenceError, SingularSystemError
        """
        n, m = self.whole.n, self.whole.m
        point, enough = (t, q.tobytes(), v.tobytes(), self.whole.changes), max(enough, ENOUGH)
        known = next((k for k in self._last if k[0] == point and k[1] <= enough), None)
        if known is None:
            guess = self._guess(t, np.concatenate([self.vdot, lam, psi]))
            known = point, enough, self._solved(name, t, q, v, guess, enough)
            self._past = [*self._past[-2:], (t, known[2])]
        # those that are asked for again are remembered longest
        others = [k for k in self._last if k is not known]
        self._last, x = [*others[1 - REMEMBERED :], known], known[2]
        self.vdot = x[:n]
        return self.vdot, x[n : n + m], x[n + m :]

    def _guess(self, t: float, x: Array) -> Array:
        """Extrapolate the last ones, if they are not far away."""
        return extrapolated(self._past, t, x)

    def _solved(self, name: str, t: float, q: Array, v: Array, x: Array, enough: float) -> Array:
        last, fresh = np.inf, False
        rate, n, weight = 1.0, self.whole.n, 1.0 / self._unit**2
        self._take_latest()
        self._secants.begin()
        for iteration in range(MAX_ITERATIONS):
            if self._solve is None:
                self._solve, fresh = self._factorized(self._apart(t, q, v, x)), True
            d = solution(self._solve, self._imbalance(t, q, v, x, enough))
            d = self._secants.accelerated(-d, n, weight, t)
            size = self._size(d, x, AT_REST * max(1.0, largest(q)))
            if not iteration and size <= NOTHING:
                return x
            rate = size / last if iteration else self._rate
            x, last = plus(x, 1.0, d), size
            if iteration:
                rate = max(rate, min(self._secants.missed, 0.5))
                self._rate = max(rate, BELIEVED)
            # corrections that no longer become smaller are errors of the differences
            if size <= enough or (iteration > 1 and size <= NOISE and rate > 0.3):
                return x
            if rate / (1.0 - rate) * size <= enough if rate < 0.5 else False:
                if not iteration:
                    self._rate **= 0.8  # one correction tells nothing new
                return x
            if not rate <= SLOW and iteration and not fresh:
                self._solve = None
        raise ConvergenceError(
            f"{name}: accelerations and multipliers at t = {t:g} not found in {MAX_ITERATIONS} "
            "iterations; give a better guess in y0 and yd0"
        )

    def _take_latest(self) -> None:
        """Take over the matrices of the last iteration matrix."""
        if self.whole.latest is not None and self.whole.latest is not self._blocks:
            self._blocks = self.whole.latest
            self._solve = self._factorized(self._blocks)

    def solve(self, right: Array) -> Array:
        """Solve with M, the reactions' derivatives, G and K as they were known last."""
        self._take_latest()
        assert self._solve is not None  # an iteration has been there
        return self._solve(right)

    def mass_solver(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Solve:
        """Return what solves with the mass, or with one that was right a little earlier.

        Raises
        ------
        SingularSystemError
            The mass is singular; of one matrix, that is found out once.
        """
        constant, latest = self.whole.constant_mass, self.whole.latest
        near = constant if constant is not None or latest is None else latest.A
        if self._mass is None or self._mass[0] is not near:
            M = self.whole.mass(t, q, v, lam, psi) if near is None else near
            try:
                solve: Solve | SingularSystemError = factorize(M)
            except SingularSystemError as error:
                solve = error.with_traceback(None)
            self._mass = near, solve
        solve = self._mass[1]
        if isinstance(solve, SingularSystemError):
            raise type(solve)(*solve.args)
        return solve

    def _imbalance(self, t: float, q: Array, v: Array, x: Array, enough: float) -> Array:
        n, m = self.whole.n, self.whole.m
        vdot = part(x, 0, n)
        at = self.whole.balance(t, q, v, vdot, part(x, n, n + m), part(x, n + m, x.size))
        if x.size == n:
            return at.motion
        g, k = self.whole.acceleration_level(t, q, v, vdot, at, enough)
        return stacked(1.0, at.motion, 1.0, g, 1.0, k)

    def _size(self, d: Array, x: Array, least: float) -> float:
        """Return the size of a correction relative to accelerations, or to what reactions make.

        Multipliers are accelerations in units of mass over gradient; either may be zero, and both
        are taken for `least` then.
        """
        n = self.whole.n
        change = largest(d[:n])
        whole = largest(x[:n]) + change
        if x.size > n:
            of_reactions = largest(d[n:]) / self._unit
            whole = max(whole, largest(x[n:]) / self._unit + of_reactions)
            change = max(change, of_reactions)
        return float(change / max(whole, least))

    def _apart(self, t: float, q: Array, v: Array, x: Array) -> Blocks:
        """Return M, G, K and reactions: three sweeps, because they are wanted apart."""
        n, m = self.whole.n, self.whole.m
        state = t, q, v, x[:n], x[n : n + m], x[n + m :]
        inertia = self.whole.blocks(*state, 1.0, 0.0, 0.0)
        of_position = self.whole.blocks(*state, 0.0, 1.0, 0.0)
        K = self.whole.blocks(*state, 0.0, 0.0, 1.0).K if self.whole.l else inertia.K
        return Blocks(inertia.A, of_position.G, K, of_position.R)


def about_mass(
    whole: OneResidual,
    found: Array,
    t: float,
    q: Array,
    v: Array,
    a: Array,
    n_states: int = 0,
    lam: Array | None = None,
) -> Array:
    """Return about M(t, q): the constant one, if M a verifies it, or an iteration matrix.

    `found` is the matrix over its weight of M, of which M is the main part unless forces are stiff.
    The last `n_states` velocities are first-order states, whose part of M does not change much.
    """
    lam, psi = zeros(whole.m) if lam is None else lam, zeros(whole.l)
    if whole.constant_mass is not None:
        # the differences have been at the same point, with accelerations, and with these `lam`
        moving = whole.split(whole.recalled((t, q, v, a, lam, psi))).motion
        if whole.verify_mass(t, q, v, (a, moving), np.zeros(whole.n), lam, psi):
            return whole.constant_mass
    known = None if whole.start_blocks is None else whole.start_blocks.A
    if known is not None and n_states:  # whose rates may be stiff while the forces are not
        k, found = found.shape[0] - n_states, found.copy()
        found[k:], found[:k, k:] = known[k:], known[:k, k:]
    if known is None or largest(found) <= STIFF * largest(known):
        return found
    return whole.mass(t, q, v, lam, psi)


def show_roughly(whole: OneResidual, relative: float) -> None:
    """Let what is only shown have the accuracy of Newton's iteration."""
    accelerations_of(whole).roughly = max(ROUGHLY, relative)


def extrapolated(past: list[tuple[float, Array]], t: float, otherwise: Array) -> Array:
    """Return what the parabola (or line) through the last values has at t, unless it is far."""
    if len(past) < 2:
        return otherwise
    (t0, x0), (t1, x1) = past[-2:]
    ahead, between = t - t1, t1 - t0
    if not 0.0 < ahead * between <= 4.0 * between**2:
        return otherwise
    slope = (x1 - x0) / between
    line = np.asarray(x1 + ahead * slope)
    if len(past) < 3:
        return line
    t2, x2 = past[-3]
    before = t0 - t2
    if not 0.0 < before / between < 4.0:
        return line
    return np.asarray(line + ahead * (t - t0) * (slope - (x0 - x2) / before) / (t1 - t2))
