"""GenAlphaSOI2 on a residual: the same equations (13), with few calls.

See `soi2` for the paper and the notation. One call gives forces, reactions and position
constraints together; (13e) takes the place of the difference of (13d) and (13e), so that a
correction costs

- one call at (q1, v1, lam1_t) for (13d) and (13f);
- one at (q1, v1, lam1) for (13e) and, if the residual has rows for it, (13g);
- otherwise one more a little ahead in the motion for (13g).

M1 a is M a of a constant mass, which is verified in every step: by the call ahead, which has
accelerations, or, where there is none or it does not agree, by a call of its own. Once the mass is
found to vary, M1 a is the difference of two calls that differ in the accelerations only, in which F
is linear. Small changes of a after that are multiplied with the mass of the iteration matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.errors import SingularSystemError
from genalpha.kernels import add, combined, part, plus, solution, stacked
from genalpha.model import Mechanism, Motion
from genalpha.model.residual import Ahead, Balance, Inertia
from genalpha.numerics.accuracy import of_rates, scales, size, with_states
from genalpha.numerics.from_residual import (
    about_mass,
    accelerations_of,
    show_roughly,
    true_acceleration,
)
from genalpha.numerics.gradients import step_terms
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.systems import Terms
from genalpha.schemes.scheme import Reported, Settings
from genalpha.schemes.soi2 import GenAlphaSOI2, Matrices, State

Array = np.ndarray

#: Accelerations may differ by so many times the accuracy wanted from those that M1 was multiplied
#: with: the mass of the iteration matrix is right to some hundredths.
NEAR = 20.0
#: A constant mass is right if M a agrees to this share of the accuracy wanted with what a call
#: ahead says, but at least to this; otherwise it is looked at more closely.
SHARE_OF_MASS, MASS_AHEAD = 0.1, 1e-5


@dataclass
class Both:
    """x = (a1_t, lam1_t, psi1_t) and z = (a1, lam1, psi1)."""

    x: Array
    z: Array


@dataclass
class Asked:
    """Where the residual was last asked without accelerations, with lam and psi, and its answer.

    `ahead` is the call ahead of it, with the accelerations `vdot`, if there was one.
    """

    q: Array
    v: Array
    lam: Array
    psi: Array
    at: Balance
    vdot: Array | None = None
    ahead: Ahead | None = None


class SOI2OfResidual(GenAlphaSOI2):
    """One step of (13), asked of a residual.

    `kept` of its states is (lam, psi, f): with a constant mass, f is all that output needs.
    """

    unknowns: Any
    inertia: Inertia
    asked: Asked

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        assert o.whole is not None
        show_roughly(o.whole, self.relative)

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = vdot0, as allowed by Theorem 1."""
        o, shift = self.o, self.alpha * h
        q, v, vdot, lam, psi = motion
        assert o.whole is not None
        f = -o.whole.balance(t, q, v, np.zeros(o.n_q), lam, psi).motion
        Ma = o.whole.inertia(t + shift, q + shift * v, v)(vdot)
        x = np.concatenate([vdot, lam, psi, vdot, lam, psi])
        kept = np.concatenate([lam, psi, f])
        return State(t, q, v, kept, vdot, Ma, vdot, Ma, f, h, x, o.n_lam, o.n_psi)

    def shifted(self, state: State, first: State, h: float) -> State:
        """See `GenAlphaSOI2`."""
        o, alpha = self.o, self.alpha
        assert o.whole is not None
        vdot1, _, _ = accelerations(o, first.t, first.q, first.v, first.lam, first.psi)
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
        Ma1 = self.inertia(a1)
        # (13e), solved for f(t1, ...)
        f1 = combined(self.weight_m / self.weight_f, Ma1, 1.0 / self.weight_f, self.old)
        q1, v1 = plus(self.q_hat, self.hb, x), plus(self.v_hat, self.hg, a1)
        kept, both = stacked(1.0, part(z, n, z.shape[0]), 1.0, f1), stacked(1.0, x, 1.0, z)
        return State(self.t, q1, v1, kept, a1, Ma1, a0, Ma0, f1, h, both, o.n_lam, o.n_psi)

    def _prepare(self, state: State, a0: Array, Ma0: Array, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        o, whole, shift = self.o, self.o.whole, (1.0 + self.alpha) * h
        assert whole is not None
        self.t, self.hb, self.hg = state.t + h, h * h * self.beta, h * self.gamma
        self.q_hat = combined(1.0, state.q, h, state.v, h * h * (0.5 - self.beta), a0)
        self.v_hat = plus(state.v, h * (1.0 - self.gamma), a0)
        self.a0 = a0
        ahead = plus(state.q, shift, state.v)
        self.inertia = whole.inertia(state.t + shift, ahead, state.v)
        self.inertia.allowed = NEAR * self.relative
        self.old = combined(self.alpha_m, Ma0, -self.alpha_f, state.f)
        guess = self.past.predicted(self.t, self.relation)
        half = o.n_q + o.n_lam + o.n_psi
        x = part(guess, 0, half)
        self.unknowns = Both(x, part(guess, half, 2 * half) if o.n_lam else x)

    def _ask(self, q: Array, v: Array, x: Array) -> Balance:
        """Return -(f + reaction) and constraints, with the multipliers of x: one call."""
        n, m, whole = self.o.n_q, self.o.n_lam, self.o.whole
        assert whole is not None
        lam, psi = part(x, n, n + m), part(x, n + m, x.shape[0])
        at = whole.balance(self.t, q, v, self.still, lam, psi)
        self.asked = Asked(q, v, lam, psi, at)
        return at

    def _lack(self, x: Array, at: Balance, cg: float, g: Array, ck: float, k: Array) -> Array:
        """Return what (13d) or (13e) lack, cg g and ck k below each other, for the matrices."""
        top = combined(-self.weight_f, at.motion, -1.0, self.old)
        add(top, 0, -self.weight_m, self.inertia(part(x, 0, self.o.n_q)))
        return stacked(1.0, top, cg, g, ck, k)

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, see `Problem`."""
        matrices: Matrices = solvers
        o, newton, found = self.o, self.newton, self.unknowns
        hb, hg, n, m = self.hb, self.hg, o.n_q, o.n_lam
        x, z = found.x, found.z
        q, v = plus(self.q_hat, hb, x), plus(self.v_hat, hg, z)  # (13a), (13c)
        at = self._ask(q, v, x)
        k = at.velocity
        if m and o.n_psi:  # (13h) holds at v1_t
            k = self._ask(q, plus(self.v_hat, hg, x), x).velocity
        right = self._lack(x, at, -1.0 / (hb or 1.0), at.position, -1.0 / hg, k)  # (13d), (13f)
        d = solution(matrices.position, right)
        compared = matrices.scales
        d = newton.accelerated(d, n, compared.mass_over_gradient, self.t, compared.units)
        x = plus(x, 1.0, d)
        moved = size(self.relative, compared, d, x, q, hb if m else hg, n, m)
        if m == 0:
            self.unknowns = Both(x, x)
            return (moved,)
        # what is wrong with x is mostly wrong with z, too
        self.unknowns = found = Both(x, plus(z, 1.0, d))
        e = self.project(matrices)
        change = plus(e, 1.0, d)
        return (moved, size(self.relative, matrices.of_rates, change, found.z, v, hg, n, m))

    def project(self, solvers: Any) -> Array:
        """Correct a1, lam1, psi1, and return by how much."""
        matrices: Matrices = solvers
        found, hg, n, whole = self.unknowns, self.hg, self.o.n_q, self.o.whole
        x, z = found.x, found.z
        assert whole is not None
        q, v = plus(self.q_hat, self.hb, x), plus(self.v_hat, hg, z)
        at = self._ask(q, v, z)
        rate = at.rates  # (13g)
        if rate is None:
            asked = self.asked
            # of t1, where a1 is of t1 + alpha h
            asked.vdot = combined(1.0 - self.alpha, part(z, 0, n), self.alpha, self.a0)
            ahead = whole.rate_beside(self.t, q, v, asked.vdot, asked.lam, asked.psi, at)
            asked.ahead, rate = ahead, ahead.rate
        right = self._lack(z, at, -1.0 / hg, rate, -1.0 / hg, at.velocity)  # (13e)
        e = solution(matrices.velocity, right)
        found.z = plus(z, 1.0, e)
        return e

    def _mass_is_right(self, a: Array) -> bool:
        """Verify a mass that is taken as constant where the residual was last asked."""
        whole, asked = self.o.whole, self.asked
        assert whole is not None
        if whole.constant_mass is None:
            return True
        if asked.ahead is not None and asked.vdot is not None:
            allowed = min(SHARE_OF_MASS * self.relative, MASS_AHEAD)
            if whole.is_mass(asked.vdot, asked.ahead.inertia, allowed):
                return True
        known = self.still, asked.at.motion
        return whole.verify_mass(self.t, asked.q, asked.v, known, a, asked.lam, asked.psi)

    def setup(self) -> Matrices:
        """See `GenAlphaSOI2`; the projection's matrix has the mass that is at hand."""
        o, newton, found = self.o, self.newton, self.unknowns
        hb, hg, n, m = self.hb, self.hg, o.n_q, o.n_lam
        x, z = found.x, found.z
        q, v = plus(self.q_hat, hb, x), plus(self.v_hat, hg, z)
        lam, psi = part(x, n, n + m), part(x, n + m, x.shape[0])
        self.counters.njacs += 1
        state, wm, wf = (self.t, q, v, self.still, lam, psi), self.weight_m, self.weight_f
        S = step_terms(o, *state, wm, wf * hb, wf * hg)
        assert o.whole is not None
        newton.setup_cost = o.whole.matrix_cost
        R = [[(wf, matrix) for _, matrix in terms] for terms in S.reactions]
        position = self.factorize("position", [*S.inertia, *S.forces], R, S.along)
        compared = scales(o, S.inertia, S.forces, S.gradients, q, hb or hg, position, x[n:])
        compared = with_states(o, compared, x, v, S.forces, hg)
        if not m:
            return Matrices(position, position, compared, compared)  # there is nothing to project
        assert o.whole is not None
        M = o.whole.constant_mass
        if M is None:
            assert o.whole.latest is not None  # by the terms of this step
            M = about_mass(o.whole, o.whole.latest.A, self.t, q, v, z[:n], o.n_states)
        o.whole.near_mass = M
        inertia = [(wm, M), *_of_states(o, S.forces)]
        velocity = self.factorize("velocity", inertia, R, S.gradients)
        return Matrices(position, velocity, compared, of_rates(o, compared))

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Multipliers are the scheme's own; the true acceleration is M(t, q)^-1 f.

        The mass is the constant one, or the solution of F = 0 for the accelerations, with calls.
        """
        m, end, whole = o.n_lam, o.n_lam + o.n_psi, o.whole
        lam, psi = kept[:m], kept[m:end]
        assert whole is not None
        if whole.constant_mass is None:
            return true_acceleration(o, t, q, v, lam, psi), lam, psi
        try:
            solve = accelerations_of(whole).mass_solver(t, q, v, lam, psi)
        except SingularSystemError:  # massless coordinates: only the constraints move them
            return true_acceleration(o, t, q, v, lam, psi), lam, psi
        return solve(kept[end:]), lam, psi


def _of_states(o: Mechanism, terms: Terms) -> list[tuple[float, Any]]:
    """Return the rows and columns of first-order states, which the projection moves as well.

    Their rates may be stiff: an iteration that leaves them out does not converge. Forces of the
    mechanism itself change little with what the projection does to velocities.
    """
    if not o.n_states:
        return []
    n, found = o.n_moving, []
    for factor, matrix in terms:
        kept = matrix.toarray() if hasattr(matrix, "toarray") else matrix.copy()
        kept[:n, :n] = 0.0
        found.append((factor, sparse.csc_array(kept) if o.is_sparse else kept))
    return found
