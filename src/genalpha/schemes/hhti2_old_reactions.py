"""What is known of the reaction at the start of a step of HHTI2 on a residual: R0 of (3.4d).

See `hhti2_residual`. R0 = r(t0, q0, L0) is known for L1 of the last step, and for the true
multiplier there: every L0 is near to a combination of both, and with a single constraint it is a
multiple of each. For the difference, there is a matrix that learns; where that might be too wrong,
the residual is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genalpha.kernels import combined, norm, part, plus, product, scalar_product, solution
from genalpha.model import Mechanism
from genalpha.model.learnt import Learnt
from genalpha.model.residual import OneResidual
from genalpha.numerics.newton import Newton
from genalpha.schemes.hht import NO_VECTOR
from genalpha.schemes.hhti2_corrections import Corrections, Matrices, Unknowns
from genalpha.schemes.scheme import Settings

Array = np.ndarray

# Judged on other mechanisms in docs/pages/residual_calls.md.
#: What R0 may be wrong by, in units of the accuracy wanted: more than other reactions, because it
#: moves q1 by h^2 only, and v1 in directions that the projection takes away.
WRONG_BEFORE = 3.0
#: A reaction that is known to multipliers, or to a difference, is believed of so many times them.
BELIEVED = 4.0
#: Reactions are learnt from where they are more than this, in units of the accuracy wanted.
CLEAR = 10.0


@dataclass
class Pair:
    """A multiplier at q0, its reaction, and what may be wrong with that."""

    L: Array
    R: Array
    doubt: float


@dataclass
class Guess:
    """A reaction as far as it is known, and what may be wrong with it.

    `change` is the part that the matrix has told, for the difference `left` of multipliers.
    """

    R: Array
    left: Array
    change: Array
    doubt: float


class OldReactions(Corrections):
    """Reactions at q0, and about how they follow multipliers.

    Attributes
    ----------
    old : Pair
        The last multiplier that was asked for at q0.
    beside : Pair or None
        A difference from it that is known.
    about : Learnt
        About how R follows L.
    turned, turned_then : float
        How much G has turned since the last matrix, relative to its size; and a step later.
    """

    whole: OneResidual
    old: Pair
    beside: Pair | None

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        assert o.whole is not None
        self.whole, self.n_moving, self.n_states = o.whole, o.n_moving, o.n_states
        self.about, self.turned, self.turned_then, self.t0 = Learnt(), 0.0, 0.0, 0.0
        self.beside = None

    def _guess_of_reaction(
        self, L: Array, old: Pair, beside: Pair | None, t: float, error: float
    ) -> Guess:
        """Return the reaction to L without asking, from those to others at the same place.

        They are linear in the multipliers, but for a few. `error` is what may be wrong with what
        was asked for.
        """
        about = self.about
        left, R, doubt = plus(L, -1.0, old.L), old.R, old.doubt
        square = scalar_product(old.L, old.L)
        if not self.whole.linear:
            square, beside = 0.0, None
        if square:
            c = scalar_product(left, old.L) / square
            if abs(c) <= BELIEVED:
                left, R = plus(left, -c, old.L), plus(R, c, old.R)
                doubt += abs(c) * (old.doubt + error)
        if beside is not None:
            c = scalar_product(beside.L, old.L) / square if square else 0.0
            across = plus(beside.L, -c, old.L)
            square = scalar_product(across, across)
            d = scalar_product(left, across) / square if square else 0.0
            if abs(d) <= BELIEVED:
                left = plus(left, -d, across)
                R = combined(1.0, R, d, beside.R, -d * c, old.R)
                doubt += abs(d) * beside.doubt
        change = about.times(left, t)
        doubt += self._doubt(left, change)
        return Guess(plus(R, 1.0, change), left, change, doubt)

    def _doubt(self, left: Array, change: Array) -> float:
        """Return what may be wrong with a change of the reaction that the matrix tells."""
        doubt = self.about.doubt(left, change, self._age())
        return doubt if self.whole.linear else doubt + norm(change)

    def _with_old_reaction(self, x: Unknowns, matrices: Matrices) -> Unknowns:
        """Return the unknowns with R0 = r(t0, q0, L0) (3.4d); q1 moves with it."""
        if not self.o.n_lam:
            return x
        error = self._uncertainty(x.a, x.R0)
        guess = self._guess_of_reaction(x.L0, self.old, self.beside, self.t0, error)
        R0 = guess.R
        if guess.doubt > WRONG_BEFORE * error:
            vdot = plus(self.f0, 1.0, R0)
            at = self.whole.balance(self.t0, self.q0, self.v0, vdot, x.L0, NO_VECTOR)
            d = solution(matrices.mass, self._of_moving(at.motion, R0, matrices))
            R0 = plus(R0, -1.0, d)
            if norm(guess.change) > CLEAR * error:  # otherwise it is noise
                self.about.learn(guess.left, plus(guess.change, -1.0, d), self.t0)
            self.old, self.beside = Pair(x.L0, R0, self.about.off * norm(d)), None
        return Unknowns(x.a, x.L0, x.L1, R0, x.R1)

    def _of_moving(self, lack: Array, R: Array, matrices: Matrices) -> Array:
        """Return what (3.4d) lacks: for states M R alone, because no constraint reacts on them."""
        k = self.n_moving
        if not self.n_states:
            return lack
        found = lack.copy()
        found[k:] = product(matrices.inertia, R)[k:]
        return found

    def _reaction(self, vdot: Array, f: Array) -> Array:
        """Return vdot - f; no constraint reacts on states."""
        R = plus(vdot, -1.0, f)
        if self.n_states:
            R[self.n_moving :] = 0.0
        return R

    def _uncertainty(self, a: Array, R: Array) -> float:
        """Return how accurate reactions are: as Newton's iteration is; rates of states aside."""
        k = self.n_moving
        return self.relative * max(norm(part(a, 0, k)), norm(part(R, 0, k)))

    def _note_age(self) -> None:
        turned = self.whole.derivatives.turned
        self.turned, self.turned_then = turned(self.t), turned(self.t + self.h)

    def _age(self) -> float:
        """Return how far matrices are off, relative to them."""
        return max(self.about.off, self.turned)
