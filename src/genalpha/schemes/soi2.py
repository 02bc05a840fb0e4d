"""GenAlphaSOI2: the generalized-alpha method for the stabilized overdetermined index-2 form.

L. O. Jay, D. Negrut: A second order extension of the generalized-alpha method for constrained
systems in mechanics. Multibody Dynamics, Springer (2008). Equation numbers are theirs; with
nonholonomic constraints only, the method is (2.3) of L. O. Jay, "Convergence of the generalized-
alpha method for constrained systems in mechanics with nonholonomic constraints".

Notation: q, v, lam, psi are the papers' y, z, lambda, psi; a0, a1 their a_alpha, a_{1+alpha}, which
belong to t0 + alpha h, t1 + alpha h; f is the whole right-hand side, forces and reactions;
names ending in _t carry the papers' tilde. One step:

    q1   = q0 + h v0 + h^2/2 ((1 - 2 beta) a0 + 2 beta a1_t)                          (13a)
    v1_t = v0 + h ((1 - gamma) a0 + gamma a1_t)                                       (13b)
    v1   = v0 + h ((1 - gamma) a0 + gamma a1)                                         (13c)
    (1 - alpha_m) M1 a1_t + alpha_m M0 a0
         = (1 - alpha_f) f(t1, q1, v1, lam1_t, psi1_t) + alpha_f f(t0, q0, v0, lam0, psi0)  (13d)
    (1 - alpha_m) M1 a1   + alpha_m M0 a0
         = (1 - alpha_f) f(t1, q1, v1, lam1, psi1)     + alpha_f f(t0, q0, v0, lam0, psi0)  (13e)
    0 = g(t1, q1)                   (13f)        0 = g_t + g_q v1  at (t1, q1)        (13g)
    0 = k(t1, q1, v1_t)             (13h)        0 = k(t1, q1, v1)                    (13i)

where M1 = M(t0 + (1 + alpha) h, q0 + h (1 + alpha) v0) is explicit and M0 is M1 of the step before.

How it is solved: (13a), (13b), (13d), (13f), (13h) are a position step for a1_t, lam1_t, psi1_t;
the rest, with (13e) replaced by the difference of (13d) and (13e),

    (1 - alpha_m) M1 delta = (1 - alpha_f) (reaction(lam1_t, psi1_t) - reaction(lam1, psi1)),

is a velocity projection for delta = a1_t - a1, which acts back on the position step only through
velocity-dependent forces. Each correction does one after the other, so that two systems of
n + m + l unknowns are solved instead of one of twice the size. Without holonomic constraints
delta = 0, and what is left is (2.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genalpha.errors import SingularSystemError
from genalpha.kernels import (
    add,
    add_product,
    called,
    combined,
    part,
    plus,
    product,
    solution,
    stacked,
    zeros,
)
from genalpha.model import Mechanism, Motion
from genalpha.model.equations import Reaction, mass_then, reaction_at
from genalpha.numerics.accuracy import Scales, of_rates, scales, size, with_states
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.gradients import constraints, reactions, tangent
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Solve
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.roots import Root, acting
from genalpha.schemes.native import native_accelerations, native_steps
from genalpha.schemes.printed import Printed, acceleration, constraint, position, velocity
from genalpha.schemes.scheme import GeneralizedAlpha, Reported, Scheme, Settings

Array = np.ndarray


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `Ma` is M a with the M of (13), `f` is f(t, q, v, lam, psi); `kept` is (lam, psi), of which the
    first `m` are lam and the next `n_psi` psi; x are the unknowns as they were found, see
    `Unknowns`.
    """

    t: float
    q: Array
    v: Array
    kept: Array
    a: Array
    Ma: Array
    a_old: Array
    Ma_old: Array
    f: Array
    h: float
    x: Array
    m: int
    n_psi: int

    @property
    def lam(self) -> Array:
        """The multipliers of holonomic constraints, shape (m,)."""
        return part(self.kept, 0, self.m)

    @property
    def psi(self) -> Array:
        """The multipliers of nonholonomic constraints, shape (l,)."""
        return part(self.kept, self.m, self.m + self.n_psi)


@dataclass
class Unknowns:
    """Those of the position step, and those of the velocity projection.

    `x` is (a1_t, lam1_t, psi1_t), `y` is (delta, mu, nu), where delta = a1_t - a1,
    mu = lam1 - lam1_t, nu = psi1 - psi1_t; `reaction` is that at the present q1.
    """

    x: Array
    y: Array
    reaction: Reaction


@dataclass
class Matrices:
    """Factorized matrices of position step and velocity projection, scales of both corrections."""

    position: Solve
    velocity: Solve
    scales: Scales
    of_rates: Scales


class GenAlphaSOI2(GeneralizedAlpha):
    """One step of (13).

    q1 = q_hat + hb a1_t, v1_t = v_hat + hg a1_t; `old` is what (13d), (13e) hold of t0.
    """

    name = "GenAlphaSOI2"
    paper = "Jay, Negrut 2008; Jay"
    doc = (
        "Generalized-alpha scheme for the stabilized overdetermined index-2 form. Position and "
        "velocity constraints, holonomic and nonholonomic ones together, hold as accurately as "
        "Newton's iteration solves (`newton_accuracy`). The one to start with."
    )

    unknowns: Unknowns

    @classmethod
    def fitting(cls, o: Mechanism) -> type[Scheme]:
        """Callbacks, or a residual, which is asked in another way."""
        if o.whole is None:
            return cls
        from genalpha.schemes.soi2_residual import SOI2OfResidual  # which builds on this class

        return SOI2OfResidual

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        self.weight_m, self.weight_f = 1.0 - self.alpha_m, 1.0 - self.alpha_f
        self.still = zeros(o.n_q)

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = vdot0, as allowed by Theorem 1."""
        o, shift = self.o, self.alpha * h
        q, v, vdot, lam, psi = motion
        Ma = o.mass(t + shift, q + shift * v) @ vdot
        f = o.force(t, q, v) + o.reaction(t, q, v, lam, psi)
        kept = np.concatenate([lam, psi])
        x = np.concatenate([vdot, kept, np.zeros(o.n_q + kept.size)])
        return State(t, q, v, kept, vdot, Ma, vdot, Ma, f, h, x, o.n_lam, o.n_psi)

    def shifted(self, state: State, first: State, h: float) -> State:
        """Start with a0 = a(t0 + alpha h) + O(h^2), in the manner of (8): t0 and t1 extrapolated.

        The a1 of a first step from the plain start is too rough for that; the consistent
        acceleration of its q1, v1 is not.
        """
        o, alpha = self.o, self.alpha
        vdot1, _, _ = accelerations(o, first.t, first.q, first.v, first.lam, first.psi)
        a = (1.0 - alpha) * state.a + alpha * vdot1
        Ma = (1.0 - alpha) * state.f + alpha * (o.mass(first.t, first.q) @ vdot1)
        return replace(state, a=a, a_old=a, Ma=Ma, Ma_old=Ma, h=h)

    def adjusted(self, state: State, h: float) -> tuple[Array, Array]:
        """Move a0 and M0 a0 from t0 + alpha h_old to t0 + alpha h."""
        if h == state.h or not self.adjusts:
            return state.a, state.Ma
        ratio = self.alpha * (h / state.h - 1.0)
        return (
            plus(state.a, ratio, plus(state.a, -1.0, state.a_old)),  # (14a)
            plus(state.Ma, ratio, plus(state.Ma, -1.0, state.Ma_old)),  # (14b)
        )

    def take(self, state: State, h: float) -> State:
        """See `Scheme`."""
        o, newton = self.o, self.newton
        a0, Ma0 = self.adjusted(state, h)
        self._begin(state, a0, Ma0, h)
        newton.solve(self)
        if o.n_lam:  # the last correction of q1 has left a trace in (13g): take it away
            self.project(newton.last_solvers)
        found, n = self.unknowns, o.n_q
        x, y = found.x, found.y
        end = _of_the_end(x, y, n)
        a1, kept = part(end, 0, n), part(end, n, end.shape[0])
        Ma1 = product(self.M1, a1)
        # (13e), solved for f(t1, ...)
        f1 = combined(self.weight_m / self.weight_f, Ma1, 1.0 / self.weight_f, self.old)
        q1, v1 = plus(self.q_hat, self.hb, x), plus(self.v_hat, self.hg, a1)
        both = stacked(1.0, x, 1.0, y)
        return State(self.t, q1, v1, kept, a1, Ma1, a0, Ma0, f1, h, both, o.n_lam, o.n_psi)

    def _begin(self, state: State, a0: Array, Ma0: Array, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        o = self.o
        self.t, self.hb, self.hg = state.t + h, h * h * self.beta, h * self.gamma
        self.q_hat = combined(1.0, state.q, h, state.v, h * h * (0.5 - self.beta), a0)
        self.v_hat = plus(state.v, h * (1.0 - self.gamma), a0)
        shift = (1.0 + self.alpha) * h
        self.M1 = mass_then(o, state.t + shift, plus(state.q, shift, state.v))
        self.old = combined(self.alpha_m, Ma0, -self.alpha_f, state.f)
        guess = self.past.predicted(self.t, self.relation)
        half = o.n_q + o.n_lam + o.n_psi
        x, y = part(guess, 0, half), part(guess, half, 2 * half)
        self.unknowns = Unknowns(x, y, reaction_at(o, self.t, plus(self.q_hat, self.hb, x)))

    def native(self) -> Any:
        """See `Scheme`."""
        o = self.o
        count = 2 * (o.n_q + o.n_lam + o.n_psi)
        return native_steps("soi2", "SOI2", self, count, "holonomic_rate")

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, see `Problem`."""
        matrices: Matrices = solvers
        o, newton, found = self.o, self.newton, self.unknowns
        t, hb, hg, n, m = self.t, self.hb, self.hg, o.n_q, o.n_lam
        x, y = found.x, found.y
        self.counters.nfcns += 1
        q, v_t = plus(self.q_hat, hb, x), plus(self.v_hat, hg, x)  # (13a), (13b)
        v = plus(v_t, -hg, y)  # (13c)
        r = zeros(x.shape[0])
        add_product(r, -self.weight_m, self.M1, x, 0)  # (13d)
        add(r, 0, -1.0, self.old)
        add(r, 0, self.weight_f, called(o.force, t, q, v))
        found.reaction.add(r, self.weight_f, v, x, n)
        if m:
            add(r, n, -1.0 / hb, called(o.holonomic, t, q))  # (13f)
        if o.n_psi:
            add(r, n + m, -1.0 / hg, called(o.nonholonomic, t, q, v_t))  # (13h)
        d = solution(matrices.position, r)
        compared = matrices.scales
        noise = compared.noise_of(q, hb if m else hg)
        d = newton.accelerated(d, n, compared.mass_over_gradient, self.t, noise, compared.units)
        x = plus(x, 1.0, d)
        moved = size(self.relative, matrices.scales, d, x, q, hb if m else hg, n, m)
        self.unknowns = found = Unknowns(x, y, reaction_at(o, t, plus(self.q_hat, hb, x)))
        if m == 0:
            return (moved,)

        e = self.project(matrices)
        final, change = _of_the_end(x, found.y, n), _of_the_end(d, e, n)
        return (moved, size(self.relative, matrices.of_rates, change, final, v, hg, n, m))

    def project(self, solvers: Any) -> Array:
        """Project the velocity, and return the correction of delta, mu, nu."""
        matrices: Matrices = solvers
        o, found = self.o, self.unknowns
        t, hg, n, m = self.t, self.hg, o.n_q, o.n_lam
        x, y, reaction = found.x, found.y, found.reaction
        q = plus(self.q_hat, self.hb, x)
        v = combined(1.0, self.v_hat, hg, x, -hg, y)
        r = zeros(x.shape[0])
        add_product(r, -self.weight_m, self.M1, y, 0)  # (13d) - (13e)
        if o.is_ideal:  # linear in the multipliers
            reaction.add(r, -self.weight_f, v, y, n)
        else:
            reaction.add(r, -self.weight_f, v, plus(x, 1.0, y), n)
            reaction.add(r, self.weight_f, v, x, n)
        add(r, n, 1.0 / hg, called(o.holonomic_rate, t, q, v))  # (13g)
        if o.n_psi:
            add(r, n + m, 1.0 / hg, called(o.nonholonomic, t, q, v))  # (13i)
        e = solution(matrices.velocity, r)
        found.y = plus(y, 1.0, e)
        return e

    def setup(self) -> Matrices:
        """Factorize the derivatives of (13d), (13f), (13h) and of (13d) - (13e), (13g), (13i).

        The constraints are divided by what the unknown accelerations move q and v, so that neither
        matrix becomes ill-conditioned for small h.
        """
        o, found = self.o, self.unknowns
        t, hb, hg, n, m = self.t, self.hb, self.hg, o.n_q, o.n_lam
        x, y = found.x, found.y
        q, v = plus(self.q_hat, hb, x), combined(1.0, self.v_hat, hg, x, -hg, y)
        lam, psi = part(x, n, n + m), part(x, n + m, x.shape[0])
        self.count_matrix()
        inertia = [(self.weight_m, self.M1)]
        # the explicit M1 does not depend on q1: vdot = 0 leaves the derivatives of -f
        forces = tangent(o, t, q, v, self.still, lam, psi, self.weight_f * hb, self.weight_f * hg)
        J, moved = constraints(o, t, q, v, hb / hg)
        R = reactions(o, -self.weight_f, t, q, v, lam, psi, J)
        position = self.factorize("position", [*inertia, *forces], R, moved)
        compared = scales(o, inertia, forces, J, q, hb or hg, position, x[n:])
        compared = with_states(o, compared, x, v, forces, hg)
        if not m:
            return Matrices(position, position, compared, compared)  # there is nothing to project
        R = [[(-c, matrix) for c, matrix in terms] for terms in R]
        velocity = self.factorize("velocity", inertia, R, J)
        return Matrices(position, velocity, compared, of_rates(o, compared))

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Multipliers are the scheme's own; the true acceleration is M(t, q)^-1 f."""
        lam, psi = kept[: o.n_lam], kept[o.n_lam :]
        try:
            solve = mass_solver(o, t, q)
        except SingularSystemError:  # massless coordinates: only the constraints move them
            return accelerations(o, t, q, v, lam, psi)[0], lam, psi
        return solve(o.force(t, q, v) + o.reaction(t, q, v, lam, psi)), lam, psi

    @staticmethod
    def report_rows(o: Mechanism, rows: Array) -> Reported | None:
        """See `Scheme`; in machine code, or not at once."""
        vdot, start = native_accelerations(o, rows), 1 + 3 * o.n_q
        if vdot is None:
            return None
        return vdot, rows[:, start : start + o.n_lam], rows[:, start + o.n_lam :]

    @classmethod
    def roots(cls, o: Mechanism, c: Coefficients) -> tuple[Root, ...]:
        """All constraints are kept at velocity level; what position level needs is not carried."""
        return acting(c, position=False, velocity=bool(o.n_lam or o.n_psi))

    @classmethod
    def faults(cls, o: Mechanism, settings: Settings) -> list[str]:
        """Conditions of Theorem 1 (with holonomic) and of Jay's Theorem 6.1 (nonholonomic)."""
        c, found = settings.coefficients, super().faults(o, settings)
        if c.gamma == 0.0:
            found.append("gamma = 0, excluded by the theorem")
        if o.n_lam and c.beta == 0.0:
            found.append("beta = 0: a holonomic constraint needs beta != 0 (Theorem 1)")
        return found

    @staticmethod
    def printed(o: Mechanism, settings: Settings, old: State, new: State) -> Printed:
        """See `Scheme`."""
        c, h, t0, q0, v0 = settings.coefficients, new.h, old.t, old.q, old.v
        am, af, beta, gamma, alpha = c.alpha_m, c.alpha_f, c.beta, c.gamma, c.alpha
        t1, q1, v1, a0, M0a0, a1 = t0 + h, new.q, new.v, old.a, old.Ma, new.a
        if settings.adjust_steps:
            a0 = old.a + alpha * (h / old.h - 1) * (old.a - old.a_old)  # (14a)
            M0a0 = old.Ma + alpha * (h / old.h - 1) * (old.Ma - old.Ma_old)  # (14b)
        M1 = o.mass(t0 + (1 + alpha) * h, q0 + h * (1 + alpha) * v0)
        n, m, count = o.n_q, o.n_lam, new.x.size // 2
        a1_t, lam1_t, psi1_t = new.x[:n], new.x[n : n + m], new.x[n + m : count]
        v1_t = v0 + h * ((1 - gamma) * a0 + gamma * a1_t)  # (13b)

        def f(t: float, q: Array, v: Array, lam: Array, psi: Array) -> Array:
            return o.force(t, q, v) + o.reaction(t, q, v, lam, psi)

        f0 = f(t0, q0, v0, old.lam, old.psi)
        f1_t, f1 = f(t1, q1, v1, lam1_t, psi1_t), f(t1, q1, v1, new.lam, new.psi)
        moved = q0 + h * v0 + h**2 / 2 * ((1 - 2 * beta) * a0 + 2 * beta * a1_t)
        return {
            "(13a)": position(q1, -moved),
            "(13c)": velocity(v1, -(v0 + h * ((1 - gamma) * a0 + gamma * a1))),
            "(13d)": acceleration((1 - am) * M1 @ a1_t, am * M0a0, -(1 - af) * f1_t, -af * f0),
            "(13e)": acceleration((1 - am) * M1 @ a1, am * M0a0, -(1 - af) * f1, -af * f0),
            "(13f)": constraint(o.holonomic(t1, q1)),
            "(13g)": constraint(o.holonomic_rate(t1, q1, v1)),
            "(13h)": constraint(o.nonholonomic(t1, q1, v1_t)),
            "(13i)": constraint(o.nonholonomic(t1, q1, v1)),
        }


def _of_the_end(x: Array, y: Array, n: int) -> Array:
    """Return (a1_t - delta, lam1_t + mu, psi1_t + nu), that is (a1, lam1, psi1)."""
    end = plus(x, 1.0, y)
    add(end, 0, -2.0, part(y, 0, n))
    return end
