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

from dataclasses import dataclass
from functools import partial

import numpy as np

from genalpha.kernels import add, add_product, combined, part, plus, solution, stacked, zeros
from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import Scales, larger, scales, size
from genalpha.numerics.gradients import tangent
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Solve
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.prediction import NOTHING, Past, extended, predicted
from genalpha.schemes.hhti2 import adjusted, initial_force
from genalpha.schemes.hhti2_newton import new_force, transported
from genalpha.schemes.settings import Settings

Array = np.ndarray
NO_VECTOR = np.zeros(0)


@dataclass
class State:
    """What is carried from step to step; as in `hhti2`, with P for L0, L1."""

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    h: float
    P: Array
    past: Past


@dataclass
class Unknowns:
    """a1, P and the R that they give at the present v1."""

    a: Array
    P: Array
    R: Array


@dataclass
class Trial:
    """What a step knows before its unknowns; `middle` is where R is evaluated."""

    t: float
    h: float
    q_hat: Array
    v_hat: Array
    v0: Array
    f0: Array
    hb: float
    hg: float
    middle: tuple[float, Array]
    solve_mass: Solve


@dataclass
class Matrices:
    """The factorized iteration matrix, and what corrections are compared with."""

    solve: Solve
    scales: Scales


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = f(t0, q0, v0)."""
    q, v, _, _, psi = motion
    f = initial_force(o, t, q, v)
    return State(t, q, v, f, f, h, psi, ((t, np.concatenate([f, psi])),))


def step(o: Mechanism, settings: Settings, newton: Newton, state: State, h: float) -> State:
    """One step of the method of section 6."""
    c = settings.coefficients
    t1, n = state.t + h, o.n_q
    a0 = adjusted(settings, state.a, state.f, h / state.h)
    middle = state.t + 0.5 * h, plus(state.q, 0.5 * h, state.v)
    trial = Trial(
        t1,
        h,
        combined(1.0, state.q, h, state.v, h * h * (0.5 - c.beta), a0),
        plus(state.v, h * (1.0 - c.gamma), a0),
        state.v,
        state.f,
        h * h * c.beta,
        h * c.gamma,
        middle,
        mass_solver(o, *middle),
    )

    guess = predicted(state.past, t1)
    a, P = part(guess, 0, n), part(guess, n, n + o.n_psi)
    x = newton.solve(
        Unknowns(a, P, _reaction(o, trial, state.v, P)),
        partial(_correct, o, settings, newton, trial),
        partial(_matrices, o, settings, newton, trial),
    )
    past = extended(state.past, t1, stacked(1.0, x.a, 1.0, x.P))
    q, v = _position_and_velocity(trial, x)
    return State(t1, q, v, x.a, new_force(settings, x.a, trial.f0), h, x.P, past)


def _reaction(o: Mechanism, trial: Trial, v: Array, P: Array) -> Array:
    """Return R for a velocity v1."""
    mean = combined(0.5, trial.v0, 0.5, v)
    return trial.solve_mass(o.reaction(*trial.middle, mean, NO_VECTOR, P))


def _position_and_velocity(trial: Trial, x: Unknowns) -> tuple[Array, Array]:
    """Return q1 and v1."""
    h = trial.h
    q = combined(1.0, trial.q_hat, trial.hb, x.a, 0.5 * h * h, x.R)
    return q, combined(1.0, trial.v_hat, trial.hg, x.a, h, x.R)


def _matrices(
    o: Mechanism, settings: Settings, newton: Newton, trial: Trial, x: Unknowns
) -> Matrices:
    """Factorize the derivatives of the equilibrium and of k."""
    c = settings.coefficients
    t, hb, hg, none = trial.t, trial.hb, trial.hg, NO_VECTOR
    q, v = _position_and_velocity(trial, x)
    newton.counters.njacs += 1
    newton.counters.nfcnjacs += o.tangent_cost
    f1 = new_force(settings, x.a, trial.f0)
    M, K = o.mass(t, q), o.nonholonomic_jacobian(t, q, v)
    inertia = [(1.0 / (1.0 + c.alpha), M)]
    forces = tangent(o, t, q, v, f1, none, 0.0 * x.P, hb, hg)
    mean = combined(0.5, trial.v0, 0.5, v)
    columns = o.reaction_jacobian(*trial.middle, mean, none, x.P)
    columns = transported(o, M, trial.solve_mass, columns)
    R = [[(-1.0 / (c.gamma * (1.0 + c.alpha)), columns)]]
    J = [[(1.0, K), (hb / hg, o.nonholonomic_gradient(t, q, v))]]
    solve = newton.factorize("step", [*inertia, *forces], R, J)
    return Matrices(solve, scales(o, inertia, forces, J, q, hb, solve))


def _correct(
    o: Mechanism,
    settings: Settings,
    newton: Newton,
    trial: Trial,
    x: Unknowns,
    matrices: Matrices,
) -> tuple[Unknowns, Sizes]:
    """Return the unknowns after one correction, and its size."""
    t, hg, n = trial.t, trial.hg, o.n_q
    newton.counters.nfcns += 1
    q, v = _position_and_velocity(trial, x)
    r = zeros(n + o.n_psi)
    add_product(r, -1.0, o.mass_now(t, q), new_force(settings, x.a, trial.f0), 0)
    add(r, 0, 1.0, o.force_now(t, q, v))
    add(r, n, -1.0 / hg, o.nonholonomic(t, q, v))
    d = solution(matrices.solve, r)
    d = newton.accelerated(d, n, matrices.scales.mass_over_gradient)
    P = plus(x.P, 1.0, part(d, n, n + o.n_psi))
    R = _reaction(o, trial, plus(v, hg, d), P)
    per_gamma = 1.0 / settings.coefficients.gamma
    a = combined(1.0, plus(x.a, 1.0, d), -per_gamma, R, per_gamma, x.R)
    value = stacked(1.0, larger(a, R), 1.0, P)
    moved = size(settings.relative, matrices.scales, d, value, v, hg, n, 0)
    return Unknowns(a, P, R), (moved,)


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """Acceleration and multipliers from the constraints differentiated, of second order."""
    return accelerations(o, state.t, state.q, state.v, np.zeros(0), state.P)


def slim(state: State) -> State:
    """Return a state that `report` takes, and that takes little memory."""
    s = state
    return State(s.t, s.q, s.v, s.a, NO_VECTOR, s.h, s.P, NOTHING)
