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
from typing import NamedTuple

import numpy as np

from genalpha.errors import SingularSystemError, UnsupportedProblemError
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import force_noise, norm, tolerated, tolerated_multiplier
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Matrix, Solve, factorize, saddle
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import extrapolated
from genalpha.schemes.settings import Settings

Array = np.ndarray
VARIANTS = ("end", "predicted", "midpoint")


class State(NamedTuple):
    """What is carried from step to step; `h` is the step size that made `a`.

    `f` is f(t, q, v) = M^-1 force; `x` and `x_old` (a1, L0, L1 of the last two steps) only help
    Newton's iteration to start well.
    """

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    h: float
    x: tuple[Array, Array, Array]
    x_old: tuple[Array, Array, Array]


class Unknowns(NamedTuple):
    """a1, L0, L1 and the R0, R1 that they give at the present q1, v1.

    In the variant "midpoint", L1 and R1 are those of the middle of the step.
    """

    a: Array
    L0: Array
    L1: Array
    R0: Array
    R1: Array


class Matrices(NamedTuple):
    """Factorized matrices of position step and velocity projection; size of M over G.

    `noise` is the `force_noise` of accelerations, `rounding` the mechanism's.
    """

    position: Solve
    velocity: Solve
    mass_over_gradient: float
    noise: float
    rounding: float


class Weights(NamedTuple):
    """Weights of R0 and R1 in q1 (3.4a) and in v1 (3.4b), and of L0, L1 in the projection."""

    q0: float
    q1: float
    v0: float
    v1: float
    #: Changes of L0, L1 that leave q1 as it is and change the reaction in v1 by one.
    projection0: float
    projection1: float


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
    f = initial_force(o, t, q, v)
    return State(t, q, v, f, f, h, (f, lam, lam), (f, lam, lam))


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
    return state._replace(a=(1.0 - alpha) * state.f + alpha * first.f, h=h)


def adjusted(settings: Settings, a: Array, f: Array, ratio: float) -> Array:
    """Move a0 from t0 + alpha h_old to t0 + alpha h, where `ratio` is h / h_old."""
    if ratio == 1.0 or not settings.adjust_steps:
        return a
    return f + ratio * (a - f)  # (2.3)


def step(o: Mechanism, settings: Settings, newton: Newton, state: State, h: float) -> State:
    """One step of (3.4)."""
    c, w = settings.coefficients, weights(settings)
    alpha, beta, gamma = c.alpha, c.beta, c.gamma
    t1, f0 = state.t + h, state.f
    a0 = adjusted(settings, state.a, f0, h / state.h)
    q_hat = state.q + h * state.v + h**2 * (0.5 - beta) * a0
    v_hat = state.v + h * (1.0 - gamma) * a0
    hb, hg = h**2 * beta, h * gamma
    n = o.n_q
    R0 = _old_reaction(o, state)
    R1 = _new_reaction(o, settings, state, h)

    def position(x: Unknowns) -> Array:  # (3.4a)
        return q_hat + hb * x.a + 0.5 * h**2 * (w.q0 * x.R0 + w.q1 * x.R1)

    def velocity(x: Unknowns) -> Array:  # (3.4b)
        return v_hat + hg * x.a + h * (w.v0 * x.R0 + w.v1 * x.R1)

    def moved(x: Unknowns, d: Array, L0: Array, L1: Array, q: Array, v: Array) -> Unknowns:
        """Return unknowns with new multipliers whose q1 differs from that of x by h^2 beta d."""
        new0, new1 = R0(L0), R1(q, v, L1)
        by_reactions = w.q0 * (new0 - x.R0) + w.q1 * (new1 - x.R1)
        return Unknowns(x.a + d - by_reactions / (2.0 * beta), L0, L1, new0, new1)

    def setup(x: Unknowns) -> Matrices:
        newton.counters.njacs += 1
        newton.counters.nfcnjacs += o.tangent_cost
        newton.counters.nlus += 2 if o.n_lam else 1
        f1 = (x.a + alpha * f0) / (1.0 + alpha)
        return _matrices(o, settings, state, t1, position(x), velocity(x), f1, x, hb, hg)

    def project(x: Unknowns, matrices: Matrices) -> tuple[Unknowns, Array]:
        """Return x after a velocity projection, and the change of the multiplier in v1."""
        q, v = position(x), velocity(x)
        e = matrices.velocity(np.concatenate([np.zeros(n), -o.holonomic_rate(t1, q, v) / h]))
        L0, L1 = x.L0 + w.projection0 * e[n:], x.L1 + w.projection1 * e[n:]
        return moved(x, np.zeros(n), L0, L1, q, v + h * e[:n]), e[n:]

    def correct(x: Unknowns, matrices: Matrices) -> tuple[Unknowns, Sizes]:
        newton.counters.nfcns += 1
        q, v = position(x), velocity(x)
        f1 = (x.a + alpha * f0) / (1.0 + alpha)
        r = o.mass(t1, q) @ f1 - o.force(t1, q, v)  # (3.4c)
        d = matrices.position(np.concatenate([-r, -o.holonomic(t1, q) / hb]))
        x = moved(x, d[:n], x.L0 + d[n:], x.L1 + d[n:], q + hb * d[:n], v)
        size = _size(settings, matrices, d[:n], d[n:], x, q, hb if o.n_lam else hg)
        if not o.n_lam:
            return x, (size,)

        x, e = project(x, matrices)
        dv = (velocity(x) - v) / h
        return x, (size, _size(settings, matrices, dv, d[n:] + e, x, v, h))

    a, L0, L1 = extrapolated(state.x, state.x_old, h / state.h)
    guess = Unknowns(a, L0, L1, R0(L0), R1(state.q + h * state.v, state.v, L1))
    x = newton.solve(guess, correct, setup)
    if o.n_lam:  # the last correction of q1 has left a trace in the rate of g: take it away
        x, _ = project(x, newton.last_solvers)
    f1 = (x.a + alpha * f0) / (1.0 + alpha)  # (3.4c), solved for f(t1, q1, v1)
    return State(t1, position(x), velocity(x), x.a, f1, h, x[:3], state.x)


def _old_reaction(o: Mechanism, state: State) -> Callable[[Array], Array]:
    """Return R0 = r(t0, q0, L0) as a function of L0."""
    t, q, v, psi = state.t, state.q, state.v, np.zeros(0)
    if not o.n_lam:
        return lambda L0: np.zeros(o.n_q)
    solve = mass_solver(o, t, q)
    return lambda L0: solve(o.reaction(t, q, v, L0, psi))


def _new_reaction(
    o: Mechanism, settings: Settings, state: State, h: float
) -> Callable[[Array, Array, Array], Array]:
    """Return R1, or that of the middle, as a function of q1, v1 and L1."""
    t0, q0, v0, psi = state.t, state.q, state.v, np.zeros(0)
    if not o.n_lam:
        return lambda q, v, L1: np.zeros(o.n_q)
    if settings.variant == "predicted":
        q_tilde = q0 + h * v0  # (3.5)
        solve = mass_solver(o, t0 + h, q_tilde)
        return lambda q, v, L1: solve(o.reaction(t0 + h, q_tilde, v, L1, psi))
    middle = settings.variant == "midpoint"
    t = t0 + 0.5 * h if middle else t0 + h

    def reaction(q: Array, v: Array, L1: Array) -> Array:
        if middle:
            q, v = 0.5 * (q0 + q), 0.5 * (v0 + v)
        return mass_solver(o, t, q)(o.reaction(t, q, v, L1, psi))

    return reaction


def _matrices(
    o: Mechanism,
    settings: Settings,
    state: State,
    t: float,
    q: Array,
    v: Array,
    f1: Array,
    x: Unknowns,
    hb: float,
    hg: float,
) -> Matrices:
    """Factorize the derivatives of (3.4c) and g, and the projection onto the rate of g."""
    c, w, psi = settings.coefficients, weights(settings), np.zeros(0)
    M, G = o.mass(t, q), o.holonomic_jacobian(t, q)
    inertia = M / (1.0 + c.alpha)
    tangent = o.tangent(t, q, v, f1, 0.0 * x.L1, psi, hb, hg)
    noise = force_noise(tangent, inertia, q, hb)
    old = o.reaction_jacobian(state.t, state.q, state.v, x.L0, psi)
    if o.n_lam:
        old = transported(o, M, mass_solver(o, state.t, state.q), old)
    new = o.reaction_jacobian(t, q, v, x.L1, psi)
    columns = (w.q0 * old + w.q1 * new) / (2.0 * c.beta * (1.0 + c.alpha))
    position = factorize(saddle(inertia + tangent, -columns, G))
    if not o.n_lam:
        return Matrices(position, position, 0.0, noise, o.rounding)  # there is nothing to project
    ratio = abs(M).max() / abs(G).max()
    return Matrices(position, factorize(saddle(M, -new, G)), ratio, noise, o.rounding)


def transported(o: Mechanism, M: Matrix, solve_old: Solve, columns: Matrix) -> Matrix:
    """Return M1 M0^-1 columns: reactions of another instant, as they enter M1 a1.

    Where that would fill a sparse matrix, the columns are taken as they are, which is right for a
    constant mass matrix and costs Newton's iteration some contraction otherwise.
    """
    if o.constant_mass is not None or o.is_sparse:
        return columns
    return M @ solve_old(columns)


def _size(
    settings: Settings,
    matrices: Matrices,
    da: Array,
    dL: Array,
    x: Unknowns,
    at: Array,
    displacement: float,
) -> float:
    """Return the size of a correction of accelerations and multipliers, see `accuracy`."""
    allowed = tolerated(settings.relative, x.a, at, displacement, matrices.noise, matrices.rounding)
    size = norm(da) / allowed
    if dL.size:
        scale = tolerated_multiplier(settings.relative, x.L1, allowed, matrices.mass_over_gradient)
        size = max(size, norm(dL) / scale)
    return size


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """Acceleration and multipliers from (3.2), of second order because q and v are."""
    _, L0, L1 = state.x
    return accelerations(o, state.t, state.q, state.v, 0.5 * (L0 + L1), np.zeros(0))


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
