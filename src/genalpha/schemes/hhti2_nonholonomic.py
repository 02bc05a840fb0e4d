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
from typing import Any

import numpy as np

from genalpha.kernels import (
    add,
    add_product,
    called,
    combined,
    part,
    plus,
    solution,
    stacked,
    zeros,
)
from genalpha.model import Mechanism, Motion
from genalpha.model.equations import mass_now
from genalpha.numerics.accuracy import Scales, larger, scales, size, with_states
from genalpha.numerics.gradients import tangent
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Solve
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Sizes
from genalpha.schemes.hht import (
    HHT,
    NO_VECTOR,
    adjusted_as_printed,
    initial_solver,
    new_force,
    transported,
)
from genalpha.schemes.printed import (
    Printed,
    acceleration,
    constraint,
    position,
    solved,
    velocity,
)
from genalpha.schemes.scheme import Reported, Settings

Array = np.ndarray


@dataclass
class State:
    """What is carried from step to step; as in `hhti2`, but `kept` is P and x is (a1, P)."""

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    h: float
    kept: Array
    x: Array


@dataclass
class Unknowns:
    """a1, P and the R that they give at the present v1."""

    a: Array
    P: Array
    R: Array


@dataclass
class Matrices:
    """The factorized iteration matrix, and what corrections are compared with."""

    solve: Solve
    scales: Scales


class Nonholonomic(HHT):
    """One step of the method of section 6; R is evaluated in the middle, at t_middle, q_middle."""

    name = "HHTI2"

    unknowns: Unknowns

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = f(t0, q0, v0)."""
        q, v, _, _, psi = motion
        f = initial_solver(self.o, t, q)(self.o.force(t, q, v))
        return State(t, q, v, f, f, h, psi, np.concatenate([f, psi]))

    def take(self, state: State, h: float) -> State:
        """See `Scheme`."""
        self._begin(state, h)
        self.newton.solve(self)
        x = self.unknowns
        f1, both = new_force(self.alpha, x.a, self.f0), stacked(1.0, x.a, 1.0, x.P)
        return State(self.t, self.position(x), self.velocity(x), x.a, f1, h, x.P, both)

    def _begin(self, state: State, h: float) -> None:
        """Work out what is known before the unknowns, and guess these."""
        o, n = self.o, self.o.n_q
        self.t, self.h, self.hb, self.hg = state.t + h, h, h * h * self.beta, h * self.gamma
        self.v0, self.f0 = state.v, state.f
        a0 = self.adjusted(state.a, state.f, h / state.h)
        self.q_hat = combined(1.0, state.q, h, state.v, h * h * (0.5 - self.beta), a0)
        self.v_hat = plus(state.v, h * (1.0 - self.gamma), a0)
        self.t_middle, self.q_middle = state.t + 0.5 * h, plus(state.q, 0.5 * h, state.v)
        self.solve_mass = mass_solver(o, self.t_middle, self.q_middle)
        guess = self.past.predicted(self.t)
        a, P = part(guess, 0, n), part(guess, n, n + o.n_psi)
        self.unknowns = Unknowns(a, P, self.reaction(state.v, P))

    def position(self, x: Unknowns) -> Array:
        """Return q1."""
        return combined(1.0, self.q_hat, self.hb, x.a, 0.5 * self.h * self.h, x.R)

    def velocity(self, x: Unknowns) -> Array:
        """Return v1."""
        return combined(1.0, self.v_hat, self.hg, x.a, self.h, x.R)

    def reaction(self, v: Array, P: Array) -> Array:
        """Return R for a velocity v1."""
        mean = combined(0.5, self.v0, 0.5, v)
        r = self.o.reaction(self.t_middle, self.q_middle, mean, NO_VECTOR, P)
        return solution(self.solve_mass, r)

    def correct(self, solvers: Any) -> Sizes:
        """See `Problem`."""
        matrices: Matrices = solvers
        o, newton, x = self.o, self.newton, self.unknowns
        t, hg, n = self.t, self.hg, o.n_q
        self.counters.nfcns += 1
        q, v = self.position(x), self.velocity(x)
        r = zeros(n + o.n_psi)
        add_product(r, -1.0, mass_now(o, t, q), new_force(self.alpha, x.a, self.f0), 0)
        add(r, 0, 1.0, called(o.force, t, q, v))
        add(r, n, -1.0 / hg, called(o.nonholonomic, t, q, v))
        d = solution(matrices.solve, r)
        compared = matrices.scales
        noise = compared.noise_of(v, hg)
        d = newton.accelerated(d, n, compared.mass_over_gradient, self.t, noise, compared.units)
        P = plus(x.P, 1.0, part(d, n, n + o.n_psi))
        R = self.reaction(plus(v, hg, d), P)
        a = combined(1.0, plus(x.a, 1.0, d), -1.0 / self.gamma, R, 1.0 / self.gamma, x.R)
        self.unknowns = Unknowns(a, P, R)
        value = stacked(1.0, larger(a, R), 1.0, P)
        return (size(self.relative, matrices.scales, d, value, v, hg, n, 0),)

    def setup(self) -> Matrices:
        """Factorize the derivatives of the equilibrium and of k."""
        o, x, none = self.o, self.unknowns, NO_VECTOR
        t, hb, hg = self.t, self.hb, self.hg
        q, v = self.position(x), self.velocity(x)
        self.count_matrix()
        f1 = new_force(self.alpha, x.a, self.f0)
        M, K = o.mass(t, q), o.nonholonomic_jacobian(t, q, v)
        inertia = [(1.0 / (1.0 + self.alpha), M)]
        forces = tangent(o, t, q, v, f1, none, 0.0 * x.P, hb, hg)
        mean = combined(0.5, self.v0, 0.5, v)
        columns = o.reaction_jacobian(self.t_middle, self.q_middle, mean, none, x.P)
        columns = transported(o, M, self.solve_mass, columns)
        R = [[(-1.0 / (self.gamma * (1.0 + self.alpha)), columns)]]
        J = [[(1.0, K), (hb / hg, o.nonholonomic_gradient(t, q, v))]]
        solve = self.factorize("step", [*inertia, *forces], R, J)
        compared = scales(o, inertia, forces, J, q, hb, solve, x.P)
        return Matrices(solve, with_states(o, compared, x.a, v, forces, hg))

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Acceleration and multipliers from the constraints differentiated, of second order."""
        return accelerations(o, t, q, v, NO_VECTOR, kept)

    @staticmethod
    def faults(o: Mechanism, settings: Settings) -> list[str]:
        """Section 6 knows neither b nor other places of the reaction."""
        found = HHT.faults(o, settings)
        if settings.b != 0.0:
            found.append(f"b = {settings.b:g} is for holonomic constraints: leave it out")
        if settings.variant != "end":
            found.append(
                f"variant = {settings.variant!r} is for holonomic constraints: leave it out"
            )
        return found

    @staticmethod
    def printed(o: Mechanism, settings: Settings, old: State, new: State) -> Printed:
        """See `Scheme`; the equations of section 6 have no numbers."""
        c, h, t0, q0, v0 = settings.coefficients, new.h, old.t, old.q, old.v
        alpha, beta, gamma = c.alpha, c.beta, c.gamma
        t1, q1, v1, a1, P = t0 + h, new.q, new.v, new.a, new.kept
        f0, f1 = solved(o, t0, q0, o.force(t0, q0, v0)), solved(o, t1, q1, o.force(t1, q1, v1))
        a0 = adjusted_as_printed(settings, old, f0, h)
        t, q, v = t0 + h / 2, q0 + h / 2 * v0, (v0 + v1) / 2
        R = solved(o, t, q, o.reaction(t, q, v, NO_VECTOR, P))
        moved = q0 + h * v0 + h**2 / 2 * ((1 - 2 * beta) * a0 + 2 * beta * a1) + h**2 / 2 * R
        return {
            "q1": position(q1, -moved),
            "v1": velocity(v1, -(v0 + h * ((1 - gamma) * a0 + gamma * a1) + h * R)),
            "a1": acceleration(a1, -(1 + alpha) * f1, alpha * f0),
            "k": constraint(o.nonholonomic(t1, q1, v1)),
        }
