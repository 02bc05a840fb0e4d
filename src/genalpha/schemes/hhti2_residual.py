"""HHTI2 on a residual: the same equations (3.4), with few calls.

See `hhti2` for the paper and the notation, `hhti2_newton` for how a step is solved. One call with
accelerations f1 = f(t1, q1, v1) and without multipliers gives (3.4c) and g; one with f1 + R1 and L1
gives (3.4d) and, if the residual has rows for it, the rate of g; otherwise that costs one more, a
little ahead in the motion. R0 costs one call per step: it is linear in L0, so that from a guess on
it moves as the reactions of the iteration matrix do.

The variants "predicted" and "midpoint" are solved as with callbacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import larger, of_rates, scales, size
from genalpha.numerics.from_residual import accelerations_of
from genalpha.numerics.gradients import step_terms
from genalpha.numerics.linear import Solve, factorize
from genalpha.numerics.newton import Sizes
from genalpha.schemes.hht import NO_VECTOR, initial_solver
from genalpha.schemes.hhti2 import HHTI2, State
from genalpha.schemes.hhti2_newton import Matrices, Unknowns
from genalpha.schemes.scheme import Reported

Array = np.ndarray


class HHTI2OfResidual(HHTI2):
    """One step of (3.4), asked of a residual."""

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = f(t0, q0, v0)."""
        if self.variant != "end":
            return super().begin(t, motion, h)
        o, whole = self.o, self.o.whole
        assert whole is not None
        q, v, vdot, lam, _ = motion
        solve = initial_solver(o, t, q)
        f = solve(-whole.balance(t, q, v, np.zeros(o.n_q), np.zeros(o.n_lam), NO_VECTOR).motion)
        L = np.concatenate([lam, lam])
        x = np.concatenate([f, L, vdot - f])
        self.solve_mass: Solve = solve
        if o.n_lam:
            self.columns = solve(o.reaction_jacobian(t, q, v, lam, NO_VECTOR))
        return State(t, q, v, f, f, h, L, x, None, None, None)  # type: ignore[arg-type]

    def take(self, state: State, h: float) -> State:
        """See `Scheme`."""
        if self.variant != "end":
            return super().take(state, h)
        a0 = self.adjusted(state.a, state.f, h / state.h)
        self._start(state, a0, h)
        self.newton.solve(self)
        x = self.unknowns
        L, f1 = np.concatenate([x.L0, x.L1]), self.new_force(x.a)
        found = np.concatenate([x.a, L, x.R1])
        q, v = self.position(x), self.velocity(x)
        return State(self.t, q, v, x.a, f1, h, L, found, None, None, None)  # type: ignore[arg-type]

    def _start(self, state: State, a0: Array, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        n, m = self.o.n_q, self.o.n_lam
        self.t, self.h, self.hb, self.hg = state.t + h, h, h * h * self.beta, h * self.gamma
        self.q0, self.v0, self.f0 = state.q, state.v, state.f
        self.q_hat = state.q + h * state.v + h * h * (0.5 - self.beta) * a0
        self.v_hat = state.v + h * (1.0 - self.gamma) * a0
        guess = self.newton.past.predicted(self.t)
        a, L0, L1, R1 = np.split(guess, [n, n + m, n + 2 * m])
        R0 = np.zeros(n)
        if m:
            R0 = self._old_reaction(state, L0)
        self.unknowns = Unknowns(a, L0, L1, R0, R1, None, None)

    def _old_reaction(self, state: State, L0: Array) -> Array:
        """Return R0 = r(t0, q0, L0): from the last step's R1, which is that of L1, and one call."""
        o, m = self.o, self.o.n_lam
        assert o.whole is not None
        change = L0 - state.kept[m:]
        R0 = state.x[-o.n_q :] + self.columns @ change
        found = o.whole.balance(state.t, state.q, state.v, state.f + R0, L0, NO_VECTOR)
        missing = -self.solve_mass(found.motion)
        if change.any():  # Broyden's update: reactions at q0 are those of this change
            self.columns = self.columns + np.outer(missing, change) / (change @ change)
        return R0 + missing

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, see `Problem`."""
        if self.variant != "end":
            return super().correct(solvers)
        matrices: Matrices = solvers
        o, x, n, m = self.o, self.unknowns, self.o.n_q, self.o.n_lam
        assert o.whole is not None
        q, v = self.position(x), self.velocity(x)
        at = o.whole.balance(self.t, q, v, self.new_force(x.a), np.zeros(m), NO_VECTOR)
        d = matrices.position(np.concatenate([-at.motion, -at.position / self.hb]))  # (3.4c)
        d_lam, dR = d[n:], np.zeros(n)
        if m:
            dR = self.columns @ d_lam
        a, R1 = self._kept_there(x.a + d[:n], dR, dR), x.R1 + dR
        self.unknowns = x = Unknowns(a, x.L0 + d_lam, x.L1 + d_lam, x.R0 + dR, R1, None, None)
        value = np.concatenate([larger(a, R1), x.L1])
        moved = size(self.relative, matrices.scales, d, value, q, self.hb if m else self.hg, n, m)
        if not m:
            return (moved,)
        e = self.project(matrices)
        value = np.concatenate([larger(x.a, x.R1), x.L1])
        change = np.concatenate([(self.velocity(x) - v) / self.h, e + d_lam])
        return (
            moved,
            size(self.relative, of_rates(o, matrices.scales), change, value, v, self.h, n, m),
        )

    def project(self, solvers: Any) -> Array:
        """Project the velocity, and return the change of the multiplier in v1."""
        if self.variant != "end":
            return super().project(solvers)
        matrices: Matrices = solvers
        o, w, x, n = self.o, self.weights, self.unknowns, self.o.n_q
        whole = o.whole
        assert whole is not None
        q, v = self.position(x), self.velocity(x)
        vdot = self.new_force(x.a) + x.R1
        at = whole.balance(self.t, q, v, vdot, x.L1, NO_VECTOR)
        rate = whole.rate_beside(self.t, q, v, vdot, at)  # (3.4e)
        e = matrices.velocity(np.concatenate([-w.v1 * at.motion, -rate / self.h]))
        e_lam = e[n:]
        x.L0, x.L1 = x.L0 + w.projection0 * e_lam, x.L1 + w.projection1 * e_lam
        dR0 = w.projection0 * (self.columns @ e_lam)
        dR1 = (e[:n] - w.v0 * dR0) / w.v1  # v1 moves by h e
        x.a = self._kept_there(x.a, dR0, dR1)
        x.R0, x.R1 = x.R0 + dR0, x.R1 + dR1
        return e_lam

    def _kept_there(self, a: Array, dR0: Array, dR1: Array) -> Array:
        """Return an a1 such that changes of the reactions do not move q1."""
        w = self.weights
        return np.asarray(a - 0.5 / self.beta * (w.q0 * dR0 + w.q1 * dR1))

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Acceleration and multipliers from (3.2), of second order because q and v are."""
        assert o.whole is not None
        L = kept.reshape(2, o.n_lam).mean(axis=0)
        return accelerations_of(o.whole)(o.name, t, q, v, L, NO_VECTOR, accurate=False)

    def setup(self) -> Matrices:
        """See `Holonomic`; reactions of both ends are taken as equal."""
        if self.variant != "end":
            return super().setup()
        o, newton, x, w = self.o, self.newton, self.unknowns, self.weights
        whole, m = o.whole, o.n_lam
        assert whole is not None
        q, v, f1 = self.position(x), self.velocity(x), self.new_force(x.a)
        newton.counters.njacs += 1
        state = self.t, q, v, f1, np.zeros(m), NO_VECTOR
        S = step_terms(o, *state, 1.0 / (1.0 + self.alpha), self.hb, self.hg)
        per_beta = 0.5 / (self.beta * (1.0 + self.alpha))
        R = S.reactions[0][0][1]
        reactions = [[((w.q0 + w.q1) * per_beta, R)]]
        position = newton.factorize("position", [*S.inertia, *S.forces], reactions, S.gradients)
        compared = scales(o, S.inertia, S.forces, S.gradients, q, self.hb, position)
        if not m:
            return Matrices(position, position, compared)  # there is nothing to project
        M = whole.mass(self.t, q, v, x.L1, NO_VECTOR)
        self.solve_mass = factorize(M)
        self.columns = -self.solve_mass(np.asarray(R))
        reactions = [[(w.v0 * w.projection0 + w.v1 * w.projection1, R)]]
        velocity = newton.factorize("velocity", [(1.0, M)], reactions, S.gradients)
        return Matrices(position, velocity, compared)
