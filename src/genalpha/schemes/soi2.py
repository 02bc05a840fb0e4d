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
from functools import partial

import numpy as np

from genalpha.errors import SingularSystemError
from genalpha.kernels import (
    add,
    add_product,
    combined,
    part,
    plus,
    product,
    solution,
    stacked,
    zeros,
)
from genalpha.model import Mechanism, Motion
from genalpha.model.equations import Reaction
from genalpha.numerics.accuracy import Scales, scales, size
from genalpha.numerics.gradients import constraints, reactions, tangent
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Matrix, Solve
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import NOTHING, Past, extended, predicted
from genalpha.schemes.settings import Settings

Array = np.ndarray
NO_VECTOR = np.zeros(0)


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `Ma` is M a with the M of (13), `f` is f(t, q, v, lam, psi); `past` (the unknowns of the last
    steps) only helps Newton's iteration to start well.
    """

    t: float
    q: Array
    v: Array
    lam: Array
    psi: Array
    a: Array
    Ma: Array
    a_old: Array
    Ma_old: Array
    f: Array
    h: float
    past: Past


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
class Trial:
    """What a step knows before its unknowns.

    q1 = q_hat + hb a1_t, v1_t = v_hat + hg a1_t; `old` is what (13d), (13e) hold of t0.
    """

    t: float
    q_hat: Array
    v_hat: Array
    M1: Matrix
    old: Array
    hb: float
    hg: float


@dataclass
class Matrices:
    """Factorized matrices of position step and velocity projection, scales of corrections."""

    position: Solve
    velocity: Solve
    scales: Scales


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = vdot0, as allowed by Theorem 1."""
    q, v, vdot, lam, psi = motion
    alpha = settings.coefficients.alpha
    Ma = o.mass(t + alpha * h, q + alpha * h * v) @ vdot
    f = o.force(t, q, v) + o.reaction(t, q, v, lam, psi)
    x = np.concatenate([vdot, lam, psi, np.zeros(o.n_q + o.n_lam + o.n_psi)])
    return State(t, q, v, lam, psi, vdot, Ma, vdot, Ma, f, h, ((t, x),))


def shifted(o: Mechanism, settings: Settings, state: State, first: State, h: float) -> State:
    """Start with a0 = a(t0 + alpha h) + O(h^2), in the manner of (8): t0 and t1 extrapolated.

    The a1 of a first step from the plain start is too rough for that; the consistent acceleration
    of its q1, v1 is not.
    """
    alpha = settings.coefficients.alpha
    vdot1, _, _ = accelerations(o, first.t, first.q, first.v, first.lam, first.psi)
    a = (1.0 - alpha) * state.a + alpha * vdot1
    Ma = (1.0 - alpha) * state.f + alpha * (o.mass(first.t, first.q) @ vdot1)
    return replace(state, a=a, a_old=a, Ma=Ma, Ma_old=Ma, h=h)


def adjusted(settings: Settings, state: State, h: float) -> tuple[Array, Array]:
    """Move a0 and M0 a0 from t0 + alpha h_old to t0 + alpha h."""
    if h == state.h or not settings.adjust_steps:
        return state.a, state.Ma
    ratio = settings.coefficients.alpha * (h / state.h - 1.0)
    return (
        state.a + ratio * (state.a - state.a_old),  # (14a)
        state.Ma + ratio * (state.Ma - state.Ma_old),  # (14b)
    )


def step(o: Mechanism, settings: Settings, newton: Newton, state: State, h: float) -> State:
    """One step of (13)."""
    c = settings.coefficients
    alpha_m, alpha_f = c.alpha_m, c.alpha_f
    a0, Ma0 = adjusted(settings, state, h)
    shift = (1.0 + c.alpha) * h
    trial = Trial(
        state.t + h,
        combined(1.0, state.q, h, state.v, h * h * (0.5 - c.beta), a0),
        plus(state.v, h * (1.0 - c.gamma), a0),
        o.mass(state.t + shift, plus(state.q, shift, state.v)),
        combined(alpha_m, Ma0, -alpha_f, state.f),
        h * h * c.beta,
        h * c.gamma,
    )

    guess = predicted(state.past, trial.t, c.relation_at_infinity)
    half = o.n_q + o.n_lam + o.n_psi
    x, y = part(guess, 0, half), part(guess, half, 2 * half)
    unknowns = newton.solve(
        Unknowns(x, y, o.reaction_at(trial.t, plus(trial.q_hat, trial.hb, x))),
        partial(_correct, o, settings, newton, trial),
        partial(_matrices, o, settings, newton, trial),
    )
    if o.n_lam:  # the last correction of q1 has left a trace in (13g): take it away
        unknowns, _ = _project(o, settings, trial, unknowns, newton.last_solvers)
    x, y = unknowns.x, unknowns.y
    n, m = o.n_q, o.n_lam
    end = _of_the_end(x, y, n)
    a1 = part(end, 0, n)
    Ma1 = product(trial.M1, a1)
    f1 = combined(
        (1.0 - alpha_m) / (1.0 - alpha_f), Ma1, 1.0 / (1.0 - alpha_f), trial.old
    )  # (13e), solved for f(t1, ...)
    q1, v1 = plus(trial.q_hat, trial.hb, x), plus(trial.v_hat, trial.hg, a1)
    lam, psi = part(end, n, n + m), part(end, n + m, half)
    past = extended(state.past, trial.t, stacked(1.0, x, 1.0, y))
    return State(trial.t, q1, v1, lam, psi, a1, Ma1, a0, Ma0, f1, h, past)


def _correct(
    o: Mechanism,
    settings: Settings,
    newton: Newton,
    trial: Trial,
    unknowns: Unknowns,
    matrices: Matrices,
) -> tuple[Unknowns, Sizes]:
    """Return the unknowns after one position step and one projection, and how far they moved."""
    c = settings.coefficients
    t, hb, hg, n, m = trial.t, trial.hb, trial.hg, o.n_q, o.n_lam
    x, y = unknowns.x, unknowns.y
    newton.counters.nfcns += 1
    q, v_t = plus(trial.q_hat, hb, x), plus(trial.v_hat, hg, x)  # (13a), (13b)
    v = plus(v_t, -hg, y)  # (13c)
    r = zeros(x.shape[0])
    add_product(r, c.alpha_m - 1.0, trial.M1, x, 0)  # (13d)
    add(r, 0, -1.0, trial.old)
    add(r, 0, 1.0 - c.alpha_f, o.force_now(t, q, v))
    unknowns.reaction.add(r, 1.0 - c.alpha_f, v, x, n)
    if m:
        add(r, n, -1.0 / hb, o.holonomic_now(t, q))  # (13f)
    if o.n_psi:
        add(r, n + m, -1.0 / hg, o.nonholonomic(t, q, v_t))  # (13h)
    d = solution(matrices.position, r)
    d = newton.accelerated(d, n, matrices.scales.mass_over_gradient)
    x = plus(x, 1.0, d)
    moved = size(settings.relative, matrices.scales, d, x, q, hb if m else hg, n, m)
    unknowns = Unknowns(x, y, o.reaction_at(t, plus(q, hb, d)))
    if m == 0:
        return unknowns, (moved,)

    unknowns, e = _project(o, settings, trial, unknowns, matrices)
    final, change = _of_the_end(x, unknowns.y, n), _of_the_end(d, e, n)
    return unknowns, (
        moved,
        size(settings.relative, matrices.scales, change, final, v, hg, n, m),
    )


def _of_the_end(x: Array, y: Array, n: int) -> Array:
    """Return (a1_t - delta, lam1_t + mu, psi1_t + nu), that is (a1, lam1, psi1)."""
    end = plus(x, 1.0, y)
    add(end, 0, -2.0, part(y, 0, n))
    return end


def _project(
    o: Mechanism, settings: Settings, trial: Trial, unknowns: Unknowns, matrices: Matrices
) -> tuple[Unknowns, Array]:
    """Return the unknowns after a velocity projection, and the correction of delta, mu, nu."""
    c = settings.coefficients
    t, hb, hg, n, m = trial.t, trial.hb, trial.hg, o.n_q, o.n_lam
    x, y, reaction = unknowns.x, unknowns.y, unknowns.reaction
    q = plus(trial.q_hat, hb, x)
    v = combined(1.0, trial.v_hat, hg, x, -hg, y)
    r = zeros(x.shape[0])
    add_product(r, c.alpha_m - 1.0, trial.M1, y, 0)  # (13d) - (13e)
    if o.is_ideal:  # linear in the multipliers
        reaction.add(r, c.alpha_f - 1.0, v, y, n)
    else:
        reaction.add(r, c.alpha_f - 1.0, v, plus(x, 1.0, y), n)
        reaction.add(r, 1.0 - c.alpha_f, v, x, n)
    add(r, n, 1.0 / hg, o.holonomic_rate(t, q, v))  # (13g)
    if o.n_psi:
        add(r, n + m, 1.0 / hg, o.nonholonomic(t, q, v))  # (13i)
    e = solution(matrices.velocity, r)
    return Unknowns(x, plus(y, 1.0, e), reaction), e


def _matrices(
    o: Mechanism, settings: Settings, newton: Newton, trial: Trial, unknowns: Unknowns
) -> Matrices:
    """Factorize the derivatives of (13d), (13f), (13h) and of (13d) - (13e), (13g), (13i).

    The constraints are divided by what the unknown accelerations move q and v, so that neither
    matrix becomes ill-conditioned for small h.
    """
    c = settings.coefficients
    weight_m, weight_f = 1.0 - c.alpha_m, 1.0 - c.alpha_f
    t, hb, hg, n, m = trial.t, trial.hb, trial.hg, o.n_q, o.n_lam
    x, y = unknowns.x, unknowns.y
    q, v = plus(trial.q_hat, hb, x), combined(1.0, trial.v_hat, hg, x, -hg, y)
    lam, psi = part(x, n, n + m), part(x, n + m, x.shape[0])
    newton.counters.njacs += 1
    newton.counters.nfcnjacs += o.tangent_cost
    inertia = [(weight_m, trial.M1)]
    # the explicit M1 does not depend on q1: vdot = 0 leaves the derivatives of -f
    forces = tangent(o, t, q, v, zeros(n), lam, psi, weight_f * hb, weight_f * hg)
    J, moved = constraints(o, t, q, v, hb / hg)
    R = reactions(o, -weight_f, t, q, v, lam, psi, J)
    position = newton.factorize("position", [*inertia, *forces], R, moved)
    compared = scales(o, inertia, forces, J, q, hb or hg, position)
    if not m:
        return Matrices(position, position, compared)  # there is nothing to project
    R = [[(-c, matrix) for c, matrix in terms] for terms in R]
    return Matrices(position, newton.factorize("velocity", inertia, R, J), compared)


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """Multipliers are the scheme's own; the true acceleration is M(t, q)^-1 f."""
    t, q, v, lam, psi = state.t, state.q, state.v, state.lam, state.psi
    f = o.force(t, q, v) + o.reaction(t, q, v, lam, psi)
    try:
        return mass_solver(o, t, q)(f), lam, psi
    except SingularSystemError:  # massless coordinates: only the constraints move them
        return accelerations(o, t, q, v, lam, psi)[0], lam, psi


def slim(state: State) -> State:
    """Return a state that `report` takes, and that takes little memory."""
    s, none = state, NO_VECTOR
    return State(s.t, s.q, s.v, s.lam, s.psi, s.a, none, none, none, none, s.h, NOTHING)


def errors(settings: Settings) -> ErrorConstants:
    """Those of every generalized-alpha scheme; the constraints only take away from them."""
    return generalized_alpha(settings.coefficients)


def faults(o: Mechanism, settings: Settings) -> list[str]:
    """Conditions of Theorem 1 (with holonomic) and of Jay's Theorem 6.1 (nonholonomic)."""
    c = settings.coefficients
    found = []
    if not c.is_second_order:
        found.append(
            f"order-2 condition: gamma = {c.gamma:g}, needed 1/2 - alpha = {0.5 - c.alpha:g}"
        )
    if c.gamma == 0.0:
        found.append("gamma = 0, excluded by the theorem")
    if o.n_lam and c.beta == 0.0:
        found.append("beta = 0: a holonomic constraint needs beta != 0 (Theorem 1)")
    if c.r_alpha_m > 1.0 + 1e-9:
        found.append(f"zero stability: |alpha_m / (1 - alpha_m)| = {c.r_alpha_m:.3g}, needed < 1")
    if o.n_psi and c.r_gamma > 1.0 + 1e-9:
        found.append(f"r_gamma = {c.r_gamma:.3g}, needed < 1 (Theorem 6.1)")
    if (o.n_psi or o.n_lam) and c.r_alpha_f > 1.0 + 1e-9:
        found.append(f"r_alpha_f = {c.r_alpha_f:.3g}, needed < 1 (Theorem 6.1)")
    return found
