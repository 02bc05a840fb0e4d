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

from dataclasses import dataclass
from functools import cache
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
from genalpha.model import Mechanism
from genalpha.model.equations import Reaction, mass_then, reaction_at
from genalpha.numerics.accuracy import Scales, larger, of_rates, scales, size, with_states
from genalpha.numerics.gradients import constraints, reactions, tangent
from genalpha.numerics.linear import Matrix, Solve
from genalpha.numerics.newton import Newton, Sizes
from genalpha.numerics.systems import Terms
from genalpha.schemes.hht import HHT, NO_VECTOR, new_force, transported
from genalpha.schemes.scheme import Settings

Array = np.ndarray


@dataclass
class Unknowns:
    """a1, L0, L1, the R0 that L0 gives, R1; mass and reaction at the present q1.

    In the midpoint variants, L1 and R1 are those of the middle of the step. A first guess knows
    no reaction: nobody asks for it.
    """

    a: Array
    L0: Array
    L1: Array
    R0: Array
    R1: Array
    mass: Matrix
    reaction: Reaction | None


@dataclass
class Matrices:
    """Factorized matrices of position step and velocity projection, scales of both corrections."""

    position: Solve
    velocity: Solve
    scales: Scales
    of_rates: Scales


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


@cache
def weights(b: float, variant: str) -> Weights:
    """Return the weights of a variant."""
    if variant.endswith("midpoint"):
        return Weights(1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    scale = 2.0 / (1.0 - 2.0 * b)
    return Weights(1.0 - b, b, 0.5, 0.5, -b * scale, (1.0 - b) * scale)


def nothing_to_solve(right: Array) -> Array:
    """Stand for solving with the mass where there is no constraint, and so no reaction."""
    return right


class Holonomic(HHT):
    """The unknowns of a step of (3.4), and how they are found.

    q_hat, v_hat are q1, v1 without a1 and reactions; `reaction0` and `solve0` (with the mass) are
    those of q0.
    """

    unknowns: Unknowns

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        self.variant, self.weights = settings.variant, weights(settings.b, settings.variant)

    def prepare(
        self,
        h: float,
        t0: float,
        q0: Array,
        v0: Array,
        a0: Array,
        f0: Array,
        reaction0: Reaction,
        solve0: Solve,
    ) -> None:
        """Work out what is known before the unknowns, and guess these."""
        self.t, self.h, self.hb, self.hg = t0 + h, h, h * h * self.beta, h * self.gamma
        self.q0, self.v0, self.f0, self.reaction0, self.solve0 = q0, v0, f0, reaction0, solve0
        self.q_hat = combined(1.0, q0, h, v0, h * h * (0.5 - self.beta), a0)
        self.v_hat = plus(v0, h * (1.0 - self.gamma), a0)
        self.unknowns = x = self.guess()
        x.mass = mass_then(self.o, self.t, self.position(x))

    def guess(self) -> Unknowns:
        """Return a first guess of the unknowns: extrapolated ones."""
        n, m = self.o.n_q, self.o.n_lam
        guess = self.past.predicted(self.t)
        a, L0 = part(guess, 0, n), part(guess, n, n + m)
        L1, R1 = part(guess, n + m, n + 2 * m), part(guess, n + 2 * m, 2 * (n + m))
        return Unknowns(a, L0, L1, self.old_reaction(L0), R1, None, None)

    def position(self, x: Unknowns) -> Array:
        """Return q1 (3.4a)."""
        w, half = self.weights, 0.5 * self.h * self.h
        q = combined(1.0, self.q_hat, self.hb, x.a, half * w.q0, x.R0)
        add(q, 0, half * w.q1, x.R1)
        return q

    def velocity(self, x: Unknowns) -> Array:
        """Return v1 (3.4b)."""
        w, h = self.weights, self.h
        v = combined(1.0, self.v_hat, self.hg, x.a, h * w.v0, x.R0)
        add(v, 0, h * w.v1, x.R1)
        return v

    def new_force(self, a1: Array) -> Array:
        """Return f(t1, q1, v1)."""
        return new_force(self.alpha, a1, self.f0)

    def old_reaction(self, L0: Array) -> Array:
        """Return R0 = r(t0, q0, L0)."""
        r = zeros(self.v0.shape[0])
        self.reaction0.add(r, 1.0, self.v0, L0, 0)
        return solution(self.solve0, r)

    def correct(self, solvers: Any) -> Sizes:
        """Do one position step and one projection, see `Problem`."""
        matrices: Matrices = solvers
        o, x = self.o, self.unknowns
        t, h, n, m = self.t, self.h, o.n_q, o.n_lam
        self.counters.nfcns += 1
        q, v = self.position(x), self.velocity(x)
        r = zeros(n + m)
        add_product(r, -1.0, x.mass, self.new_force(x.a), 0)
        add(r, 0, 1.0, called(o.force, t, q, v))  # (3.4c)
        if m:
            add(r, n, -1.0 / self.hb, called(o.holonomic, t, q))  # (3.4e)
        d = solution(matrices.position, r)
        d_lam = part(d, n, n + m)
        L0, L1 = plus(x.L0, 1.0, d_lam), plus(x.L1, 1.0, d_lam)
        R0 = self.old_reaction(L0)
        dR = combined(1.0, R0, -1.0, x.R0)
        a, R1 = self._unmoved(plus(x.a, 1.0, d), dR, dR), plus(x.R1, 1.0, dR)
        self.unknowns = x = Unknowns(a, L0, L1, R0, R1, None, None)
        q1 = self.position(x)
        x.mass, x.reaction = mass_then(o, t, q1), reaction_at(o, t, q1)
        value = stacked(1.0, larger(a, R1), 1.0, L1)
        moved = size(self.relative, matrices.scales, d, value, q, self.hb if m else self.hg, n, m)
        if not m:
            return (moved,)

        e = self.project(matrices)
        value = stacked(1.0, larger(x.a, x.R1), 1.0, x.L1)
        dv = combined(1.0, self.velocity(x), -1.0, v)
        change = stacked(1.0 / h, dv, 1.0, plus(e, 1.0, d_lam))
        return (moved, size(self.relative, matrices.of_rates, change, value, v, h, n, m))

    def project(self, solvers: Any) -> Array:
        """Project the velocity, and return the change of the multiplier in v1."""
        matrices: Matrices = solvers
        o, w, x = self.o, self.weights, self.unknowns
        n, m = o.n_q, o.n_lam
        q, v = self.position(x), self.velocity(x)
        r = zeros(n + m)
        self._add_imbalance_of_reaction(r, v, x)
        add(r, n, -1.0 / self.h, called(o.holonomic_rate, self.t, q, v))  # (3.4e)
        e = solution(matrices.velocity, r)
        e_lam = part(e, n, n + m)
        x.L0, x.L1 = plus(x.L0, w.projection0, e_lam), plus(x.L1, w.projection1, e_lam)
        R0 = self.old_reaction(x.L0)
        dR0 = combined(1.0, R0, -1.0, x.R0)
        dR1 = combined(-w.v0 / w.v1, dR0, 1.0 / w.v1, e)  # v1 moves by h e
        x.a = self._unmoved(x.a, dR0, dR1)
        x.R0, x.R1 = R0, plus(x.R1, 1.0, dR1)
        return e_lam

    def _unmoved(self, a: Array, dR0: Array, dR1: Array) -> Array:
        """Return an a1 such that changes of the reactions do not move q1."""
        per_beta, w = -0.5 / self.beta, self.weights
        return combined(1.0, a, per_beta * w.q0, dR0, per_beta * w.q1, dR1)

    def _add_imbalance_of_reaction(self, r: Array, v: Array, x: Unknowns) -> None:
        """Add what R1 lacks, times the mass, to r: (3.4d) at the place of the variant."""
        o, mass, reaction, weight = self.o, x.mass, x.reaction, self.weights.v1
        if self.variant != "end":
            t, q = self.t, plus(self.q0, self.h, self.v0)  # (3.5)
            if self.variant != "predicted":  # a midpoint, that of q1 or that of (3.5)
                end = self.position(x) if self.variant == "midpoint" else q
                t, q = t - 0.5 * self.h, combined(0.5, self.q0, 0.5, end)
                v = combined(0.5, self.v0, 0.5, v)
            mass, reaction = mass_then(o, t, q), reaction_at(o, t, q)
        assert reaction is not None
        add_product(r, -weight, mass, x.R1, 0)
        reaction.add(r, weight, v, x.L1, 0)

    def setup(self) -> Matrices:
        """Factorize the derivatives of (3.4c) and g, and the projection onto the rate of g."""
        o, w, x, psi = self.o, self.weights, self.unknowns, NO_VECTOR
        t, q, v = self.t, self.position(x), self.velocity(x)
        self.count_matrix()
        M, start = x.mass, self.reaction0
        old = o.reaction_jacobian(start.t, start.q, self.v0, x.L0, psi)
        if o.n_lam:
            old = transported(o, M, self.solve0, old)
        inertia = [(1.0 / (1.0 + self.alpha), M)]
        forces = tangent(o, t, q, v, self.new_force(x.a), 0.0 * x.L1, psi, self.hb, self.hg)
        per_beta = -0.5 / (self.beta * (1.0 + self.alpha))
        J, _ = constraints(o, t, q, v, 0.0)
        new = reactions(o, 1.0, t, q, v, x.L1, psi, J)
        R = [[(w.q0 * per_beta, old), *_times(w.q1 * per_beta, new[0])]]
        position = self.factorize("position", [*inertia, *forces], R, J)
        compared = scales(o, inertia, forces, J, q, self.hb, position, x.L1)
        compared = with_states(o, compared, x.a, v, forces, self.hg)
        if not o.n_lam:
            return Matrices(position, position, compared, compared)  # there is nothing to project
        p0, p1 = -w.v0 * w.projection0, -w.v1 * w.projection1
        R = [[(p0, old), *_times(p1, new[0])]]
        velocity = self.factorize("velocity", [(1.0, M)], R, J)
        return Matrices(position, velocity, compared, of_rates(o, compared))


def _times(c: float, terms: Terms) -> Terms:
    """Return c times a sum of terms."""
    return [(c * weight, matrix) for weight, matrix in terms]
