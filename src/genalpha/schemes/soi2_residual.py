"""GenAlphaSOI2 on a residual: the same equations (13), with few calls.

See `soi2` for the paper and the notation. One call gives forces, reactions and position
constraints together; (13e) takes the place of the difference of (13d) and (13e), so that a
correction costs

- one call at (q1, v1, lam1_t) for (13d) and (13f);
- one at (q1, v1, lam1) for (13e) and, if the residual has rows for it, (13g);
- otherwise one more a little ahead in the motion for (13g).

M1 a is M a of a constant mass, which one call per step verifies; once it is found to vary, M1 a is
the difference of two calls that differ in the accelerations only, in which F is linear. Small
changes of a after that are multiplied with the mass of the iteration matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.kernels import part
from genalpha.model import Mechanism, Motion
from genalpha.model.residual import Balance
from genalpha.numerics.accuracy import of_rates, scales, size, with_states
from genalpha.numerics.from_residual import about_mass, true_acceleration
from genalpha.numerics.gradients import step_terms
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.newton import Sizes
from genalpha.numerics.systems import Terms
from genalpha.schemes.scheme import Reported
from genalpha.schemes.soi2 import GenAlphaSOI2, Matrices, State

Array = np.ndarray

#: Accelerations may differ by so many times the accuracy wanted from those that M1 was multiplied
#: with: the mass of the iteration matrix is right to some hundredths.
NEAR = 20.0


@dataclass
class Both:
    """x = (a1_t, lam1_t, psi1_t) and z = (a1, lam1, psi1)."""

    x: Array
    z: Array


class SOI2OfResidual(GenAlphaSOI2):
    """One step of (13), asked of a residual."""

    unknowns: Any

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = vdot0, as allowed by Theorem 1."""
        o, shift = self.o, self.alpha * h
        q, v, vdot, lam, psi = motion
        assert o.whole is not None
        f = -o.whole.balance(t, q, v, np.zeros(o.n_q), lam, psi).motion
        Ma = o.whole.inertia(t + shift, q + shift * v, v)(vdot)
        kept = np.concatenate([lam, psi])
        x = np.concatenate([vdot, kept, vdot, kept])
        return State(t, q, v, kept, vdot, Ma, vdot, Ma, f, h, x, o.n_lam)

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
        o, newton = self.o, self.newton
        whole, n = o.whole, o.n_q
        assert whole is not None
        a0, Ma0 = self.adjusted(state, h)
        self._prepare(state, a0, Ma0, h)
        newton.solve(self)
        found: Both = self.unknowns
        if not self._mass_is_right(found.z[:n]):
            return self.take(state, h)
        x, z = found.x, found.z
        a1, kept = part(z, 0, n), part(z, n, z.shape[0])
        Ma1 = self.inertia(a1)
        f1 = (self.weight_m * Ma1 + self.old) / self.weight_f  # (13e), solved for f(t1, ...)
        q1, v1 = self.q_hat + self.hb * x[:n], self.v_hat + self.hg * a1
        both = np.concatenate([x, z])
        return State(self.t, q1, v1, kept, a1, Ma1, a0, Ma0, f1, h, both, o.n_lam)

    def _prepare(self, state: State, a0: Array, Ma0: Array, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        o, shift = self.o, (1.0 + self.alpha) * h
        assert o.whole is not None
        self.t, self.hb, self.hg = state.t + h, h * h * self.beta, h * self.gamma
        self.q_hat = state.q + h * state.v + h * h * (0.5 - self.beta) * a0
        self.v_hat = state.v + h * (1.0 - self.gamma) * a0
        self.a0 = a0
        self.inertia = o.whole.inertia(state.t + shift, state.q + shift * state.v, state.v)
        self.inertia.allowed = NEAR * self.relative
        self.old = self.alpha_m * Ma0 - self.alpha_f * state.f
        guess = self.past.predicted(self.t, self.relation)
        half = guess.size // 2
        z = guess[half:] if o.n_lam else guess[:half]
        self.unknowns = Both(guess[:half].copy(), z.copy())

    def _balance(self, q: Array, v: Array, x: Array) -> Balance:
        """Return -(f + reaction) and constraints, with the multipliers of x: one call."""
        n, m, whole = self.o.n_q, self.o.n_lam, self.o.whole
        assert whole is not None
        found = whole.balance(self.t, q, v, np.zeros(n), x[n : n + m], x[n + m :])
        self.point = self.t, q, v, x[n : n + m], x[n + m :], found.motion
        return found

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, see `Problem`."""
        matrices: Matrices = solvers
        o, newton, found = self.o, self.newton, self.unknowns
        hb, hg, n, m = self.hb, self.hg, o.n_q, o.n_lam
        x, z = found.x, found.z
        q, v = self.q_hat + hb * x[:n], self.v_hat + hg * z[:n]  # (13a), (13c)
        at = self._balance(q, v, x)
        k = at.velocity
        if m and o.n_psi:  # (13h) holds at v1_t
            k = self._balance(q, self.v_hat + hg * x[:n], x).velocity
        top = -self.weight_m * self.inertia(x[:n]) - self.old - self.weight_f * at.motion  # (13d)
        d = matrices.position(np.concatenate([top, -at.position / (hb or 1.0), -k / hg]))
        compared = matrices.scales
        d = newton.accelerated(d, n, compared.mass_over_gradient, self.t, compared.units)
        x = x + d
        moved = size(self.relative, matrices.scales, d, x, q, hb if m else hg, n, m)
        if m == 0:
            self.unknowns = Both(x, x)
            return (moved,)
        self.unknowns = found = Both(x, z)
        e = self.project(matrices)
        return (moved, size(self.relative, of_rates(o, matrices.scales), e, found.z, v, hg, n, m))

    def project(self, solvers: Any) -> Array:
        """Correct a1, lam1, psi1, and return by how much."""
        matrices: Matrices = solvers
        o, found, hg, n = self.o, self.unknowns, self.hg, self.o.n_q
        whole, x, z = o.whole, found.x, found.z
        assert whole is not None
        q, v = self.q_hat + self.hb * x[:n], self.v_hat + hg * z[:n]
        at = self._balance(q, v, z)
        vdot = z[:n] - self.alpha * (z[:n] - self.a0)  # of t1, where a1 is of t1 + alpha h
        rate = whole.rate_beside(self.t, q, v, vdot, at)  # (13g)
        top = -self.weight_m * self.inertia(z[:n]) - self.old - self.weight_f * at.motion  # (13e)
        e = matrices.velocity(np.concatenate([top, -rate / hg, -at.velocity / hg]))
        found.z = z + e
        return e

    def _mass_is_right(self, a: Array) -> bool:
        """Verify a mass that is taken as constant where it was last used, by one call."""
        whole = self.o.whole
        assert whole is not None
        t, q, v, lam, psi, base = self.point
        return whole.verify_mass(t, q, v, a, lam, psi, base)

    def setup(self) -> Matrices:
        """See `GenAlphaSOI2`; the projection's matrix has the mass that is at hand."""
        o, newton, found = self.o, self.newton, self.unknowns
        hb, hg, n, m = self.hb, self.hg, o.n_q, o.n_lam
        x, z = found.x, found.z
        q, v = self.q_hat + hb * x[:n], self.v_hat + hg * z[:n]
        lam, psi = x[n : n + m], x[n + m :]
        self.counters.njacs += 1
        state, wm, wf = (self.t, q, v, np.zeros(n), lam, psi), self.weight_m, self.weight_f
        S = step_terms(o, *state, wm, wf * hb, wf * hg)
        assert o.whole is not None
        newton.setup_cost = o.whole.matrix_cost
        R = [[(wf, matrix) for _, matrix in terms] for terms in S.reactions]
        position = self.factorize("position", [*S.inertia, *S.forces], R, S.along)
        compared = scales(o, S.inertia, S.forces, S.gradients, q, hb or hg, position)
        compared = with_states(o, compared, x, v, S.forces, hg)
        if not m:
            return Matrices(position, position, compared)  # there is nothing to project
        assert o.whole is not None
        M = o.whole.constant_mass
        if M is None:
            assert o.whole.latest is not None  # by the terms of this step
            M = about_mass(o.whole, o.whole.latest.A, self.t, q, v, z[:n], o.n_states)
        o.whole.near_mass = M
        inertia = [(wm, M), *_of_states(o, S.forces)]
        return Matrices(position, self.factorize("velocity", inertia, R, S.gradients), compared)

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Multipliers are the scheme's own; the true acceleration is M(t, q)^-1 f."""
        lam, psi = kept[: o.n_lam], kept[o.n_lam :]
        return true_acceleration(o, t, q, v, lam, psi), lam, psi


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
