"""HHTI2 on a residual: the same equations (3.4), with few calls, for any mass M(t, q).

See `hhti2` for the paper and the notation. F is linear in accelerations and multipliers, so that
the accelerations that the forces and the reactions make, f and R, are put into it as they are, and
no mass matrix is needed beside those of Newton's iteration. A correction costs

- one call at (q1, v1) with vdot = f1 and without multipliers, for (3.4c) and g;
- one at (q1, v1) with vdot = f1 + R1 and L1, for R1 of (3.4d) and, if the residual has rows for
  it, the rate of g; otherwise one more a little ahead in the motion;
- one at (q0, v0) with vdot = f0 + R0 and L0, for R0 of (3.4d), as long as L0 moves in directions in
  which the reaction at q0 is not known from such calls, or from the end of the last step.

Corrections are those of the matrix, without secants (`Newton.accelerated`): position step and
projection alternate, and what a correction of one tells is mostly what the other has done.

Variants other than "end" take R1 elsewhere, at the price of another call. Reactions that are not
linear in the multipliers are left to callbacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.kernels import combined, norm, part, plus, product, solution, stacked, zeros
from genalpha.model import Mechanism, Motion
from genalpha.model.residual import Balance
from genalpha.numerics.accuracy import Scales, larger, of_rates, scales, size, with_states
from genalpha.numerics.from_residual import about_mass, accelerations_of, show_roughly
from genalpha.numerics.linear import Solve, factorize
from genalpha.numerics.newton import Newton, Sizes
from genalpha.schemes.hht import NO_VECTOR, initial_solver
from genalpha.schemes.hhti2 import HHTI2
from genalpha.schemes.scheme import Reported, Settings

Array = np.ndarray

#: R0 is asked for again while it moves by more than this, in units of the accuracy wanted: the
#: matrix with which it was corrected is right to some hundredths.
MOVING = 5.0
#: Of a multiplier, this share must be new for its reaction to be remembered.
NEW_DIRECTION = 1e-3


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `f` is f(t, q, v) = M^-1 force and R the reaction M^-1 r(t, q, L1); `kept` is (L0, L1); x is
    (a1, L0, L1, R1).
    """

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    R: Array
    h: float
    kept: Array
    x: Array


@dataclass
class Unknowns:
    """a1, L0, L1, R0, R1."""

    a: Array
    L0: Array
    L1: Array
    R0: Array
    R1: Array


@dataclass
class Matrices:
    """Factorized matrices of position step and projection; how R follows L, and about M."""

    position: Solve
    velocity: Solve
    scales: Scales
    of_rates: Scales
    by_lam: Array
    mass: Solve
    inertia: Array


class Reactions:
    """M^-1 r(t, q, L) at one position, which is linear in L: known where it was asked for.

    Parameters
    ----------
    L, R : (m,), (n,) array
        A multiplier and its reaction.
    error : float
        What may be wrong with R. Of a small L, this is nothing that a larger one may rely on.
    """

    def __init__(self, L: Array, R: Array, error: float) -> None:
        self._n = R.size
        self._known: list[tuple[Array, Array, float]] = []
        self.add(L, R, error)

    def add(self, L: Array, R: Array, error: float) -> None:
        """Take over what is new of another one, in a direction of its own."""
        left, reaction = self._apart(L)
        length = norm(left)
        if length > NEW_DIRECTION * norm(L):
            known = combined(1.0 / length, R, -1.0 / length, reaction)
            self._known.append(((1.0 / length) * left, known, error / length))

    def doubt(self, L: Array) -> float:
        """Return what may be wrong with the reaction to L, as far as it is known."""
        found = 0.0
        for direction, _, per in self._known:
            found += abs(float(direction.dot(L))) * per
        return found

    def _apart(self, L: Array) -> tuple[Array, Array]:
        """Return the part of L whose reaction is not known, and the reaction to the rest."""
        left, reaction = L, zeros(self._n)
        for direction, known, _ in self._known:
            c = float(direction.dot(left))
            left, reaction = plus(left, -c, direction), plus(reaction, c, known)
        return left, reaction

    def __call__(self, L: Array, by_lam: Array) -> tuple[Array, Array]:
        """Return the reaction to L, and the part of it that is only known by the matrix."""
        left, reaction = self._apart(L)
        rest = product(by_lam, left)
        return plus(reaction, 1.0, rest), rest


class HHTI2OfResidual(HHTI2):
    """One step of (3.4), asked of a residual."""

    unknowns: Any

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        self.still, self.no_lam = np.zeros(o.n_q), np.zeros(o.n_lam)
        assert o.whole is not None
        show_roughly(o.whole, self.relative)

    def begin(self, t: float, motion: Motion, h: float) -> Any:
        """Start with a0 = f(t0, q0, v0)."""
        q, v, _, lam, _ = motion
        whole = self.o.whole
        assert whole is not None
        solve = initial_solver(self.o, t, q)
        f = -solve(whole.balance(t, q, v, 0.0 * v, 0.0 * lam, NO_VECTOR).motion)
        # not vdot - f, which is as accurate as vdot: multipliers may be 0 but for rounding
        R = -solve(whole.balance(t, q, v, f, lam, NO_VECTOR).motion)
        L = np.concatenate([lam, lam])
        return State(t, q, v, f, f, R, h, L, np.concatenate([f, L, R]))

    def take(self, state: Any, h: float) -> Any:
        """See `Scheme`."""
        s: State = state
        self._prepare(s, self.adjusted(s.a, s.f, h / s.h), h)
        self.newton.solve(self)
        x = self.unknowns
        L, q, v = stacked(1.0, x.L0, 1.0, x.L1), self._q1(x), self._v1(x)
        found = stacked(1.0, x.a, 1.0, L, 1.0, x.R1)
        return State(self.t, q, v, x.a, self.new_force(x.a), x.R1, h, L, found)

    def _prepare(self, s: State, a0: Array, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        n, m = self.o.n_q, self.o.n_lam
        self.t, self.h, self.hb, self.hg = s.t + h, h, h * h * self.beta, h * self.gamma
        self.q0, self.v0, self.f0, self.t0 = s.q, s.v, s.f, s.t
        self.q_hat = combined(1.0, s.q, h, s.v, h * h * (0.5 - self.beta), a0)
        self.v_hat = plus(s.v, h * (1.0 - self.gamma), a0)
        guess = self.past.predicted(self.t)
        a, L0, L1 = part(guess, 0, n), part(guess, n, n + m), part(guess, n + m, n + 2 * m)
        R1 = part(guess, n + 2 * m, 2 * (n + m))
        self.unknowns = Unknowns(a, L0, L1, s.R, R1)
        if m:  # the reaction at the end of the last step, of another multiplier
            self.reactions = Reactions(part(s.kept, m, 2 * m), s.R, self._uncertainty(s.a, s.R))
            last = self.newton.last_solvers
            self.unknowns.R0 = s.R if last is None else self.reactions(L0, last.by_lam)[0]

    def _q1(self, x: Unknowns) -> Array:
        """Return q1 (3.4a)."""
        w, half = self.weights, 0.5 * self.h * self.h
        q = plus(self.q_hat, self.hb, x.a)
        return combined(1.0, q, half * w.q0, x.R0, half * w.q1, x.R1)

    def _v1(self, x: Unknowns) -> Array:
        """Return v1 (3.4b)."""
        w, h = self.weights, self.h
        return combined(1.0, plus(self.v_hat, self.hg, x.a), h * w.v0, x.R0, h * w.v1, x.R1)

    def _balance(self, q: Array, v: Array, vdot: Array, lam: Array) -> Balance:
        whole = self.o.whole
        assert whole is not None
        return whole.balance(self.t, q, v, vdot, lam, NO_VECTOR)

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, see `Problem`."""
        matrices: Matrices = solvers
        o, compared = self.o, matrices.scales
        n, m = o.n_q, o.n_lam
        x = self._with_old_reaction(self.unknowns, matrices)
        q, v = self._q1(x), self._v1(x)
        at = self._balance(q, v, self.new_force(x.a), self.no_lam)
        right = stacked(-1.0, at.motion, -1.0 / self.hb, at.position)  # (3.4c), g
        d = solution(matrices.position, right)
        d_lam = part(d, n, n + m)
        dR = product(matrices.by_lam, d_lam) if m else self.still
        a = self._moved(plus(x.a, 1.0, d), dR, dR)
        L0, L1 = plus(x.L0, 1.0, d_lam), plus(x.L1, 1.0, d_lam)
        R0, R1 = plus(x.R0, 1.0, dR), plus(x.R1, 1.0, dR)
        self.unknowns = x = Unknowns(a, L0, L1, R0, R1)
        value = stacked(1.0, larger(a, x.R1), 1.0, x.L1)
        moved = size(self.relative, compared, d, value, q, self.hb if m else self.hg, n, m)
        if not m:
            return (moved,)
        e = self.project(matrices)
        x = self.unknowns
        value = stacked(1.0, larger(x.a, x.R1), 1.0, x.L1)
        faster = plus(self._v1(x), -1.0, v)
        change = stacked(1.0 / self.h, faster, 1.0, plus(e, 1.0, d_lam))
        return (moved, size(self.relative, matrices.of_rates, change, value, v, self.h, n, m))

    def _uncertainty(self, a: Array, R: Array) -> float:
        """Return how accurate reactions are: as Newton's iteration is; rates of states aside."""
        k = self.o.n_moving
        return self.relative * max(norm(part(a, 0, k)), norm(part(R, 0, k)))

    def _with_old_reaction(self, x: Unknowns, matrices: Matrices) -> Unknowns:
        """Return the unknowns with R0 = r(t0, q0, L0) (3.4d); q1 moves with it."""
        whole = self.o.whole
        assert whole is not None
        if not self.o.n_lam:
            return x
        error = self._uncertainty(x.a, x.R0)
        allowed = MOVING * error
        R0, unsure = self.reactions(x.L0, matrices.by_lam)
        doubt = self.reactions.doubt(x.L0)
        if norm(unsure) + doubt > allowed:
            vdot = plus(self.f0, 1.0, R0)
            at = whole.balance(self.t0, self.q0, self.v0, vdot, x.L0, NO_VECTOR)
            d = solution(matrices.mass, self._of_reaction(at.motion, R0, matrices))
            R0 = plus(R0, -1.0, d)
            if whole.constant_mass is not None or norm(d) <= allowed:
                if doubt > allowed:
                    self.reactions = Reactions(x.L0, R0, error)
                else:
                    self.reactions.add(x.L0, R0, error)
        return Unknowns(x.a, x.L0, x.L1, R0, x.R1)

    def project(self, solvers: Any) -> Array:
        """Project the velocity, and return the change of the multiplier in v1."""
        matrices: Matrices = solvers
        o, w, x, n = self.o, self.weights, self.unknowns, self.o.n_q
        whole = o.whole
        assert whole is not None
        q, v, vdot = self._q1(x), self._v1(x), plus(self.new_force(x.a), 1.0, x.R1)
        at = self._balance(q, v, vdot, x.L1)
        lack = at.motion if self.variant == "end" else self._lack_elsewhere(q, v, x)  # (3.4d)
        rate = at.rates  # (3.4e)
        if rate is None:
            rate = whole.rate_beside(self.t, q, v, vdot, x.L1, NO_VECTOR, at)
        lack = self._of_reaction(lack, x.R1, matrices)
        e = solution(matrices.velocity, stacked(-w.v1, lack, -1.0 / self.h, rate))
        e_lam = part(e, n, n + o.n_lam)
        dL0 = w.projection0 * e_lam
        dR0 = product(matrices.by_lam, dL0)
        dR1 = combined(1.0 / w.v1, part(e, 0, n), -w.v0 / w.v1, dR0)  # v1 moves by h e
        a, L1 = self._moved(x.a, dR0, dR1), plus(x.L1, w.projection1, e_lam)
        L0, R0, R1 = plus(x.L0, 1.0, dL0), plus(x.R0, 1.0, dR0), plus(x.R1, 1.0, dR1)
        self.unknowns = Unknowns(a, L0, L1, R0, R1)
        return e_lam

    def _of_reaction(self, lack: Array, R: Array, matrices: Matrices) -> Array:
        """Return what (3.4d) lacks: for states M R alone, because no constraint reacts on them.

        The rest of their rows is what (3.4c) lacks of their rates, which may be stiff: it is for
        the position step.
        """
        o, k = self.o, self.o.n_moving
        if not o.n_states:
            return lack
        found = plus(lack, 0.0, lack)
        found[k:] = product(matrices.inertia, R)[k:]
        return found

    def _lack_elsewhere(self, q: Array, v: Array, x: Unknowns) -> Array:
        """Return M R1 - r(L1) where the variant has it: the difference of two calls."""
        whole, t, h = self.o.whole, self.t, self.h
        assert whole is not None
        place = plus(self.q0, h, self.v0)  # (3.5)
        if self.variant != "predicted":  # a midpoint, that of q1 or that of (3.5)
            end = q if self.variant == "midpoint" else place
            t, place, v = t - 0.5 * h, 0.5 * (self.q0 + end), 0.5 * (self.v0 + v)
        with_it = whole.balance(t, place, v, x.R1, x.L1, NO_VECTOR).motion
        without = whole.balance(t, place, v, self.still, self.no_lam, NO_VECTOR).motion
        return plus(with_it, -1.0, without)

    def _moved(self, a: Array, dR0: Array, dR1: Array) -> Array:
        """Return an a1 such that changes of the reactions do not move q1."""
        w, per = self.weights, -0.5 / self.beta
        return combined(1.0, a, per * w.q0, dR0, per * w.q1, dR1)

    def setup(self) -> Any:
        """Factorize the derivatives of (3.4c) and g, and the projection onto the rate of g."""
        o, newton, w, x = self.o, self.newton, self.weights, self.unknowns
        whole, n, m, ca = o.whole, o.n_q, o.n_lam, 1.0 / (1.0 + self.alpha)
        assert whole is not None
        self.counters.njacs += 1
        q, v = self._q1(x), self._v1(x)
        state = self.t, q, v, self.new_force(x.a), self.no_lam, NO_VECTOR
        found = whole.blocks(*state, ca, self.hb, self.hg)
        newton.setup_cost = whole.matrix_cost
        M = about_mass(whole, found.A / ca, *state[:4], o.n_states)
        inertia, forces, J = [(ca, M)], [(1.0, found.A - ca * M)], [[(1.0, found.G)]]
        per_beta = 0.5 / (self.beta * (1.0 + self.alpha))
        R = [[((w.q0 + w.q1) * per_beta, found.R)]]
        position = self.factorize("position", [*inertia, *forces], R, J)
        compared = scales(o, inertia, forces, J, q, self.hb, position, x.L1)
        compared = with_states(o, compared, x.a, v, forces, self.hg)
        mass = factorize(M)
        if not m:
            return Matrices(position, position, compared, compared, np.zeros((n, 0)), mass, M)
        by_lam = -np.array([mass(column) for column in found.R.T]).T
        R = [[(w.v0 * w.projection0 + w.v1 * w.projection1, found.R)]]
        velocity = self.factorize("velocity", [(1.0, M)], R, J)
        return Matrices(position, velocity, compared, of_rates(o, compared), by_lam, mass, M)

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Acceleration and multipliers from (3.2), of second order because q and v are."""
        assert o.whole is not None
        L = kept.reshape(2, o.n_lam).mean(axis=0)
        return accelerations_of(o.whole)(o.name, t, q, v, L, NO_VECTOR, accurate=False)
