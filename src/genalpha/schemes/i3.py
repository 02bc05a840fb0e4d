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

from typing import NamedTuple

import numpy as np

from genalpha.model import Mechanism, Motion
from genalpha.model.differences import directional_derivative, time_scale
from genalpha.numerics.accuracy import force_noise, norm, tolerated, tolerated_multiplier
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Solve, factorize, saddle, stack
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import extrapolated
from genalpha.schemes.settings import Settings

Array = np.ndarray
Unknowns = tuple[Array, Array, Array]  # vdot, lam, psi


class State(NamedTuple):
    """What is carried from step to step; `h` is the step size that made `a`.

    `x_old` (vdot, lam, psi of the step before) only helps Newton's iteration to start well.
    """

    t: float
    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array
    a: Array
    a_old: Array
    h: float
    x_old: Unknowns


class Matrices(NamedTuple):
    """The factorized iteration matrix, and the size of M over that of G and K.

    `noise` is the `force_noise` of accelerations, `rounding` the mechanism's.
    """

    solve: Solve
    mass_over_gradient: float
    noise: float
    rounding: float


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = vdot0 as in (3)."""
    q, v, vdot, lam, psi = motion
    return State(t, q, v, vdot, lam, psi, vdot, vdot, h, (vdot, lam, psi))


def shifted(o: Mechanism, settings: Settings, state: State, first: State, h: float) -> State:
    """Start with a0 = vdot(t0 + alpha h) + O(h^2), and with the drift that steps h build up.

    a0 comes from vdot0 and vdot1, extrapolated linearly. The vdot1 of a first step from the plain
    start is too rough for that; the consistent one of its q1, v1 is not.

    The scheme makes a local error C h^3 v'' in q, see `local_error`, which (2) allows in the
    directions of the constraints only if the velocity makes up for it: after some steps
    g_t + G v = -C h^2 G v''. A start without this drift would cost an order in the first lam. (The
    paper starts plainly; this is ours.)
    """
    c = settings.coefficients
    vdot1, _, _ = accelerations(o, first.t, first.q, first.v, first.lam, first.psi)
    a = (1.0 - c.alpha) * state.vdot + c.alpha * vdot1
    v = state.v
    if o.n_lam:
        v = with_drift(o, state, (1.0 / 6.0 - c.alpha / 2.0 - c.beta) * h**2 * jerk(o, state))
    return state._replace(v=v, a=a, a_old=a, h=h)


def jerk(o: Mechanism, state: State) -> Array:
    """Return G v'', from the derivative of 0 = G vdot + (g_tt + 2 g_tq v + g_qq(v, v))."""
    t, q, v, vdot = state[:4]
    T = time_scale(q, v)

    def acceleration_level(s: float) -> Array:
        t_s, q_s, v_s = t + s * T, q + s * T * v, v + s * T * vdot
        return o.holonomic_jacobian(t_s, q_s) @ vdot + o.holonomic_acceleration(t_s, q_s, v_s)

    return -directional_derivative(acceleration_level) / T


def with_drift(o: Mechanism, state: State, drift: Array) -> Array:
    """Return the velocity, changed in the direction of the reactions by a `drift` of g_t + G v."""
    t, q, v, _, lam, psi = state[:6]
    J = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    project = factorize(saddle(o.mass(t, q), -o.reaction_jacobian(t, q, v, lam, psi), J))
    d = project(np.concatenate([np.zeros(o.n_q), drift, np.zeros(o.n_psi)]))
    return v + d[: o.n_q]


def adjusted(o: Mechanism, settings: Settings, state: State, h: float) -> tuple[Array, Array]:
    """Return v0 and a0 for a step size other than the last one.

    a0 moves from t0 + alpha h_old to t0 + alpha h by formula (14a) of Jay and Negrut (2008).

    v0 has the drift c h_old^2 that the scheme has built up with steps h_old, see `shifted`; steps
    h build up c h^2. The difference, which is small in v0, would be of order h in lam1, because
    (4) turns it into an acceleration. It is taken away. (The paper has constant steps; this is
    ours.)
    """
    if h == state.h or not settings.adjust_steps:
        return state.v, state.a
    ratio = h / state.h
    a = state.a + settings.coefficients.alpha * (ratio - 1.0) * (state.a - state.a_old)
    if not o.n_lam:
        return state.v, a
    drift = (ratio**2 - 1.0) * o.holonomic_rate(state.t, state.q, state.v)
    return with_drift(o, state, drift), a


def step(o: Mechanism, settings: Settings, newton: Newton, state: State, h: float) -> State:
    """Algorithm 1."""
    c = settings.coefficients
    alpha_m, alpha_f, beta, gamma = c.alpha_m, c.alpha_f, c.beta, c.gamma
    v0, a0 = adjusted(o, settings, state, h)
    t1 = state.t + h
    bp = (1.0 - alpha_m) / (h**2 * beta * (1.0 - alpha_f))  # (6)
    gp = gamma / (h * beta)
    # Algorithm 1 up to the loop: q1, v1 as they would be if vdot1 were 0
    a_hat = (alpha_f * state.vdot - alpha_m * a0) / (1.0 - alpha_m)
    q_hat = state.q + h * v0 + h**2 * (0.5 - beta) * a0 + h**2 * beta * a_hat
    v_hat = v0 + h * (1.0 - gamma) * a0 + h * gamma * a_hat
    n, m = o.n_q, o.n_lam
    scaling = beta * h**2  # (10)

    def position_and_velocity(vdot: Array) -> tuple[Array, Array]:  # (7)
        return q_hat + vdot / bp, v_hat + (gp / bp) * vdot

    def setup(x: Unknowns) -> Matrices:
        """Factorize the scaled matrix D_L S_t D_R of (9), (10)."""
        vdot, lam, psi = x
        q, v = position_and_velocity(vdot)
        M = o.mass(t1, q)
        Kt_Ct = o.tangent(t1, q, v, vdot, lam, psi, scaling, scaling * gp)
        J = stack(
            o.holonomic_jacobian(t1, q),
            o.nonholonomic_jacobian(t1, q, v) + o.nonholonomic_gradient(t1, q, v) / gp,
        )
        newton.counters.njacs += 1
        newton.counters.nfcnjacs += o.tangent_cost
        newton.counters.nlus += 1
        R = o.reaction_jacobian(t1, q, v, lam, psi)
        inertia = scaling * bp * M
        solve = factorize(saddle(inertia + Kt_Ct, -R, J))  # fails first if J is 0
        ratio = abs(M).max() / abs(J).max() if m + o.n_psi else 0.0
        noise = force_noise(Kt_Ct, inertia, q, 1.0 / bp)
        return Matrices(solve, ratio, noise, o.rounding)

    def correct(x: Unknowns, matrices: Matrices) -> tuple[Unknowns, Sizes]:
        vdot, lam, psi = x
        q, v = position_and_velocity(vdot)
        newton.counters.nfcns += 1
        r_q = o.imbalance(t1, q, v, vdot, lam, psi)  # (1)
        r_lam = o.holonomic(t1, q)  # (2)
        r_psi = o.nonholonomic(t1, q, v)
        right = np.concatenate([-scaling * r_q, -r_lam, -r_psi / gp])
        d = matrices.solve(right)
        d_vdot, d_lam, d_psi = bp * d[:n], d[n : n + m] / scaling, d[n + m :] / scaling
        new = (vdot + d_vdot, lam + d_lam, psi + d_psi)
        allowed = tolerated(
            settings.relative,
            new[0],
            q,
            1.0 / bp if m else gp / bp,
            matrices.noise,
            matrices.rounding,
        )
        size = norm(d_vdot) / allowed
        for correction, value in ((d_lam, new[1]), (d_psi, new[2])):
            if value.size:
                scale = tolerated_multiplier(
                    settings.relative, value, allowed, matrices.mass_over_gradient
                )
                size = max(size, norm(correction) / scale)
        return new, (size,)

    x = (state.vdot, state.lam, state.psi)
    vdot, lam, psi = newton.solve(extrapolated(x, state.x_old, h / state.h), correct, setup)
    q, v = position_and_velocity(vdot)
    a = a_hat + (1.0 - alpha_f) / (1.0 - alpha_m) * vdot
    return State(t1, q, v, vdot, lam, psi, a, a0, h, x)


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """The scheme computes true accelerations and multipliers itself."""
    return state.vdot, state.lam, state.psi


def errors(settings: Settings) -> ErrorConstants:
    """Those of every generalized-alpha scheme; the constraints only take away from them."""
    return generalized_alpha(settings.coefficients)


def faults(o: Mechanism, settings: Settings) -> list[str]:
    """Conditions of the paper's convergence theorem (section 3.4)."""
    c = settings.coefficients
    found = []
    if not c.is_second_order:
        found.append(
            f"order-2 condition (20): gamma = {c.gamma:g}, needed 1/2 - alpha = {0.5 - c.alpha:g}"
        )
    if not c.is_zero_stable:
        found.append(f"zero stability: alpha_m = {c.alpha_m:g}, needed at most 1/2")
    if c.beta == 0.0:
        found.append("beta = 0: (6) divides by beta; GenAlphaSOI2 allows it without constraints")
    elif o.n_lam and c.rho_inf > 1.0 + 1e-9:
        found.append(
            f"stability at infinity (22): a root has modulus {c.rho_inf:.3g}, needed less than 1"
        )
    return found
