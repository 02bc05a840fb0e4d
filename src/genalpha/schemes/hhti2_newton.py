"""How a step of HHTI2 is solved: position step and velocity projection, in turn.

See `hhti2` for the paper and the notation. Each correction of Newton's iteration does two things.

Position step: with d the correction of a1 + ((1 - b) R0 + b R1) / (2 beta), so that q1 moves by
h^2 beta d, the equilibrium (3.4c) and g make one saddle point system for d and a common correction
of L0 and L1.

Velocity projection: with e the correction of (R0 + R1) / 2, so that v1 moves by h e,
R1 = r(t1, q1, L1) and the rate of g make another one for e and corrections of L0 and L1 that do
not move q1. That R1 is an unknown, and not a function of L1, lets v1 go where an old matrix sends
it, as q1 does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from genalpha.kernels import add, add_product, combined, part, plus, solution, stacked, zeros
from genalpha.model import Mechanism
from genalpha.model.equations import Reaction
from genalpha.numerics.accuracy import Scales, larger, scales, size
from genalpha.numerics.gradients import constraints, reactions, tangent
from genalpha.numerics.linear import Matrix, Solve
from genalpha.numerics.newton import Newton, Sizes
from genalpha.schemes.settings import Settings

Array = np.ndarray
NO_VECTOR = np.zeros(0)


@dataclass
class Site:
    """Mass and reaction at one position."""

    mass: Matrix
    reaction: Reaction


def site_at(o: Mechanism, t: float, q: Array) -> Site:
    """Return the site of a position."""
    return Site(o.mass(t, q), o.reaction_at(t, q))


@dataclass
class Unknowns:
    """a1, L0, L1, the R0 that L0 gives, R1, and what belongs to the present q1.

    In the variant "midpoint", L1 and R1 are those of the middle of the step.
    """

    a: Array
    L0: Array
    L1: Array
    R0: Array
    R1: Array
    site: Site


@dataclass
class Matrices:
    """Factorized matrices of position step and velocity projection, scales of corrections."""

    position: Solve
    velocity: Solve
    scales: Scales


@dataclass
class Weights:
    """Weights of R0 and R1 in q1 (3.4a) and in v1 (3.4b), and of L0, L1 in the projection."""

    q0: float
    q1: float
    v0: float
    v1: float
    #: Changes of L0, L1 that leave q1 as it is and change the reaction in v1 by one.
    projection0: float
    projection1: float


@dataclass
class Trial:
    """What a step knows before its unknowns.

    q_hat, v_hat are q1, v1 without a1 and reactions; `reaction0` and `solve0` (with the mass) are
    those of q0; `place` tells from q1, v1 and the site q1 where R1 belongs: the site and the
    velocity there.
    """

    t: float
    h: float
    q_hat: Array
    v_hat: Array
    f0: Array
    hb: float
    hg: float
    weights: Weights
    v0: Array
    reaction0: Reaction
    solve0: Solve
    place: Callable[[Array, Array, Site], tuple[Site, Array]]


def weights(settings: Settings) -> Weights:
    """Return the weights of a variant."""
    b = settings.b
    if settings.variant == "midpoint":
        return Weights(1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    scale = 2.0 / (1.0 - 2.0 * b)
    return Weights(1.0 - b, b, 0.5, 0.5, -b * scale, (1.0 - b) * scale)


def first_guess(o: Mechanism, trial: Trial, guess: Array) -> Unknowns:
    """Return the unknowns of a guess of a1, L0, L1, R1, with the q1 that they lead to."""
    n, m = o.n_q, o.n_lam
    a, L0 = part(guess, 0, n), part(guess, n, n + m)
    L1, R1 = part(guess, n + m, n + 2 * m), part(guess, n + 2 * m, 2 * (n + m))
    R0 = _old_reaction(trial, L0)
    q, _ = position_and_velocity(trial, a, R0, R1)
    return Unknowns(a, L0, L1, R0, R1, site_at(o, trial.t, q))


def position_and_velocity(trial: Trial, a: Array, R0: Array, R1: Array) -> tuple[Array, Array]:
    """Return q1 (3.4a) and v1 (3.4b)."""
    w, h, half = trial.weights, trial.h, 0.5 * trial.h * trial.h
    q = combined(1.0, trial.q_hat, trial.hb, a, half * w.q0, R0)
    v = combined(1.0, trial.v_hat, trial.hg, a, h * w.v0, R0)
    add(q, 0, half * w.q1, R1)
    add(v, 0, h * w.v1, R1)
    return q, v


def new_force(settings: Settings, a1: Array, f0: Array) -> Array:
    """Return f(t1, q1, v1) from (3.4c)."""
    alpha = settings.coefficients.alpha
    return combined(1.0 / (1.0 + alpha), a1, alpha / (1.0 + alpha), f0)


def _without_reactions(settings: Settings, trial: Trial, R0: Array, R1: Array) -> Array:
    """Return what a1 must change by so that changes R0, R1 of the reactions do not move q1."""
    per_beta, w = -0.5 / settings.coefficients.beta, trial.weights
    return combined(per_beta * w.q0, R0, per_beta * w.q1, R1)


def nothing_to_solve(right: Array) -> Array:
    """Stand for solving with the mass where there is no constraint, and so no reaction."""
    return right


def _old_reaction(trial: Trial, L0: Array) -> Array:
    """Return R0 = r(t0, q0, L0)."""
    r = zeros(trial.v0.shape[0])
    trial.reaction0.add(r, 1.0, trial.v0, L0, 0)
    return solution(trial.solve0, r)


def correct(
    o: Mechanism,
    settings: Settings,
    newton: Newton,
    trial: Trial,
    x: Unknowns,
    matrices: Matrices,
) -> tuple[Unknowns, Sizes]:
    """Return the unknowns after one position step and one projection, and how far they moved."""
    t, h, n, m = trial.t, trial.h, o.n_q, o.n_lam
    newton.counters.nfcns += 1
    q, v = position_and_velocity(trial, x.a, x.R0, x.R1)
    r = zeros(n + m)
    add_product(r, -1.0, x.site.mass, new_force(settings, x.a, trial.f0), 0)
    add(r, 0, 1.0, o.force_now(t, q, v))  # (3.4c)
    if m:
        add(r, n, -1.0 / trial.hb, o.holonomic_now(t, q))  # (3.4e)
    d = solution(matrices.position, r)
    d_lam = part(d, n, n + m)
    L0, L1 = plus(x.L0, 1.0, d_lam), plus(x.L1, 1.0, d_lam)
    R0 = _old_reaction(trial, L0)
    dR = combined(1.0, R0, -1.0, x.R0)
    a = combined(1.0, x.a, 1.0, d, 1.0, _without_reactions(settings, trial, dR, dR))
    x = Unknowns(a, L0, L1, R0, plus(x.R1, 1.0, dR), site_at(o, t, plus(q, trial.hb, d)))
    value = stacked(1.0, larger(x.a, x.R1), 1.0, x.L1)
    moved = size(settings.relative, matrices.scales, d, value, q, trial.hb if m else trial.hg, n, m)
    if not m:
        return x, (moved,)

    x, e = project(o, settings, trial, x, matrices)
    value = stacked(1.0, larger(x.a, x.R1), 1.0, x.L1)
    _, v1 = position_and_velocity(trial, x.a, x.R0, x.R1)
    change = stacked(1.0 / h, combined(1.0, v1, -1.0, v), 1.0, plus(e, 1.0, d_lam))
    return x, (moved, size(settings.relative, matrices.scales, change, value, v, h, n, m))


def project(
    o: Mechanism, settings: Settings, trial: Trial, x: Unknowns, matrices: Matrices
) -> tuple[Unknowns, Array]:
    """Return x after a velocity projection, and the change of the multiplier in v1."""
    w, n, m = trial.weights, o.n_q, o.n_lam
    q, v = position_and_velocity(trial, x.a, x.R0, x.R1)
    site, v_there = trial.place(q, v, x.site)
    r = zeros(n + m)
    add_product(r, -w.v1, site.mass, x.R1, 0)
    site.reaction.add(r, w.v1, v_there, x.L1, 0)  # (3.4d)
    add(r, n, -1.0 / trial.h, o.holonomic_rate(trial.t, q, v))  # (3.4e)
    e = solution(matrices.velocity, r)
    e_lam = part(e, n, n + m)
    L0, L1 = plus(x.L0, w.projection0, e_lam), plus(x.L1, w.projection1, e_lam)
    R0 = _old_reaction(trial, L0)
    dR0 = combined(1.0, R0, -1.0, x.R0)
    dR1 = combined(1.0 / w.v1, part(e, 0, n), -w.v0 / w.v1, dR0)  # v1 moves by h e
    a = plus(x.a, 1.0, _without_reactions(settings, trial, dR0, dR1))
    return Unknowns(a, L0, L1, R0, plus(x.R1, 1.0, dR1), x.site), e_lam


def matrices_at(
    o: Mechanism,
    settings: Settings,
    newton: Newton,
    trial: Trial,
    x: Unknowns,
) -> Matrices:
    """Factorize the derivatives of (3.4c) and g, and the projection onto the rate of g."""
    c, w, psi = settings.coefficients, trial.weights, NO_VECTOR
    t, (q, v) = trial.t, position_and_velocity(trial, x.a, x.R0, x.R1)
    newton.counters.njacs += 1
    newton.counters.nfcnjacs += o.tangent_cost
    M = o.mass(t, q)
    start = trial.reaction0
    old = o.reaction_jacobian(start.t, start.q, trial.v0, x.L0, psi)
    if o.n_lam:
        old = transported(o, M, trial.solve0, old)
    inertia = [(1.0 / (1.0 + c.alpha), M)]
    f1 = new_force(settings, x.a, trial.f0)
    forces = tangent(o, t, q, v, f1, 0.0 * x.L1, psi, trial.hb, trial.hg)
    per_beta = -0.5 / (c.beta * (1.0 + c.alpha))
    J, _ = constraints(o, t, q, v, 0.0)
    new = reactions(o, 1.0, t, q, v, x.L1, psi, J)
    R = [[(w.q0 * per_beta, old), *((w.q1 * per_beta * c, matrix) for c, matrix in new[0])]]
    position = newton.factorize("position", [*inertia, *forces], R, J)
    compared = scales(o, inertia, forces, J, q, trial.hb, position)
    if not o.n_lam:
        return Matrices(position, position, compared)  # there is nothing to project
    p0, p1 = -w.v0 * w.projection0, -w.v1 * w.projection1
    R = [[(p0, old), *((p1 * c, matrix) for c, matrix in new[0])]]
    return Matrices(position, newton.factorize("velocity", [(1.0, M)], R, J), compared)


def transported(o: Mechanism, M: Matrix, solve_old: Solve, columns: Matrix) -> Matrix:
    """Return M1 M0^-1 columns: reactions of another instant, as they enter M1 a1.

    Where that would fill a sparse matrix, the columns are taken as they are, which is right for a
    constant mass matrix and costs Newton's iteration some contraction otherwise.
    """
    if o.constant_mass is not None or o.is_sparse:
        return columns
    return M @ solve_old(columns)
