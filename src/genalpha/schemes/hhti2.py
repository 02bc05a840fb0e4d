"""HHTI2: the HHT-alpha method extended to overdetermined index-2 form, holonomic constraints.

L. O. Jay, D. Negrut: Extensions of the HHT-alpha method to differential-algebraic equations in
mechanics. ETNA 26 (2007). Equation numbers are theirs. The extension to nonholonomic constraints
(section 6) is in `hhti2_nonholonomic`.

Notation: q, v are the paper's y, z; a0, a1 its a_0, a_1, which belong to t0 + alpha h, t1 + alpha h
and hold forces only; f = M^-1 force, r = M^-1 reaction; L0, L1 the paper's Lambda_0, Lambda_1.
One step:

    q1 = q0 + h v0 + h^2/2 ((1 - 2 beta) a0 + 2 beta a1) + h^2/2 ((1 - b) R0 + b R1)   (3.4a)
    v1 = v0 + h ((1 - gamma) a0 + gamma a1) + h/2 (R0 + R1)                            (3.4b)
    a1 = (1 + alpha) f(t1, q1, v1) - alpha f(t0, q0, v0)                               (3.4c)
    R0 = r(t0, q0, L0),  R1 = r(t1, q1, L1)                                            (3.4d)
    0 = g(t1, q1),  0 = g_t + g_q v1 at (t1, q1)                                       (3.4e)

Variants: "end" is the above; "predicted" takes R1 = r(t1, q0 + h v0, L1) (3.5); "midpoint" has
b = 0 and h R with R = r(t0 + h/2, (q0 + q1)/2, L) instead of h/2 (R0 + R1).

L0 and L1 are local to the step and only first order; the multipliers that are reported come from
the constraints at acceleration level (3.2).

How it is solved: with x the correction of a1 + ((1 - b) R0 + b R1) / (2 beta), so that q1 moves by
h^2 beta x, the equilibrium (3.4c) and g make one saddle point system for x and a common correction
of L0 and L1 (position step). Then a correction of the difference of L0 and L1 that does not move
q1 satisfies the rate of g (velocity projection).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from genalpha.errors import SingularSystemError, UnsupportedProblemError
from genalpha.kernels import combined, plus, product, stacked
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import Scales, scales, size
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.gradients import constraints, reactions, tangent
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Matrix, Solve
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.mass import Mass, mass_and_solver, mass_solver
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import NOTHING, Past, extended, predicted
from genalpha.schemes.settings import Settings

Array = np.ndarray
NO_VECTOR = np.zeros(0)
VARIANTS = ("end", "predicted", "midpoint")


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `f` is f(t, q, v) = M^-1 force; `L` is L0 and L1; `past` (a1, L0, L1 of the last steps) only
    helps Newton's iteration to start well.
    """

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    h: float
    L: Array
    past: Past


class Site(NamedTuple):
    """Mass and reaction (a function of v, lam, psi) at one position."""

    mass: Mass
    reaction: Callable[[Array, Array, Array], Array]


def _site(o: Mechanism, t: float, q: Array) -> Site:
    return Site(mass_and_solver(o, t, q), o.reaction_at(t, q))


class Unknowns(NamedTuple):
    """a1, L0, L1, the R0, R1 that they give, and what belongs to the present q1.

    In the variant "midpoint", L1 and R1 are those of the middle of the step.
    """

    a: Array
    L0: Array
    L1: Array
    R0: Array
    R1: Array
    site: Site


class Matrices(NamedTuple):
    """Factorized matrices of position step and velocity projection, scales of corrections."""

    position: Solve
    velocity: Solve
    scales: Scales


class Weights(NamedTuple):
    """Weights of R0 and R1 in q1 (3.4a) and in v1 (3.4b), and of L0, L1 in the projection."""

    q0: float
    q1: float
    v0: float
    v1: float
    #: Changes of L0, L1 that leave q1 as it is and change the reaction in v1 by one.
    projection0: float
    projection1: float


class Trial(NamedTuple):
    """What a step knows before its unknowns; q_hat, v_hat are q1, v1 without a1 and reactions."""

    t: float
    h: float
    q_hat: Array
    v_hat: Array
    f0: Array
    hb: float
    hg: float
    weights: Weights
    R0: Callable[[Array], Array]
    R1: Callable[[Array, Array, Array, Site], Array]


def weights(settings: Settings) -> Weights:
    """Return the weights of a variant."""
    b = settings.b
    if settings.variant == "midpoint":
        return Weights(1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    scale = 2.0 / (1.0 - 2.0 * b)
    return Weights(1.0 - b, b, 0.5, 0.5, -b * scale, (1.0 - b) * scale)


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = f(t0, q0, v0)."""
    q, v, _, lam, _ = motion
    f, L = initial_force(o, t, q, v), np.concatenate([lam, lam])
    return State(t, q, v, f, f, h, L, ((t, np.concatenate([f, L])),))


def initial_force(o: Mechanism, t: float, q: Array, v: Array) -> Array:
    """Return f(t, q, v) = M^-1 force, or say that the method needs M^-1."""
    try:
        return mass_solver(o, t, q)(o.force(t, q, v))
    except SingularSystemError as error:
        raise UnsupportedProblemError(
            f"{o.name}: HHTI2 needs an invertible mass matrix ({error}); GenAlphaI3 and "
            "GenAlphaSOI2 allow coordinates without mass that the constraints determine"
        ) from error


def shifted(o: Mechanism, settings: Settings, state: State, first: State, h: float) -> State:
    """Start with a0 = f(t0 + alpha h) + O(h^2): f(t0) and f(t1) extrapolated linearly."""
    alpha = settings.coefficients.alpha
    return replace(state, a=(1.0 - alpha) * state.f + alpha * first.f, h=h)


def adjusted(settings: Settings, a: Array, f: Array, ratio: float) -> Array:
    """Move a0 from t0 + alpha h_old to t0 + alpha h, where `ratio` is h / h_old."""
    if ratio == 1.0 or not settings.adjust_steps:
        return a
    return f + ratio * (a - f)  # (2.3)


def step(o: Mechanism, settings: Settings, newton: Newton, state: State, h: float) -> State:
    """One step of (3.4)."""
    c = settings.coefficients
    t1, f0, n, m = state.t + h, state.f, o.n_q, o.n_lam
    a0 = adjusted(settings, state.a, f0, h / state.h)
    trial = Trial(
        t1,
        h,
        combined(1.0, state.q, h, state.v, h**2 * (0.5 - c.beta), a0),
        plus(state.v, h * (1.0 - c.gamma), a0),
        f0,
        h**2 * c.beta,
        h * c.gamma,
        weights(settings),
        _old_reaction(o, state),
        _new_reaction(o, settings, state, h),
    )

    guess = predicted(state.past, t1)
    a, L0, L1 = guess[:n], guess[n : n + m], guess[n + m :]
    q, v = plus(state.q, h, state.v), state.v
    site = _site(o, t1, q)
    x = newton.solve(
        Unknowns(a, L0, L1, trial.R0(L0), trial.R1(q, v, L1, site), site),
        partial(_correct, o, settings, newton, trial),
        partial(_matrices, o, settings, newton, trial, state),
    )
    if m:  # the last correction of q1 has left a trace in the rate of g: take it away
        x, _ = _project(o, settings, trial, x, newton.last_solvers)
    L, f1 = np.concatenate([x.L0, x.L1]), new_force(settings, x.a, trial.f0)
    past = extended(state.past, t1, np.concatenate([x.a, L]))
    return State(t1, _position(trial, x), _velocity(trial, x), x.a, f1, h, L, past)


def _position(trial: Trial, x: Unknowns) -> Array:  # (3.4a)
    w, half = trial.weights, 0.5 * trial.h**2
    return plus(trial.q_hat, 1.0, combined(trial.hb, x.a, half * w.q0, x.R0, half * w.q1, x.R1))


def _velocity(trial: Trial, x: Unknowns) -> Array:  # (3.4b)
    w, h = trial.weights, trial.h
    return plus(trial.v_hat, 1.0, combined(trial.hg, x.a, h * w.v0, x.R0, h * w.v1, x.R1))


def new_force(settings: Settings, a1: Array, f0: Array) -> Array:
    """Return f(t1, q1, v1) from (3.4c)."""
    alpha = settings.coefficients.alpha
    return combined(1.0 / (1.0 + alpha), a1, alpha / (1.0 + alpha), f0)


def _moved(
    settings: Settings,
    trial: Trial,
    x: Unknowns,
    d: Array,
    L0: Array,
    L1: Array,
    q: Array,
    v: Array,
    site: Site,
) -> Unknowns:
    """Return unknowns with new multipliers whose q1 differs from that of x by h^2 beta d."""
    w = trial.weights
    R0, R1 = trial.R0(L0), trial.R1(q, v, L1, site)
    per_beta = -0.5 / settings.coefficients.beta
    by_reactions = combined(w.q0, combined(1.0, R0, -1.0, x.R0), w.q1, R1, -w.q1, x.R1)
    return Unknowns(combined(1.0, x.a, 1.0, d, per_beta, by_reactions), L0, L1, R0, R1, site)


def _correct(
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
    q, v = _position(trial, x), _velocity(trial, x)
    inertia = product(x.site.mass.matrix, new_force(settings, x.a, trial.f0))
    r = combined(1.0, inertia, -1.0, o.force(t, q, v))  # (3.4c)
    d = matrices.position(stacked(-1.0, r, -1.0 / trial.hb, o.holonomic(t, q)))
    q1 = plus(q, trial.hb, d)
    L0, L1 = plus(x.L0, 1.0, d[n:]), plus(x.L1, 1.0, d[n:])
    x = _moved(settings, trial, x, d, L0, L1, q1, v, _site(o, t, q1))
    value = stacked(1.0, x.a, 1.0, x.L1)
    moved = size(settings.relative, matrices.scales, d, value, q, trial.hb if m else trial.hg, n, m)
    if not m:
        return x, (moved,)

    x, e = _project(o, settings, trial, x, matrices)
    value = stacked(1.0, x.a, 1.0, x.L1)
    change = stacked(1.0 / h, combined(1.0, _velocity(trial, x), -1.0, v), 1.0, plus(e, 1.0, d[n:]))
    return x, (moved, size(settings.relative, matrices.scales, change, value, v, h, n, m))


def _project(
    o: Mechanism, settings: Settings, trial: Trial, x: Unknowns, matrices: Matrices
) -> tuple[Unknowns, Array]:
    """Return x after a velocity projection, and the change of the multiplier in v1."""
    t, h, w, n = trial.t, trial.h, trial.weights, o.n_q
    q, v = _position(trial, x), _velocity(trial, x)
    none = np.zeros(n)
    e = matrices.velocity(stacked(1.0, none, -1.0 / h, o.holonomic_rate(t, q, v)))
    L0, L1 = plus(x.L0, w.projection0, e[n:]), plus(x.L1, w.projection1, e[n:])
    return _moved(settings, trial, x, none, L0, L1, q, plus(v, h, e), x.site), e[n:]


def _old_reaction(o: Mechanism, state: State) -> Callable[[Array], Array]:
    """Return R0 = r(t0, q0, L0) as a function of L0."""
    t, q, v, psi = state.t, state.q, state.v, np.zeros(0)
    if not o.n_lam:
        return lambda L0: np.zeros(o.n_q)
    (_, solve), reaction = _site(o, t, q)
    return lambda L0: solve(reaction(v, L0, psi))


def _new_reaction(
    o: Mechanism, settings: Settings, state: State, h: float
) -> Callable[[Array, Array, Array, Site], Array]:
    """Return R1, or that of the middle, as a function of q1, v1, L1 and the site q1."""
    t0, q0, v0, psi = state.t, state.q, state.v, np.zeros(0)
    t1 = t0 + h
    if not o.n_lam:
        return lambda q, v, L1, site: np.zeros(o.n_q)
    if settings.variant == "predicted":
        q_tilde = q0 + h * v0  # (3.5)
        (_, solve), reaction = _site(o, t1, q_tilde)
        return lambda q, v, L1, site: solve(reaction(v, L1, psi))
    if settings.variant == "midpoint":
        t = t0 + 0.5 * h

        def of_the_middle(q: Array, v: Array, L1: Array, site: Site) -> Array:
            q, v = 0.5 * (q0 + q), 0.5 * (v0 + v)
            return mass_solver(o, t, q)(o.reaction(t, q, v, L1, psi))

        return of_the_middle
    return lambda q, v, L1, site: site.mass.solve(site.reaction(v, L1, psi))


def _matrices(
    o: Mechanism,
    settings: Settings,
    newton: Newton,
    trial: Trial,
    state: State,
    x: Unknowns,
) -> Matrices:
    """Factorize the derivatives of (3.4c) and g, and the projection onto the rate of g."""
    c, w, psi = settings.coefficients, trial.weights, np.zeros(0)
    t, q, v = trial.t, _position(trial, x), _velocity(trial, x)
    newton.counters.njacs += 1
    newton.counters.nfcnjacs += o.tangent_cost
    M = o.mass(t, q)
    old = o.reaction_jacobian(state.t, state.q, state.v, x.L0, psi)
    if o.n_lam:
        old = transported(o, M, mass_solver(o, state.t, state.q), old)
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
    R = [[(-c, matrix) for c, matrix in new[0]]]
    return Matrices(position, newton.factorize("velocity", [(1.0, M)], R, J), compared)


def transported(o: Mechanism, M: Matrix, solve_old: Solve, columns: Matrix) -> Matrix:
    """Return M1 M0^-1 columns: reactions of another instant, as they enter M1 a1.

    Where that would fill a sparse matrix, the columns are taken as they are, which is right for a
    constant mass matrix and costs Newton's iteration some contraction otherwise.
    """
    if o.constant_mass is not None or o.is_sparse:
        return columns
    return M @ solve_old(columns)


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """Acceleration and multipliers from (3.2), of second order because q and v are."""
    L = state.L.reshape(2, o.n_lam).mean(axis=0)
    return accelerations(o, state.t, state.q, state.v, L, np.zeros(0))


def slim(state: State) -> State:
    """Return a state that `report` takes, and that takes little memory."""
    s = state
    return State(s.t, s.q, s.v, s.a, NO_VECTOR, s.h, s.L, NOTHING)


def errors(settings: Settings) -> ErrorConstants:
    """The larger ones of the forces' part (HHT) and of the reactions' part of (3.4a), (3.4b)."""
    forces = generalized_alpha(settings.coefficients)
    w = weights(settings)
    position = abs(1.0 / 6.0 - 0.5 * w.q1)
    return ErrorConstants(max(forces.position, position), max(forces.velocity, 1.0 / 12.0))


def faults(o: Mechanism, settings: Settings) -> list[str]:
    """Conditions of section 3."""
    c = settings.coefficients
    found = []
    if not -1.0 / 3.0 - 1e-12 <= c.alpha <= 0.0 or c != Coefficients.hht(c.alpha):
        found.append(f"{c} are not those of HHT; give alpha, or take GenAlphaSOI2")
    if settings.b == 0.5:
        found.append("b = 1/2 is excluded in (3.4)")
    if not np.isfinite(settings.b):
        found.append(f"b = {settings.b!r} is not a finite number")
    if settings.variant not in VARIANTS:
        found.append(f"variant = {settings.variant!r} is none of {VARIANTS}")
    if settings.variant == "midpoint" and settings.b != 0.0:
        found.append(f"b = {settings.b:g}: the variant 'midpoint' has b = 0")
    return found
