"""HHTI2 for nonholonomic constraints: section 6 of Jay and Negrut (2007).

See `hhti2` for the paper and the notation; P is the paper's Psi_{1/2}. One step:

    q1 = q0 + h v0 + h^2/2 ((1 - 2 beta) a0 + 2 beta a1) + h^2/2 R
    v1 = v0 + h ((1 - gamma) a0 + gamma a1) + h R
    a1 = (1 + alpha) f(t1, q1, v1) - alpha f(t0, q0, v0)
    R  = r(t0 + h/2, q0 + h/2 v0, (v0 + v1)/2, P)
    0  = k(t1, q1, v1)

How it is solved: with x the correction of a1 + R / gamma, so that v1 moves by h gamma x, the
equilibrium and k make one saddle point system for x and P. That q1 then moves by h^2 beta x only
up to a small term (beta / gamma is near 1/2 for HHT) costs a little of Newton's contraction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import force_noise, norm, tolerated, tolerated_multiplier
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Solve, factorize, saddle
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import extrapolated
from genalpha.schemes import hhti2
from genalpha.schemes.settings import Settings

Array = np.ndarray


class State(NamedTuple):
    """What is carried from step to step; as in `hhti2`, with a1, P in `x`, `x_old`."""

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    h: float
    x: tuple[Array, Array]
    x_old: tuple[Array, Array]


class Unknowns(NamedTuple):
    """a1, P and the R that they give at the present v1."""

    a: Array
    P: Array
    R: Array


class Matrices(NamedTuple):
    """The factorized iteration matrix, and the size of M over that of K.

    `noise` is the `force_noise` of accelerations, `rounding` the mechanism's.
    """

    solve: Solve
    mass_over_gradient: float
    noise: float
    rounding: float


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = f(t0, q0, v0)."""
    q, v, _, _, psi = motion
    f = hhti2.initial_force(o, t, q, v)
    return State(t, q, v, f, f, h, (f, psi), (f, psi))


def step(o: Mechanism, settings: Settings, newton: Newton, state: State, h: float) -> State:
    """One step of the method of section 6."""
    c = settings.coefficients
    alpha, beta, gamma = c.alpha, c.beta, c.gamma
    t1, f0 = state.t + h, state.f
    a0 = hhti2.adjusted(settings, state.a, f0, h / state.h)
    q_hat = state.q + h * state.v + h**2 * (0.5 - beta) * a0
    v_hat = state.v + h * (1.0 - gamma) * a0
    hb, hg, n, none = h**2 * beta, h * gamma, o.n_q, np.zeros(0)
    t_mid, q_mid = state.t + 0.5 * h, state.q + 0.5 * h * state.v
    solve_mass = mass_solver(o, t_mid, q_mid)

    def reaction(v: Array, P: Array) -> Array:
        return solve_mass(o.reaction(t_mid, q_mid, 0.5 * (state.v + v), none, P))

    def position_and_velocity(x: Unknowns) -> tuple[Array, Array]:
        return q_hat + hb * x.a + 0.5 * h**2 * x.R, v_hat + hg * x.a + h * x.R

    def setup(x: Unknowns) -> Matrices:
        q, v = position_and_velocity(x)
        newton.counters.njacs += 1
        newton.counters.nfcnjacs += o.tangent_cost
        newton.counters.nlus += 1
        f1 = (x.a + alpha * f0) / (1.0 + alpha)
        M, K = o.mass(t1, q), o.nonholonomic_jacobian(t1, q, v)
        inertia = M / (1.0 + alpha)
        tangent = o.tangent(t1, q, v, f1, none, 0.0 * x.P, hb, hg)
        noise = force_noise(tangent, inertia, q, hb)
        columns = o.reaction_jacobian(t_mid, q_mid, 0.5 * (state.v + v), none, x.P)
        columns = hhti2.transported(o, M, solve_mass, columns)
        J = K + (hb / hg) * o.nonholonomic_gradient(t1, q, v)
        matrix = saddle(inertia + tangent, -columns / (gamma * (1.0 + alpha)), J)
        return Matrices(factorize(matrix), abs(M).max() / abs(K).max(), noise, o.rounding)

    def correct(x: Unknowns, matrices: Matrices) -> tuple[Unknowns, Sizes]:
        newton.counters.nfcns += 1
        q, v = position_and_velocity(x)
        f1 = (x.a + alpha * f0) / (1.0 + alpha)
        r = o.mass(t1, q) @ f1 - o.force(t1, q, v)
        d = matrices.solve(np.concatenate([-r, -o.nonholonomic(t1, q, v) / hg]))
        P = x.P + d[n:]
        R = reaction(v + hg * d[:n], P)
        x = Unknowns(x.a + d[:n] - (R - x.R) / gamma, P, R)
        allowed = tolerated(settings.relative, x.a, v, hg, matrices.noise, matrices.rounding)
        scale = tolerated_multiplier(settings.relative, P, allowed, matrices.mass_over_gradient)
        return x, (max(norm(d[:n]) / allowed, norm(d[n:]) / scale),)

    a, P = extrapolated(state.x, state.x_old, h / state.h)
    x = newton.solve(Unknowns(a, P, reaction(state.v, P)), correct, setup)
    f1 = (x.a + alpha * f0) / (1.0 + alpha)
    return State(t1, *position_and_velocity(x), x.a, f1, h, x[:2], state.x)


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """Acceleration and multipliers from the constraints differentiated, of second order."""
    return accelerations(o, state.t, state.q, state.v, np.zeros(0), state.x[1])
