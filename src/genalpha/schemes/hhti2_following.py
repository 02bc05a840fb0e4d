"""True accelerations and multipliers (3.2) at the ends of adaptive steps of HHTI2.

See `hhti2` for the paper and the notation. What a step itself has of them is rough: L0 and L1 are
of first order, and differ from the multipliers by as much as h lam'. So velocities have, in each
step, an error that is many times that of a generalized-alpha scheme where forces and reactions are
large beside the accelerations that they leave (something that spins fast), and that changes with
h. Step sizes that follow differences of such velocities never settle, and unknowns extrapolated
over changing steps are far off.

True accelerations and multipliers follow from q1, v1 and g'' alone, and are smooth whatever the
step sizes are. Step sizes follow them, and the next unknowns are guessed by them.
"""

from __future__ import annotations

import numpy as np

from genalpha.kernels import add, called, combined, norm, part, plus, product, solution, stacked
from genalpha.model import Mechanism
from genalpha.numerics.local_error import History, TrueHistory, VelocityHistory
from genalpha.numerics.newton import Newton, NotFiniteCorrectionError
from genalpha.numerics.prediction import Pasts
from genalpha.schemes.hhti2_newton import Holonomic, Matrices, Unknowns
from genalpha.schemes.scheme import Settings

Array = np.ndarray

#: True accelerations and multipliers are corrected so many times at most.
MOST = 4
#: The last of these corrections is no more than this, in units of the accuracy wanted.
NEAR = 0.1


class Following(Holonomic):
    """What follows true accelerations and multipliers.

    Attributes
    ----------
    follows : bool
        Whether it does; where g'' is differenced, it would cost more than it saves.
    lam0 : (m,) array
        The true multipliers at the start of the step.
    """

    lam0: Array

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        is_known = "holonomic_acceleration" in o.given
        self.follows = is_known and o.n_lam > 0 and settings.steps == "adaptive"
        if self.follows:
            self.past = Pasts(2 * o.n_q + o.n_lam)

    def history(self, t: float, v: Array, vdot: Array) -> History:
        """See `Scheme`."""
        return TrueHistory(t, vdot) if self.follows else VelocityHistory(t, v, vdot)

    def guess(self) -> Unknowns:
        """Guess from f, vdot and lam, and from what L0 and L1 differ from lam by, over h."""
        if not self.follows:
            return Holonomic.guess(self)
        n, m, h, end = self.o.n_q, self.o.n_lam, self.h, 2 * self.o.n_q + self.o.n_lam
        guess = self.past.predicted(self.t)
        self.guessed = part(guess, n, end)
        f, vdot, lam = part(guess, 0, n), part(guess, n, 2 * n), part(guess, 2 * n, end)
        apart0, apart1 = part(guess, end, end + m), part(guess, end + m, end + 2 * m)
        a = combined(1.0 + self.alpha, f, -self.alpha, self.f0)  # (3.4c)
        L0, L1 = plus(self.lam0, h, apart0), plus(lam, h, apart1)
        R1 = combined(1.0, vdot, -1.0, f, h, self.old_reaction(apart1))
        return Unknowns(a, L0, L1, self.old_reaction(L0), R1, None, None)

    def true_motion(self, q: Array, v: Array, f: Array) -> tuple[Array, Array]:
        """Return vdot and lam of (3.2) at the end of the step, as accurately as they are followed.

        The guess is corrected with the matrix of the projection, old as it may be.
        """
        o, x, n, m = self.o, self.unknowns, self.o.n_q, self.o.n_lam
        matrices: Matrices = self.newton.last_solvers
        reaction, found = x.reaction, self.guessed
        assert reaction is not None
        G = called(o.holonomic_jacobian, self.t, q) if reaction.G is None else reaction.G
        curvature = called(o.holonomic_acceleration, self.t, q, v)
        for _ in range(MOST):
            vdot, lam = part(found, 0, n), part(found, n, n + m)
            r = stacked(1.0, product(x.mass, plus(f, -1.0, vdot)), -1.0, product(G, vdot))
            reaction.add(r, 1.0, v, lam, 0)
            add(r, n, -1.0, curvature)
            d = solution(matrices.velocity, r)
            found = plus(found, 1.0, d)
            if norm(part(d, 0, n)) <= NEAR * self.relative * norm(vdot):
                break
        vdot = part(found, 0, n)
        if not norm(vdot) < np.inf and not np.isfinite(vdot).all():  # squares may be infinite
            raise NotFiniteCorrectionError("the accelerations at its end are not finite")
        return vdot, part(found, n, n + m)
