"""True accelerations and multipliers (3.2) beside the steps of HHTI2, and guesses from them.

See `hhti2_residual`. They follow from g'', which calls a little ahead in the motion tell, and from
the reactions of the step. They are smooth whatever the step sizes are, unlike L0 and L1: what is
guessed for the next step is guessed by them.
"""

from __future__ import annotations

import numpy as np

from genalpha.kernels import combined, norm, part, plus, product, solution, stacked
from genalpha.model import Mechanism
from genalpha.model.residual_rates import CENTRAL
from genalpha.model.residual_rows import Balance
from genalpha.numerics.newton import Newton
from genalpha.numerics.prediction import Pasts
from genalpha.schemes.hht import NO_VECTOR
from genalpha.schemes.hhti2_corrections import Matrices, State, Unknowns
from genalpha.schemes.hhti2_following import MOST
from genalpha.schemes.hhti2_looks import SEEN, Looks
from genalpha.schemes.hhti2_old_reactions import CLEAR, OldReactions, Pair
from genalpha.schemes.scheme import Settings

Array = np.ndarray

# Judged on other mechanisms in docs/pages/residual_calls.md.
#: What reactions may be wrong by, in units of the accuracy wanted.
WRONG = 1.0
#: Where that accuracy is less than this, relative to the accelerations, this counts.
ACCURATE = 1e-4
#: If so many corrections were not enough, and the last one is more than this share of the one
#: before, the matrices are too old.
OLD, SLOW = 2, 0.3


class Shown(OldReactions):
    """What is shown of a step, and what is guessed of the next one.

    Attributes
    ----------
    shows : bool
        Whether true accelerations and multipliers come with the steps.
    lam0 : (m,) array
        The true multipliers at the start of the step.
    looks : Looks
        What is asked in the step.
    """

    looks: Looks

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        self.free_lam = self.whole.free_lam
        self.lam0 = self.zero = np.zeros(o.n_lam)
        self.shows = bool(o.n_lam) and self.variant == "end" and self.relative >= CENTRAL
        self.follows = self.shows
        if self.shows:
            self.past = Pasts(2 * o.n_q + o.n_lam)

    def _guess(self, s: State, guess: Array) -> None:
        """Guess the unknowns by what is smooth whatever the step sizes are.

        That is f, vdot and lam, and what L0 and L1 differ from lam at their instants, over h.
        """
        n, m, h, end = self.o.n_q, self.o.n_lam, self.h, 2 * self.o.n_q + self.o.n_lam
        vdot0, self.lam0 = part(s.kept, 2 * m, 2 * m + n), part(s.kept, 2 * m + n, 3 * m + n)
        R = self._reaction(vdot0, plus(s.f, 1.0, s.R))
        self.beside = Pair(plus(self.lam0, -1.0, self.old.L), R, s.doubt)
        f, vdot, lam = part(guess, 0, n), part(guess, n, 2 * n), part(guess, 2 * n, end)
        jerk = combined(1.0 / h, vdot, -1.0 / h, vdot0)
        self.looks = Looks(self.whole, self.t, h, vdot, lam, jerk, self.relative)
        a = combined(1.0 + self.alpha, f, -self.alpha, s.f)  # (3.4c)
        L0 = plus(self.lam0, h, part(guess, end, end + m))
        apart = part(guess, end + m, end + 2 * m)
        apart = combined(h, apart, 0.0, apart)
        L1, R0, R1 = plus(lam, 1.0, apart), s.R, self._reaction(vdot, f)
        if self.about.is_known:
            R0 = self._guess_of_reaction(L0, self.old, self.beside, self.t0, 0.0).R
            R1 = self._guess_of_reaction(L1, Pair(lam, R1, 0.0), None, self.t, 0.0).R
        self.unknowns = Unknowns(a, L0, L1, R0, R1)

    def _shown(
        self, x: Unknowns, q: Array, v: Array, f: Array, matrices: Matrices
    ) -> tuple[Array, Array, float]:
        """Return the true acceleration and multipliers (3.2), and what may be wrong with both.

        They are the predicted ones, corrected for g'' as it was seen, and for the reactions.
        """
        looks, about, n, m = self.looks, self.about, self.o.n_q, self.o.n_lam
        allowed = min(1.0, ACCURATE / self.relative) * WRONG * self._uncertainty(x.a, x.R1)
        vdot, lam, curvature = looks.vdot, looks.lam, looks.curvature
        # linear reactions to one multiplier are known without the matrix, which still serves G
        if m == 1 and self.whole.linear:
            about.learn(x.L1, x.R1, self.t)
        known = Pair(x.L1, x.R1, 0.0)
        guess = self._guess_of_reaction(lam, known, None, self.t, allowed)
        lack = product(matrices.inertia, combined(1.0, vdot, -1.0, f, -1.0, guess.R))
        last = 0.0
        for count in range(MOST):
            d = solution(matrices.velocity, stacked(-1.0, lack, -1.0, curvature))
            d_lam = part(d, n, n + m)
            vdot, lam = plus(vdot, 1.0, d), plus(lam, 1.0, d_lam)
            change = about.times(d_lam, self.t)
            guess = self._guess_of_reaction(lam, known, None, self.t, allowed)
            # what was asked for is known but for the last correction
            doubt = self._doubt(d_lam, change) if count else guess.doubt
            moved = norm(part(d, 0, n)) + norm(change)
            seen = looks.doubt(v) + self._age() * moved <= SEEN * allowed
            if seen and doubt <= allowed:
                break
            if count == OLD and moved > SLOW * last:
                matrices = self.newton.renewed(self)
            last = moved
            at = self._balance(q, v, vdot, lam)
            lack, curvature = at.motion, self.zero
            wrong = solution(matrices.mass, plus(lack, 0.0, lack))  # which overwrites its argument
            if norm(guess.change) > CLEAR * allowed:  # otherwise it is noise
                true = combined(1.0, vdot, -1.0, f, -1.0, wrong)
                true = combined(1.0, true, -1.0, guess.R, 1.0, guess.change)
                about.learn(guess.left, true, self.t)
            if not seen:
                looks.look_again(q, v, vdot, at)
                curvature = looks.curvature
        return vdot, lam, doubt

    def _balance(self, q: Array, v: Array, vdot: Array, lam: Array) -> Balance:
        return self.whole.balance(self.t, q, v, vdot, lam, NO_VECTOR)
