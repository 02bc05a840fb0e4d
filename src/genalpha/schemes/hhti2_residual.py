"""HHTI2 on a residual: the same equations (3.4), with few calls, for any mass M(t, q).

See `hhti2` for the paper and the notation. F is linear in accelerations and multipliers, so that
the accelerations that the forces and the reactions make, f and R, are put into it as they are, and
no mass matrix is needed beside those of Newton's iteration. A correction costs

- one call at (q1, v1) with vdot = f1 + R1 and L1: for the sum of (3.4c) and of R1 in (3.4d), for g
  and, if the residual has rows for it, the rate of g;
- one a little ahead in the motion with vdot = f1 and without multipliers, for (3.4c) alone and for
  the rate of g. It tells g'' as well, which the true multipliers need. Only the first correction of
  a step, and later ones that are large, need this call; where the residual has no rows for rates,
  the first correction needs another one behind in the motion, and small ones take the rate to
  follow v1 by G;
- none for R0 of (3.4d): the reaction at q0 is known to L1 of the last step, to the true multiplier
  there, to multiples of both, and to small differences from these by a matrix that learns, or else
  by another call.

True accelerations and multipliers (3.2) follow from g'' and from the same reactions, so that output
costs a call only where the matrix has not learnt enough, and none for reactions to one constraint.

For Newton's accuracies that differences cannot have, and for variants other than "end", which take
R1 elsewhere, all of this is asked for where it belongs: at the point itself, and at output points.
Reactions that are not linear in the multipliers are asked for wherever the matrix tells of a change
that counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genalpha.kernels import combined, norm, part, plus, product, solution, stacked
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import of_rates, scales, size, with_states
from genalpha.numerics.from_residual import about_mass, accelerations_of, show_roughly
from genalpha.numerics.linear import Solve, factorize
from genalpha.numerics.newton import Newton, Sizes
from genalpha.schemes.hht import NO_VECTOR, initial_solver
from genalpha.schemes.hhti2_corrections import Matrices, State, Unknowns
from genalpha.schemes.hhti2_looks import Look
from genalpha.schemes.hhti2_old_reactions import Pair
from genalpha.schemes.hhti2_shown import WRONG, Shown
from genalpha.schemes.scheme import Reported, Settings

Array = np.ndarray

#: A mass that is taken as constant is believed if the iteration matrix differs by no more than this
#: share of it: it serves as a matrix only. Judged as those of `hhti2_old_reactions` are.
ALIKE = 0.03


class Constant(NamedTuple):
    """A mass that is taken as constant, what solves with it, and what others may differ by."""

    M: Array
    solve: Solve
    alike: Array


class HHTI2OfResidual(Shown):
    """One step of (3.4), asked of a residual."""

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        self.still = np.zeros(o.n_q)
        self.constant: Constant | None = None
        show_roughly(self.whole, self.relative)

    def begin(self, t: float, motion: Motion, h: float) -> Any:
        """Start with a0 = f(t0, q0, v0)."""
        q, v, vdot, lam, _ = motion
        whole = self.whole
        whole.find_mass(t, q, v, lam, NO_VECTOR)
        solve = initial_solver(self.o, t, q)
        f = -solve(whole.balance(t, q, v, 0.0 * v, whole.free_lam, NO_VECTOR).motion)
        # not vdot - f, which is as accurate as vdot: multipliers may be 0 but for rounding
        R = -solve(whole.balance(t, q, v, f, lam, NO_VECTOR).motion)
        L, x = np.concatenate([lam, lam]), np.concatenate([f, lam, lam, R])
        if self.shows:
            L = np.concatenate([lam, lam, vdot, lam])
            x = np.concatenate([f, vdot, lam, 0.0 * lam, 0.0 * lam])
        return State(t, q, v, f, f, R, h, L, x, 0.0, vdot)

    def take(self, state: Any, h: float) -> Any:
        """See `Scheme`."""
        s: State = state
        self._prepare(s, self.adjusted(s.a, s.f, h / s.h), h)
        self.newton.solve(self)
        x = self.unknowns
        L, q, v, f = stacked(1.0, x.L0, 1.0, x.L1), self._q1(x), self._v1(x), self.new_force(x.a)
        if not self.shows:
            found = stacked(1.0, x.a, 1.0, L, 1.0, x.R1)
            return State(self.t, q, v, x.a, f, x.R1, h, L, found, 0.0, NO_VECTOR)
        vdot, lam, doubt = self._shown(x, q, v, f, self.newton.last_solvers)
        kept, found = stacked(1.0, L, 1.0, vdot, 1.0, lam), stacked(1.0, f, 1.0, vdot, 1.0, lam)
        apart = stacked(1.0 / h, plus(x.L0, -1.0, self.lam0), 1.0 / h, plus(x.L1, -1.0, lam))
        found = stacked(1.0, found, 1.0, apart)
        return State(self.t, q, v, x.a, f, x.R1, h, kept, found, doubt, vdot)

    def _prepare(self, s: State, a0: Array, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        n, m = self.o.n_q, self.o.n_lam
        self.t, self.h, self.hb, self.hg = s.t + h, h, h * h * self.beta, h * self.gamma
        self.q0, self.v0, self.f0, self.t0 = s.q, s.v, s.f, s.t
        self.q_hat = combined(1.0, s.q, h, s.v, h * h * (0.5 - self.beta), a0)
        self.v_hat = plus(s.v, h * (1.0 - self.gamma), a0)
        guess = self.past.predicted(self.t)
        self.old, self.beside = Pair(part(s.kept, m, 2 * m), s.R, 0.0), None
        self._note_age()
        if self.shows:
            self._guess(s, guess)
            return
        a, L0, L1 = part(guess, 0, n), part(guess, n, n + m), part(guess, n + m, n + 2 * m)
        R0 = s.R
        if m and self.about.is_known:
            R0 = self._guess_of_reaction(L0, self.old, self.beside, self.t0, 0.0).R
        self.unknowns = Unknowns(a, L0, L1, R0, part(guess, n + 2 * m, 2 * (n + m)))

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, both from the same point, see `Problem`."""
        matrices: Matrices = solvers
        compared, n, m = matrices.scales, self.o.n_q, self.o.n_lam
        x = self._with_old_reaction(self.unknowns, matrices)
        q, v = self._q1(x), self._v1(x)
        at = self._look(x, q, v, matrices)
        right = stacked(-1.0, at.forces, -1.0 / self.hb, at.position)  # (3.4c), g
        d = solution(matrices.position, right)
        if not m:
            noise = compared.noise_of(q, self.hg)
            d = self.newton.accelerated(d, n, 0.0, self.t, noise, compared.units)
            self.unknowns = x = Unknowns(plus(x.a, 1.0, d), x.L0, x.L1, x.R0, x.R1)
            return (size(self.relative, compared, d, x.a, q, self.hg, n, m),)
        if self.n_states:  # their rates may be stiff: they need to know how v1 moves in the end
            faster = self._corrections(at, d, matrices)[1]
            right = stacked(-1.0, self._of_rates(faster, d, matrices), 0.0, at.position)
            d = plus(d, 1.0, solution(matrices.position, right))
        change = self._accelerated(self._corrections(at, d, matrices)[0], q, compared)
        return self._change(x, q, v, change, matrices)

    # --- what a correction has to know ----------------------------------------------------------

    def _look(self, x: Unknowns, q: Array, v: Array, matrices: Matrices) -> Look:
        """Return what is wrong with (3.4c), R1 of (3.4d) and (3.4e)."""
        f = self.new_force(x.a)
        if not self.o.n_lam:
            at = self._balance(q, v, f, self.free_lam)
            return Look(at.motion, at.motion, at.position, at.position)
        if not self.shows:
            found = self._look_apart(x, q, v, f)
        else:
            vdot = plus(f, 1.0, x.R1)
            at = self._balance(q, v, vdot, x.L1)
            lack = solution(matrices.mass, plus(at.motion, 0.0, at.motion))
            off = norm(part(lack, 0, self.n_moving))
            looks, allowed = self.looks, WRONG * self._uncertainty(x.a, x.R1)
            if looks.settles(v, at, off, allowed, max(self.about.off, self.turned_then)):
                rate = at.rates
                if rate is None:
                    rate = plus(looks.rate, 1.0, product(matrices.G, plus(v, -1.0, looks.v)))
                found = Look(at.motion, self.still, at.position, rate)
            else:
                found = looks.look(q, v, f, self.f0, at, allowed)
        return self._of_states(found, x.R1, matrices)

    def _look_apart(self, x: Unknowns, q: Array, v: Array, f: Array) -> Look:
        """Return the same, each by a call of its own, at the place where it belongs."""
        whole = self.whole
        at, vdot = self._balance(q, v, f, self.free_lam), plus(f, 1.0, x.R1)
        rate = at.rates
        if rate is None:
            rate = whole.rate_beside(self.t, q, v, vdot, x.L1, NO_VECTOR, at, self.h)
        if self.variant == "end":
            reactions = plus(self._balance(q, v, vdot, x.L1).motion, -1.0, at.motion)
        else:
            reactions = self._lack_elsewhere(q, v, x)
        return Look(at.motion, reactions, at.position, rate)

    def _of_states(self, found: Look, R: Array, matrices: Matrices) -> Look:
        """Return the same with M R alone in the rows of states: no constraint reacts on them.

        The rest of their rows is what (3.4c) lacks of their rates.
        """
        k = self.n_moving
        if not self.n_states:
            return found
        whole = plus(found.forces, 1.0, found.reactions)
        forces, reactions = found.forces.copy(), found.reactions.copy()
        reactions[k:] = product(matrices.inertia, R)[k:]
        forces[k:] = whole[k:] - reactions[k:]
        return Look(forces, reactions, found.position, found.rate)

    def _lack_elsewhere(self, q: Array, v: Array, x: Unknowns) -> Array:
        """Return M R1 - r(L1) where the variant has it: the difference of two calls."""
        whole, t, h = self.whole, self.t, self.h
        place = plus(self.q0, h, self.v0)  # (3.5)
        if self.variant != "predicted":  # a midpoint, that of q1 or that of (3.5)
            end = q if self.variant == "midpoint" else place
            t, place, v = t - 0.5 * h, 0.5 * (self.q0 + end), 0.5 * (self.v0 + v)
        with_it = whole.balance(t, place, v, x.R1, x.L1, NO_VECTOR).motion
        without = whole.balance(t, place, v, self.still, self.free_lam, NO_VECTOR).motion
        return plus(with_it, -1.0, without)

    # --- matrices and output --------------------------------------------------------------------

    def setup(self) -> Any:
        """Factorize the derivatives of (3.4c) and g, and the projection onto the rate of g."""
        o, newton, w, x = self.o, self.newton, self.weights, self.unknowns
        whole, n, m, ca = self.whole, o.n_q, o.n_lam, 1.0 / (1.0 + self.alpha)
        self.counters.njacs += 1
        q, v, vdot, lam = self._q1(x), self._v1(x), self.new_force(x.a), self.free_lam
        if self.shows or not whole.linear:  # where the correction will ask
            vdot, lam = plus(vdot, 1.0, x.R1), x.L1
        found = whole.blocks(self.t, q, v, vdot, lam, NO_VECTOR, ca, self.hb, self.hg)
        newton.setup_cost = whole.matrix_cost
        self._note_age()
        M, mass = self._about_mass(found.A / ca, q, v, vdot, lam)
        inertia, forces, J = [(ca, M)], [(1.0, found.A - ca * M)], [[(1.0, found.G)]]
        per_beta = 0.5 / (self.beta * (1.0 + self.alpha))
        R = [[((w.q0 + w.q1) * per_beta, found.R)]]
        position = self.factorize("position", [*inertia, *forces], R, J)
        compared = scales(o, inertia, forces, J, q, self.hb, position, x.L1)
        compared = with_states(o, compared, x.a, v, forces, self.hg)
        if not m:
            none = np.zeros((n, 0))
            return Matrices(position, position, compared, compared, M, none.T, none, mass, M)
        by_lam = -mass(found.R)
        self.about.renew(by_lam, self.t)
        R = [[(w.v0 * w.projection0 + w.v1 * w.projection1, found.R)]]
        velocity = self.factorize("velocity", [(1.0, M)], R, J)
        of_v, forces = of_rates(o, compared), forces[0][1]
        return Matrices(position, velocity, compared, of_v, forces, found.G, by_lam, mass, M)

    def _about_mass(
        self, found: Array, q: Array, v: Array, vdot: Array, lam: Array
    ) -> tuple[Array, Solve]:
        """Return about M: the constant one, if it is like an iteration matrix over its weight."""
        whole, known = self.whole, self.constant
        M = whole.constant_mass
        if M is not None and (known is None or known.M is not M):
            unit = np.sqrt(np.abs(M.diagonal()))
            self.constant = known = Constant(M, factorize(M), ALIKE * np.outer(unit, unit))
        if M is None or known is None or not (np.abs(found - M) <= known.alike).all():
            M = about_mass(whole, found, self.t, q, v, vdot, self.n_states, lam)
        return M, known.solve if known is not None and M is known.M else factorize(M)

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Acceleration and multipliers from (3.2), of second order because q and v are."""
        n, m = o.n_q, o.n_lam
        if kept.size > 2 * m:  # known from the step
            return kept[2 * m : 2 * m + n], kept[2 * m + n :], NO_VECTOR
        assert o.whole is not None
        L = kept.reshape(2, m).mean(axis=0)
        of = accelerations_of(o.whole)
        return of(o.name, t, q, v, L, NO_VECTOR, of.roughly)
