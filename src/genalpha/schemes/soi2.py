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

from typing import NamedTuple

import numpy as np

from genalpha.errors import SingularSystemError
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import force_noise, norm, tolerated, tolerated_multiplier
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Matrix, Solve, factorize, saddle, stack
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import extrapolated
from genalpha.schemes.settings import Settings

Array = np.ndarray


class Unknowns(NamedTuple):
    """Those of the position step, and those of the velocity projection.

    The latter are delta = a1_t - a1, mu = lam1 - lam1_t, nu = psi1 - psi1_t.
    """

    a_t: Array
    lam_t: Array
    psi_t: Array
    delta: Array
    mu: Array
    nu: Array


class State(NamedTuple):
    """What is carried from step to step; `h` is the step size that made `a`.

    `Ma` is M a with the M of (13), `f` is f(t, q, v, lam, psi); `x` and `x_old` (the unknowns of
    the last two steps) only help Newton's iteration to start well.
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
    x: Unknowns
    x_old: Unknowns


class Matrices(NamedTuple):
    """Factorized matrices of position step and velocity projection; size of M over G and K.

    `noise` is the `force_noise` of accelerations, `rounding` the mechanism's.
    """

    position: Solve
    velocity: Solve
    mass_over_gradient: float
    noise: float
    rounding: float


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = vdot0, as allowed by Theorem 1."""
    q, v, vdot, lam, psi = motion
    alpha = settings.coefficients.alpha
    Ma = o.mass(t + alpha * h, q + alpha * h * v) @ vdot
    f = o.force(t, q, v) + o.reaction(t, q, v, lam, psi)
    x = Unknowns(vdot, lam, psi, np.zeros(o.n_q), np.zeros(o.n_lam), np.zeros(o.n_psi))
    return State(t, q, v, lam, psi, vdot, Ma, vdot, Ma, f, h, x, x)


def shifted(o: Mechanism, settings: Settings, state: State, first: State, h: float) -> State:
    """Start with a0 = a(t0 + alpha h) + O(h^2), in the manner of (8): t0 and t1 extrapolated.

    The a1 of a first step from the plain start is too rough for that; the consistent acceleration
    of its q1, v1 is not.
    """
    alpha = settings.coefficients.alpha
    vdot1, _, _ = accelerations(o, first.t, first.q, first.v, first.lam, first.psi)
    a = (1.0 - alpha) * state.a + alpha * vdot1
    Ma = (1.0 - alpha) * state.f + alpha * (o.mass(first.t, first.q) @ vdot1)
    return state._replace(a=a, a_old=a, Ma=Ma, Ma_old=Ma, h=h)


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
    alpha_m, alpha_f, beta, gamma = c.alpha_m, c.alpha_f, c.beta, c.gamma
    a0, Ma0 = adjusted(settings, state, h)
    t1 = state.t + h
    M1 = o.mass(state.t + (1.0 + c.alpha) * h, state.q + (1.0 + c.alpha) * h * state.v)
    q_hat = state.q + h * state.v + h**2 * (0.5 - beta) * a0
    v_hat = state.v + h * (1.0 - gamma) * a0
    old = alpha_m * Ma0 - alpha_f * state.f
    hb, hg = h**2 * beta, h * gamma
    n, m = o.n_q, o.n_lam

    def setup(x: Unknowns) -> Matrices:
        q, v = q_hat + hb * x.a_t, v_hat + hg * (x.a_t - x.delta)
        newton.counters.njacs += 1
        newton.counters.nfcnjacs += o.tangent_cost
        newton.counters.nlus += 2 if m else 1
        return _matrices(o, settings, t1, q, v, x, M1, hb, hg)

    def project(x: Unknowns, matrices: Matrices) -> tuple[Unknowns, Array]:
        """Return x after a velocity projection, and by how much a1, lam1, psi1 have changed."""
        a_t, lam_t, psi_t, delta, mu, nu = x
        q, v = q_hat + hb * a_t, v_hat + hg * (a_t - delta)
        difference = o.reaction(t1, q, v, lam_t, psi_t) - o.reaction(
            t1, q, v, lam_t + mu, psi_t + nu
        )
        r = (1.0 - alpha_m) * (M1 @ delta) - (1.0 - alpha_f) * difference  # (13d) - (13e)
        rows = [-r, o.holonomic_rate(t1, q, v) / hg, o.nonholonomic(t1, q, v) / hg]  # (13g), (13i)
        e = matrices.velocity(np.concatenate(rows))
        x = x._replace(delta=delta + e[:n], mu=mu + e[n : n + m], nu=nu + e[n + m :])
        e[:n] *= -1.0
        return x, e

    def correct(x: Unknowns, matrices: Matrices) -> tuple[Unknowns, Sizes]:
        newton.counters.nfcns += 1
        a_t, lam_t, psi_t, delta, mu, nu = x
        q, v_t = q_hat + hb * a_t, v_hat + hg * a_t  # (13a), (13b)
        v = v_t - hg * delta  # (13c)
        f = o.force(t1, q, v) + o.reaction(t1, q, v, lam_t, psi_t)
        r = (1.0 - alpha_m) * (M1 @ a_t) + old - (1.0 - alpha_f) * f  # (13d)
        rows = [-r, -_per(o.holonomic(t1, q), hb), -o.nonholonomic(t1, q, v_t) / hg]  # (13f), (13h)
        d = matrices.position(np.concatenate(rows))
        a_t, lam_t, psi_t = a_t + d[:n], lam_t + d[n : n + m], psi_t + d[n + m :]
        size = _size(settings, matrices, d, (a_t, lam_t, psi_t), q, hb if m else hg)
        if m == 0:
            return Unknowns(a_t, lam_t, psi_t, delta, mu, nu), (size,)

        x, e = project(Unknowns(a_t, lam_t, psi_t, delta, mu, nu), matrices)
        final = (x.a_t - x.delta, x.lam_t + x.mu, x.psi_t + x.nu)
        return x, (size, _size(settings, matrices, d + e, final, v, hg))

    x = newton.solve(extrapolated(state.x, state.x_old, h / state.h), correct, setup)
    if m:  # the last correction of q1 has left a trace in (13g): take it away
        x, _ = project(x, newton.last_solvers)
    a_t, lam_t, psi_t, delta, mu, nu = x
    a1 = a_t - delta
    Ma1 = M1 @ a1
    f1 = ((1.0 - alpha_m) * Ma1 + old) / (1.0 - alpha_f)  # (13e), solved for f(t1, ...)
    q1, v1 = q_hat + hb * a_t, v_hat + hg * a1
    return State(t1, q1, v1, lam_t + mu, psi_t + nu, a1, Ma1, a0, Ma0, f1, h, x, state.x)


def _matrices(
    o: Mechanism,
    settings: Settings,
    t: float,
    q: Array,
    v: Array,
    x: Unknowns,
    M1: Matrix,
    hb: float,
    hg: float,
) -> Matrices:
    """Factorize the derivatives of (13d), (13f), (13h) and of (13d) - (13e), (13g), (13i).

    The constraints are divided by what the unknown accelerations move q and v, so that neither
    matrix becomes ill-conditioned for small h.
    """
    c = settings.coefficients
    weight_m, weight_f = 1.0 - c.alpha_m, 1.0 - c.alpha_f
    G, K = o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v)
    R = o.reaction_jacobian(t, q, v, x.lam_t, x.psi_t)
    # the explicit M1 does not depend on q1: vdot = 0 leaves the derivatives of -f
    none = np.zeros(o.n_q)
    inertia = weight_m * M1
    tangent = o.tangent(t, q, v, none, x.lam_t, x.psi_t, weight_f * hb, weight_f * hg)
    noise = force_noise(tangent, inertia, q, hb or hg)
    gradient = K + (hb / hg) * o.nonholonomic_gradient(t, q, v)
    position = factorize(saddle(inertia + tangent, -weight_f * R, stack(G, gradient)))
    if not o.n_lam:
        ratio = abs(M1).max() / abs(K).max() if o.n_psi else 0.0
        return Matrices(position, position, ratio, noise, o.rounding)  # there is nothing to project
    J = stack(G, K)
    velocity = factorize(saddle(inertia, weight_f * R, J))
    return Matrices(position, velocity, abs(M1).max() / abs(J).max(), noise, o.rounding)


def _per(residual: Array, displacement: float) -> Array:
    """Divide, where there is something to divide (beta = 0 goes with no holonomic constraint)."""
    return residual / displacement if residual.size else residual


def _size(
    settings: Settings,
    matrices: Matrices,
    d: Array,
    values: tuple[Array, Array, Array],
    x: Array,
    displacement: float,
) -> float:
    """Return the size of a correction `d` of accelerations and multipliers, see `accuracy`."""
    a, lam, psi = values
    n, m = a.size, lam.size
    allowed = tolerated(settings.relative, a, x, displacement, matrices.noise, matrices.rounding)
    size = norm(d[:n]) / allowed
    for correction, value in ((d[n : n + m], lam), (d[n + m :], psi)):
        if value.size:
            scale = tolerated_multiplier(
                settings.relative, value, allowed, matrices.mass_over_gradient
            )
            size = max(size, norm(correction) / scale)
    return size


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """Multipliers are the scheme's own; the true acceleration is M(t, q)^-1 f."""
    t, q, v, lam, psi = state[:5]
    f = o.force(t, q, v) + o.reaction(t, q, v, lam, psi)
    try:
        return mass_solver(o, t, q)(f), lam, psi
    except SingularSystemError:  # massless coordinates: only the constraints move them
        return accelerations(o, t, q, v, lam, psi)[0], lam, psi


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
