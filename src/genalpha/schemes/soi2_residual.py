"""GenAlphaSOI2 on a residual: the same equations (13), with few calls.

See `soi2` for the paper and the notation. One call gives forces, reactions, position constraints
and, if the residual has rows for them, their rates. A correction costs

- one call at (q1, v1, lam1) for (13e), (13f) and (13g);
- if there are no such rows, one more a little ahead in the motion for (13g), in the first
  correction of a step and where v1 moves far: otherwise the rate follows v1 by G, as far as that
  is known;
- (13d) has the same forces and other multipliers: lam1_t - lam1 is small, and the reaction to it is
  that of the iteration matrix, or is extrapolated from other steps, or costs another call.

M1 a is M a of a constant mass. The calls have the accelerations a1, so that a mass that is wrong
is wrong for what is not known of a1 only; it is verified by the call ahead, or without one where a
matrix is new, and every few steps. Once it is found to vary, calls have no accelerations, but for
the one ahead: that tells M(t1, q1) a1 as well, and what M1 a1 differs by is extrapolated
(`soi2_inertia`). Without such a call M1 a1 is asked for once per step. What M1 a1_t differs by is
extrapolated, too, and small changes after that are multiplied with the mass of the iteration
matrix. Where any of that may be too wrong, M1 a is asked for.

Unknowns are guessed from those of other steps, see `soi2_past`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from genalpha.errors import SingularSystemError
from genalpha.kernels import add, combined, part, plus, solution, stacked
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import of_rates, scales, size, with_states
from genalpha.numerics.from_residual import about_mass, accelerations_of
from genalpha.numerics.gradients import step_terms
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.newton import Newton, Sizes
from genalpha.schemes.scheme import Reported, Settings
from genalpha.schemes.soi2 import Matrices, State
from genalpha.schemes.soi2_asked import NEAR, Asking, Both
from genalpha.schemes.soi2_past import PastOfSteps

Array = np.ndarray


class SOI2OfResidual(Asking):
    """One step of (13), asked of a residual.

    `kept` of its states is (lam, psi, a, f - M a), where a and M a are interpolated between both
    ends of the step: all that output needs.
    """

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        count = o.n_q + o.n_lam + o.n_psi
        self.past_of_steps = PastOfSteps(o.n_q, count, self.alpha, self.relation)

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = vdot0, as allowed by Theorem 1."""
        o, shift = self.o, self.alpha * h
        q, v, vdot, lam, psi = motion
        self.tried = math.nan
        assert o.whole is not None
        o.whole.find_mass(t, q, v, lam, psi)
        f = -o.whole.balance(t, q, v, np.zeros(o.n_q), lam, psi).motion
        Ma = o.whole.inertia(t + shift, q + shift * v, v)(vdot)
        x = np.concatenate([vdot, lam, psi, vdot, lam, psi])
        kept = np.concatenate([lam, psi, vdot, np.zeros(o.n_q)])
        return State(t, q, v, kept, vdot, Ma, vdot, Ma, f, h, x, o.n_lam, o.n_psi)

    def shifted(self, state: State, first: State, h: float) -> State:
        """See `GenAlphaSOI2`."""
        o, alpha = self.o, self.alpha
        assert o.whole is not None
        point = first.t, first.q, first.v, first.lam, first.psi
        vdot1, _, _ = accelerations(o, *point, self.relative)
        a = (1.0 - alpha) * state.a + alpha * vdot1
        Ma1 = o.whole.inertia(first.t, first.q, first.v)(vdot1)
        Ma = (1.0 - alpha) * state.f + alpha * Ma1
        return replace(state, a=a, a_old=a, Ma=Ma, Ma_old=Ma, h=h)

    def take(self, state: State, h: float) -> State:
        """See `Scheme`."""
        o, n = self.o, self.o.n_q
        a0, Ma0 = self.adjusted(state, h)
        self._prepare(state, a0, Ma0, h)
        self.newton.solve(self)
        found = self.unknowns
        x, z = found.x, found.z
        a1 = part(z, 0, n)
        if not self._mass_is_right(a1):
            return self.take(state, h)
        Ma1 = self.inertia.times(a1)
        # (13e), solved for f(t1, ...)
        f1 = combined(self.weight_m / self.weight_f, Ma1, 1.0 / self.weight_f, self.old)
        q1, v1 = plus(self.q_hat, self.hb, x), plus(self.v_hat, self.hg, a1)
        # a1 and a0 are of t1 + alpha h and t0 + alpha h
        vdot = combined(1.0 - self.alpha, a1, self.alpha, a0)
        left = combined(1.0, f1, self.alpha - 1.0, Ma1, -self.alpha, Ma0)
        kept = stacked(1.0, part(z, n, z.shape[0]), 1.0, vdot, 1.0, left)
        both = stacked(1.0, x, 1.0, z)
        return State(self.t, q1, v1, kept, a1, Ma1, a0, Ma0, f1, h, both, o.n_lam, o.n_psi)

    def _prepare(self, state: State, a0: Array, Ma0: Array, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        whole, shift = self.o.whole, (1.0 + self.alpha) * h
        assert whole is not None
        self.t, self.hb, self.hg = state.t + h, h * h * self.beta, h * self.gamma
        if not (self.t - self.tried) * h > 0.0:  # a step is repeated: there may be a jump
            self._forget()
        self.tried = self.t
        self.q_hat = combined(1.0, state.q, h, state.v, h * h * (0.5 - self.beta), a0)
        self.v_hat = plus(state.v, h * (1.0 - self.gamma), a0)
        self.a0, self.known, self.looked, self.told = a0, None, None, None
        self.is_apart_known = False
        self.turned = whole.derivatives.turned(self.t + h)
        self.steps_since += 1
        ahead = plus(state.q, shift, state.v)
        self.inertia = whole.inertia(state.t + shift, ahead, state.v)
        self.inertia.allowed = NEAR * self.relative
        self.old = combined(self.alpha_m, Ma0, -self.alpha_f, state.f)
        x, z = self.past_of_steps.guess(self.t, h)
        self.unknowns = Both(x, z)

    def remember(self, t: float, state: Any) -> None:
        """See `Scheme`."""
        s: State = state
        self.past_of_steps.append(t, s.h, s.x)

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, see `Problem`."""
        matrices: Matrices = solvers
        o, newton, found = self.o, self.newton, self.unknowns
        hb, hg, n, m = self.hb, self.hg, o.n_q, o.n_lam
        x, z = found.x, found.z
        q, v = plus(self.q_hat, hb, x), plus(self.v_hat, hg, z)  # (13a), (13c)
        at = self._ask(q, v, z)
        rate = self._rate(at) if m else at.position  # which may tell what M1 z is
        k, of_z = at.velocity, self.inertia.times(part(z, 0, n))
        inertia = self._inertia_of(part(x, 0, n), part(z, 0, n), of_z) if m else of_z
        top = combined(-self.weight_f, at.motion, -1.0, self.old, -self.weight_m, inertia)
        if m:
            difference = self._reaction(x, z, at, inertia)
            add(top, 0, -self.weight_f, difference)
        if m and o.n_psi:  # (13h) holds at v1_t
            asked = self.asked
            k = self._ask(q, plus(self.v_hat, hg, x), x).velocity
            self.asked = asked
        right = stacked(1.0, top, -1.0 / (hb or 1.0), at.position, -1.0 / hg, k)  # (13d), (13f)
        d = solution(matrices.position, right)
        compared = matrices.scales
        noise = compared.noise_of(q, hb if m else hg)
        d = newton.accelerated(d, n, compared.mass_over_gradient, self.t, noise, compared.units)
        moved = size(self.relative, compared, d, plus(x, 1.0, d), q, hb if m else hg, n, m)
        if m == 0:
            x = plus(x, 1.0, d)
            self.unknowns = Both(x, x)
            return (moved,)
        # what is wrong with x is wrong with z, too: (13d) - (13e) is left, and what d makes of
        # (13g) and (13i)
        change = plus(of_z, -1.0, inertia)
        top = combined(self.weight_f, difference, -self.weight_m, change)
        rate = combined(-1.0 / hg, rate, 1.0 / hb, at.position)
        right = stacked(1.0, top, 1.0, rate, -1.0 / hg, plus(at.velocity, -1.0, k))
        e = plus(d, 1.0, solution(matrices.velocity, right))
        self.unknowns = found = Both(plus(x, 1.0, d), plus(z, 1.0, e))
        return (moved, size(self.relative, matrices.of_rates, e, found.z, v, hg, n, m))

    def setup(self) -> Matrices:
        """See `GenAlphaSOI2`; the projection's matrix has the mass that is at hand."""
        o, newton, found = self.o, self.newton, self.unknowns
        hb, hg, n, m = self.hb, self.hg, o.n_q, o.n_lam
        x, z = found.x, found.z
        q, v = plus(self.q_hat, hb, x), plus(self.v_hat, hg, z)
        assert o.whole is not None
        lam, psi = part(z, n, n + m), part(z, n + m, z.shape[0])
        self.counters.njacs += 1
        vdot = self.still if o.whole.constant_mass is None else part(z, 0, n)
        state, wm, wf = (self.t, q, v, vdot, lam, psi), self.weight_m, self.weight_f
        S = step_terms(o, *state, wm, wf * hb, wf * hg)
        newton.setup_cost = o.whole.matrix_cost
        R = [[(wf, matrix) for _, matrix in terms] for terms in S.reactions]
        position = self.factorize("position", [*S.inertia, *S.forces], R, S.along)
        lam_t = part(x, n, x.shape[0])
        compared = scales(o, S.inertia, S.forces, S.gradients, q, hb or hg, position, lam_t)
        compared = with_states(o, compared, x, v, S.forces, hg)
        if not m:
            return Matrices(position, position, compared, compared)  # there is nothing to project
        M = o.whole.constant_mass
        if M is None:
            assert o.whole.latest is not None  # by the terms of this step
            M = about_mass(o.whole, o.whole.latest.A, self.t, q, v, part(z, 0, n), o.n_states)
        o.whole.near_mass.renew(M, self.t)
        self.apart.renew(M)
        velocity = self.factorize("velocity", [(wm, M)], R, S.gradients)
        assert o.whole.latest is not None
        self.by_multipliers.renew(o.whole.latest.R, self.t)
        self.reactions.renew(o.whole.latest.R)
        return Matrices(position, velocity, compared, of_rates(o, compared))

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Multipliers are the scheme's own; the true acceleration is M(t, q)^-1 f, of second order.

        It is exact where the mass is constant; otherwise M(t, q) a is interpolated as a is.
        """
        n, m, end, whole = o.n_q, o.n_lam, o.n_lam + o.n_psi, o.whole
        lam, psi = part(kept, 0, m), part(kept, m, end)
        vdot, left = part(kept, end, end + n), part(kept, end + n, end + 2 * n)
        assert whole is not None
        try:
            solve = accelerations_of(whole).mass_solver(t, q, v, lam, psi)
            return plus(vdot, 1.0, solution(solve, left)), lam, psi
        except SingularSystemError:  # massless coordinates: only the constraints move them
            return vdot, lam, psi
