"""GenAlphaI3: the index-3 generalized-alpha scheme of Arnold and Brüls.

M. Arnold, O. Brüls: Convergence of the generalized-alpha scheme for constrained mechanical
systems. Multibody System Dynamics 18 (2007). Equation numbers are theirs.

Notation: q, v, vdot, lam are the paper's q, q', q'', lambda; a its acceleration-like variable,
which belongs to the instant t + alpha h; bp, gp its beta', gamma' (6); G = Phi_q.

One step solves, for vdot1 and lam1,

    M vdot1 = f(q1, v1, t1) - G^T lam1                                  (1)
    0 = g(q1, t1)                                                       (2)
    (1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) vdot1 + alpha_f vdot0 (3)
    q1 = q0 + h v0 + h^2 (1/2 - beta) a0 + h^2 beta a1                  (4)
    v1 = v0 + h (1 - gamma) a0 + h gamma a1                             (5)

that is, dynamic equilibrium holds exactly at t1. Nonholonomic constraints 0 = k(q1, v1, t1), which
the paper does not treat, are added in the same spirit, with multipliers psi.

HHT-I3 of Negrut et al. weighs the equilibrium at t0 and t1 instead; for a constant mass matrix
this is the scheme here with HHT coefficients, for a variable one it is not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genalpha.errors import UndampedWarning
from genalpha.kernels import (
    add,
    combined,
    part,
    plus,
    product,
    snapshot,
    solution,
    stacked,
    zeros,
)
from genalpha.model import Mechanism, Motion
from genalpha.model.equations import add_balance
from genalpha.numerics.accuracy import Scales, scales, size, with_states
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.gradients import step_terms
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Solve
from genalpha.numerics.local_error import History, MeanHistory
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import Past
from genalpha.numerics.roots import Root, acting
from genalpha.options import Choice, Option
from genalpha.schemes.drift import drifted, jerk, present_drift
from genalpha.schemes.native import native_steps
from genalpha.schemes.printed import Printed, acceleration, constraint, position, velocity
from genalpha.schemes.scheme import GeneralizedAlpha, Reported, Settings

Array = np.ndarray

ADJUSTMENT = Option(
    "adjustment",
    "drift",
    Choice(("drift", "a", "gamma")),
    "What `adjust_steps` does when the step size changes. 'drift' (default): moves a to its new "
    "instant and changes the velocity that the step starts from, in the direction M^-1 [G; K]^T of "
    "the reactions; order 2 in everything. 'a': only moves a. 'gamma': moves nothing and updates "
    "gamma, as the paper says; order 2 in q and v, 1 in the multipliers. With holonomic "
    "constraints, 'a' and 'gamma' are for given steps only: after an adaptive step that is cut to "
    "h, accelerations would be wrong by the last step's drift over h, without bound.",
)


def updated_gamma(alpha_m: float, alpha_f: float, offset: float, h: float) -> tuple[float, float]:
    """Return the gamma of order 2 for an a0 that belongs to t0 + offset, and the offset of a1.

    (3) makes a1 belong to t1 + offset1; (5) is of order 2 if the weighed mean of both instants is
    the middle of the step. With equal steps, offset = alpha h, and gamma is that of (20).
    """
    offset1 = ((alpha_m - alpha_f) * h - alpha_m * offset) / (1.0 - alpha_m)
    return (0.5 * h - offset) / (h + offset1 - offset), offset1


def _keeps_drift(settings: Settings) -> list[str]:
    """Return a fault if the drift of the velocity stays that of the last step size.

    A step that is cut from h0 to h makes an acceleration of order h0^2 / h of it by (4). The error
    estimate sees that, cuts once more, and so on: nothing bounds the accelerations reported.
    """
    if not settings.adjust_steps:
        option = "adjust_steps = False"
    elif settings.adjustment != "drift":
        option = f"adjustment = {settings.adjustment!r}"
    else:
        return []
    return [
        f"{option}: with holonomic constraints, adaptive steps need the drift of the velocity "
        "adjusted (adjust_steps = True, adjustment = 'drift'); otherwise give h"
    ]


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    x is (vdot, lam, psi), of which the first `n` are vdot and the next `m` lam; a belongs to the
    instant t + offset. `rate` is g_t + G v of a residual, if it is known; `unit_drift` is the same
    over h^2 of any mechanism, if adaptive steps asked for it, and `unit_drift_before` that of the
    state before.
    """

    t: float
    q: Array
    v: Array
    x: Array
    a: Array
    a_old: Array
    h: float
    n: int
    m: int
    offset: float
    rate: Any = None
    unit_drift_before: Any = None
    unit_drift: Any = None

    @property
    def vdot(self) -> Array:
        """The acceleration, shape (n,)."""
        return part(self.x, 0, self.n)

    @property
    def lam(self) -> Array:
        """The multipliers of holonomic constraints, shape (m,)."""
        return part(self.x, self.n, self.n + self.m)

    @property
    def psi(self) -> Array:
        """The multipliers of nonholonomic constraints, shape (l,)."""
        return part(self.x, self.n + self.m, self.x.shape[0])

    @property
    def kept(self) -> Array:
        """What `report` needs beside t, q, v."""
        return self.x


@dataclass
class Matrices:
    """The factorized iteration matrix, what corrections are compared with, a residual's G."""

    solve: Solve
    scales: Scales
    G: Any


class GenAlphaI3(GeneralizedAlpha):
    """Algorithm 1; its unknowns are x = (vdot1, lam1, psi1).

    a_hat, q_hat, v_hat are a1, q1, v1 as they would be if vdot1 were 0; with (7),
    q1 = q_hat + vdot1 / bp and v1 = v_hat + gp / bp vdot1.
    """

    name = "GenAlphaI3"
    paper = "Arnold, Brüls 2007"
    doc = (
        "Index-3 generalized-alpha scheme. Position constraints hold as accurately as Newton's "
        "iteration solves (`newton_accuracy`); velocities drift from theirs by O(h^2), which does "
        "not accumulate. The cheapest scheme per step."
    )
    keeps_velocity = False
    #: What is left in g comes back in a as a swing that is tens of times as large, by the triple
    #: root of the scheme at infinity.
    newton_share = 0.005
    options = (*GeneralizedAlpha.options, ADJUSTMENT)

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        self.adjustment = settings.adjustment if self.adjusts else "none"
        self.updates_gamma = self.adjustment == "gamma"
        # of g_t + G v, over h^2 G v''
        self.drift = 1.0 / 6.0 - self.alpha / 2.0 - self.beta
        # the share of the earlier one in a mean of two drifts that knows no swing (-rho)^n
        rho = min(1.0, settings.coefficients.rho_inf)
        self.earlier = rho / (1.0 + rho)
        # positions of the last accepted steps, to guess from
        self.places = Past()

    @classmethod
    def symmetric(cls, o: Mechanism) -> dict[str, Any]:
        """The trapezoidal rule; with constraints, oscillations (-1)^n would stay or even grow."""
        return {} if o.n_lam + o.n_psi else {"rho_inf": 1.0}

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = vdot0 as in (3)."""
        q, v, vdot, lam, psi = motion
        x = np.concatenate([vdot, lam, psi])
        return State(t, q, v, x, vdot, vdot, h, self.o.n_q, self.o.n_lam, 0.0)

    def shifted(self, state: State, first: State, h: float) -> State:
        """Start with a0 = vdot(t0 + alpha h) + O(h^2), and with the drift that steps h build up.

        a0 comes from vdot0 and vdot1, extrapolated linearly. The vdot1 of a first step from the
        plain start is too rough for that; the consistent one of its q1, v1 is not. A start without
        drift, see `drift`, would cost an order in the first lam.
        """
        o, alpha, v = self.o, self.alpha, state.v
        point = first.t, first.q, first.v, first.lam, first.psi
        vdot1, _, _ = accelerations(o, *point, self.relative)
        a = (1.0 - alpha) * state.vdot + alpha * vdot1
        if o.n_lam:
            drift = self.drift * h**2 * jerk(o, self.newton, state, vdot1, h)
            # to rounding, so that the projection of v is the velocity of the start, where an event
            # function may be zero
            v = drifted(o, self.newton, state, drift, 0.0)
        return replace(state, v=v, a=a, a_old=a, h=h, offset=alpha * h)

    def adjusted(self, state: State, h: float) -> tuple[Array, Array]:
        """Return v0 and a0 for a step size other than the last one.

        a0 moves from t0 + alpha h_old to t0 + alpha h by formula (14a) of Jay and Negrut (2008).

        v0 has the drift c h_old^2 that the scheme has built up with steps h_old; steps h build up
        c h^2. The difference, which is small in v0, would be of order h in lam1, because (4) turns
        it into an acceleration. It is taken away.

        Where a swings, so does the drift; scaled with h^2 like the rest, the swing would grow in
        growing steps. In a weighed mean of two drifts it cancels. (With given steps, whose errors
        are to have expansions in h, there is one formula for all ratios.)
        """
        o = self.o
        if h == state.h or self.adjustment in ("none", "gamma"):
            return state.v, state.a
        ratio = h / state.h
        change = self.alpha * (ratio - 1.0)
        a = combined(1.0 + change, state.a, -change, state.a_old)
        if not o.n_lam or self.adjustment == "a":
            return state.v, a
        drift = present_drift(o, state, self.drift, ratio, self.places)
        if self.newton.learns:
            square, share = state.h**2, self.earlier
            state.unit_drift = combined(1.0 / square, drift, 0.0, drift)
            if ratio > 1.0 and state.unit_drift_before is not None:
                drift = combined(1.0 - share, drift, share * square, state.unit_drift_before)
        drift = combined(ratio**2 - 1.0, drift, 0.0, drift)
        return drifted(o, self.newton, state, drift, self.relative), a

    def take(self, state: State, h: float) -> State:
        """See `Scheme`."""
        a0 = self._begin(state, h)
        self.newton.solve(self)
        x, bp, gp, o = self.unknowns, self.bp, self.gp, self.o
        q, v = plus(self.q_hat, 1.0 / bp, x), plus(self.v_hat, gp / bp, x)  # (7)
        a = plus(self.a_hat, (1.0 - self.alpha_f) / (1.0 - self.alpha_m), x)  # (3)
        rate = None if o.whole is None else o.whole.rate_there(v)
        n, m = o.n_q, o.n_lam
        return State(self.t, q, v, x, a, a0, h, n, m, self.offset, rate, state.unit_drift)

    def _begin(self, state: State, h: float) -> Array:
        """Prepare the step up to the loop, guess its unknowns, and return a0."""
        alpha_m, alpha_f, beta = self.alpha_m, self.alpha_f, self.beta
        self.t, self.offset = state.t + h, self.alpha * h
        if self.updates_gamma:
            self.gamma, self.offset = updated_gamma(alpha_m, alpha_f, state.offset, h)
        gamma = self.gamma
        self.bp = (1.0 - alpha_m) / (h * h * beta * (1.0 - alpha_f))  # (6)
        self.gp = gamma / (h * beta)
        v0, a0 = self.adjusted(state, h)
        a_hat = combined(-alpha_m / (1.0 - alpha_m), a0, alpha_f / (1.0 - alpha_m), state.x)
        self.q_hat = combined(1.0, state.q, h, v0, h * h * (0.5 - beta), a0)
        add(self.q_hat, 0, h * h * beta, a_hat)
        self.v_hat = combined(1.0, v0, h * (1.0 - gamma), a0, h * gamma, a_hat)
        self.a_hat = a_hat
        self.unknowns = self._guess()
        return a0

    def _guess(self) -> Array:
        """Return the unknowns as extrapolated, such that the constraints hold.

        With changing steps, accelerations and multipliers swing, and what they swing by next is
        nowhere in their past: (4) makes it of q1, q0, v0 and a0. Positions do not swing. Where
        these are extrapolated to, the constraints hold, as nearly as it takes.
        """
        o, newton, x = self.o, self.newton, self.past.predicted(self.t, self.relation)
        matrices = newton.last_solvers
        if matrices is None or not self.places.is_full:
            return x
        q, there = plus(self.q_hat, 1.0 / self.bp, x), self.places.predicted(self.t)
        missed = product(matrices.G, plus(there, -1.0, q))
        if o.n_psi:
            right = stacked(0.0, q, self.bp, missed, 0.0, zeros(o.n_psi))
        else:
            right = stacked(0.0, q, self.bp, missed)
        return plus(x, 1.0, solution(matrices.solve, right))

    def remember(self, t: float, state: State) -> None:
        """See `Scheme`; with adaptive steps positions are guessed from, too."""
        self.past.append(t, state.x)
        if self.newton.learns and state.m:
            self.places.append(t, state.q)

    def history(self, t: float, v: Array, vdot: Array) -> History:
        """Means of `a`: the drift of the velocities jumps when the step size changes."""
        return MeanHistory(self.settings.coefficients, t, v, vdot)

    def native(self) -> Any:
        """See `Scheme`."""
        o = self.o
        if self.updates_gamma:
            return None
        return native_steps("i3", "I3", self, o.n_q + o.n_lam + o.n_psi)

    def correct(self, solvers: Any) -> Sizes:
        """See `Problem`."""
        matrices: Matrices = solvers
        o, newton, x = self.o, self.newton, self.unknowns
        t, bp, gp, n, m = self.t, self.bp, self.gp, o.n_q, o.n_lam
        q, v = plus(self.q_hat, 1.0 / bp, x), plus(self.v_hat, gp / bp, x)  # (7)
        self.counters.nfcns += 1
        r = zeros(x.shape[0])
        add_balance(o, r, -1.0, -bp, -bp / gp, t, q, v, x)  # (1), (2), and k
        d = solution(matrices.solve, r)
        compared = matrices.scales
        displacement = 1.0 / bp if m else gp / bp
        noise = compared.noise_of(q, displacement)
        d = newton.accelerated(d, n, compared.mass_over_gradient, self.t, noise, compared.units)
        self.unknowns = x = plus(x, 1.0, d)
        return (size(self.relative, matrices.scales, d, x, q, displacement, n, m),)

    def setup(self) -> Matrices:
        """Factorize S_t, as scaled in (9) and (10), for corrections of vdot1, lam1, psi1.

        With (10), corrections of q1 and h^2 beta lam1 are solved for; here those of vdot1 and lam1,
        which differ by factors that are the same for all of a block: the matrix is as well scaled.
        """
        o, newton, x = self.o, self.newton, self.unknowns
        t, bp, gp, n, m = self.t, self.bp, self.gp, o.n_q, o.n_lam
        q, v = plus(self.q_hat, 1.0 / bp, x), plus(self.v_hat, gp / bp, x)
        vdot, lam, psi = part(x, 0, n), part(x, n, n + m), part(x, n + m, x.shape[0])
        self.count_matrix()
        if o.whole is not None:
            newton.setup_cost = o.whole.matrix_cost
        S = step_terms(o, t, q, v, vdot, lam, psi, 1.0, 1.0 / bp, gp / bp)
        solve = self.factorize("step", [*S.inertia, *S.forces], S.reactions, S.along)
        compared = scales(o, S.inertia, S.forces, S.along, q, 1.0 / bp, solve, x[n:])
        compared = with_states(o, compared, x, v, S.forces, gp / bp)
        G = snapshot(S.gradients[0][0][1]) if m and (o.whole is not None or newton.learns) else None
        return Matrices(solve, compared, G)

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """The scheme computes true accelerations and multipliers itself."""
        n, m = o.n_q, o.n_lam
        return part(kept, 0, n), part(kept, n, n + m), part(kept, n + m, kept.shape[0])

    @staticmethod
    def report_rows(o: Mechanism, rows: Array) -> Reported | None:
        """See `Scheme`."""
        vdot, lam, psi, end = 1 + np.cumsum([3 * o.n_q, o.n_q, o.n_lam, o.n_psi])
        return rows[:, vdot:lam], rows[:, lam:psi], rows[:, psi:end]

    @classmethod
    def roots(cls, o: Mechanism, c: Coefficients) -> tuple[Root, ...]:
        """Holonomic constraints are kept at position level, nonholonomic ones at velocity level."""
        return acting(c, position=bool(o.n_lam) and c.beta != 0.0, velocity=bool(o.n_psi))

    @classmethod
    def faults(cls, o: Mechanism, settings: Settings) -> list[str]:
        """Conditions of the paper's convergence theorem (section 3.4)."""
        found = super().faults(o, settings)
        if settings.coefficients.beta == 0.0:
            found.append("beta = 0: (6) divides by beta; GenAlphaSOI2 allows it unconstrained")
        if o.n_lam and settings.steps == "adaptive":
            found += _keeps_drift(settings)
        return found

    @classmethod
    def warnings(cls, o: Mechanism, settings: Settings) -> list[UserWarning]:
        """Without damping, errors of lam do not die out, with equal steps either (Fig. 8)."""
        found = super().warnings(o, settings)
        if not o.n_lam or not any(root.stays for root in cls.roots(o, settings.coefficients)):
            return found
        text = (
            "GenAlphaI3 without numerical damping (rho_inf = 1): errors of the multipliers are not "
            "damped and oscillate from step to step (Arnold and Brüls, Fig. 8); take rho_inf < 1"
        )
        return [x for x in found if not isinstance(x, UndampedWarning)] + [UndampedWarning(text)]

    @staticmethod
    def printed(o: Mechanism, settings: Settings, old: State, new: State) -> Printed:
        """See `Scheme`; (4) and (5) hold with a v0 of its own where the step size has changed."""
        c, h, t1, a0, a1 = settings.coefficients, new.h, old.t + new.h, new.a_old, new.a
        am, af, beta, gamma = c.alpha_m, c.alpha_f, c.beta, c.gamma
        if settings.adjust_steps and settings.adjustment == "gamma":
            gamma, _ = updated_gamma(am, af, old.offset, h)
        q0, v0, q1, v1 = old.q, old.v, new.q, new.v
        f, r = o.force(t1, q1, v1), o.reaction(t1, q1, v1, new.lam, new.psi)
        vdots = -(1 - af) * new.vdot, -af * old.vdot
        found = {
            "(1)": acceleration(o.mass(t1, q1) @ new.vdot, -f, -r),
            "(2)": constraint(o.holonomic(t1, q1)),
            "(3)": acceleration((1 - am) * a1, am * a0, *vdots),
            "k": constraint(o.nonholonomic(t1, q1, v1)),
        }
        if h == old.h or not settings.adjust_steps or settings.adjustment != "drift":
            found["(4)"] = position(
                q1, -(q0 + h * v0 + h**2 * (0.5 - beta) * a0 + h**2 * beta * a1)
            )
            found["(5)"] = velocity(v1, -(v0 + h * (1 - gamma) * a0 + h * gamma * a1))
        return found
