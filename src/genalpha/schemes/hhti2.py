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
b = 0 and h R with R = r(t0 + h/2, (q0 + q1)/2, L) instead of h/2 (R0 + R1); "predicted midpoint" is
both, R = r(t0 + h/2, q0 + h/2 v0, L).

L0 and L1 are local to the step and only first order; the multipliers that are reported come from
the constraints at acceleration level (3.2).

How it is solved is in `hhti2_newton`, what adaptive steps follow in `hhti2_following`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.errors import UnsupportedProblemError
from genalpha.kernels import plus, stacked
from genalpha.model import Mechanism, Motion
from genalpha.model.equations import Reaction, reaction_at
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Matrix, Solve, factorize
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.schemes.hht import NO_VECTOR, adjusted_as_printed, initial_solver
from genalpha.schemes.hhti2_following import Following
from genalpha.schemes.hhti2_newton import nothing_to_solve, weights
from genalpha.schemes.hhti2_nonholonomic import Nonholonomic
from genalpha.schemes.native import native_states, native_steps
from genalpha.schemes.printed import (
    Printed,
    acceleration,
    constraint,
    position,
    solved,
    velocity,
)
from genalpha.schemes.scheme import Reported, Scheme, Settings

Array = np.ndarray

#: (1 - b) R0 + b R1 is rounded by b eps R, and solving for both divides by 1 - 2 b: beyond this, or
#: so near to 1/2, that is of the size of the 1e-9 to which equations are solved with given steps.
LARGEST_B = 1e6


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `f` is f(t, q, v) = M^-1 force; `kept` is (L0, L1); x is (a1, L0, L1, R1); `reaction` and
    `mass` are those at q, where `solve`, once somebody needs it, solves with the mass. `vdot` and
    `lam` are the true ones (3.2), if steps follow them; x is then what `hhti2_following` guesses
    from.
    """

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    h: float
    kept: Array
    x: Array
    reaction: Reaction
    mass: Matrix
    solve: Solve | None
    vdot: Array
    lam: Array


class HHTI2(Following):
    """One step of (3.4)."""

    name = "HHTI2"
    paper = "Jay, Negrut 2007"
    doc = (
        "Extended HHT scheme, index 2. Position and velocity constraints, either holonomic or "
        "nonholonomic ones, hold as accurately as Newton's iteration solves (`newton_accuracy`)."
    )

    @classmethod
    def fitting(cls, o: Mechanism) -> type[Scheme]:
        """Section 3 or section 6 of the paper, which do not go together."""
        if o.n_lam and o.n_psi:
            raise UnsupportedProblemError(
                f"{o.name}: HHTI2 takes holonomic or nonholonomic constraints, not both at once; "
                "GenAlphaSOI2 takes both"
            )
        if o.n_psi:
            return Nonholonomic
        if o.whole is None:
            return cls
        from genalpha.schemes.hhti2_residual import HHTI2OfResidual  # which builds on this class

        return HHTI2OfResidual

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start with a0 = f(t0, q0, v0)."""
        o = self.o
        q, v, vdot, lam, _ = motion
        solve = initial_solver(o, t, q)
        f, L = solve(o.force(t, q, v)), np.concatenate([lam, lam])
        x = np.concatenate([f, L, solve(o.reaction(t, q, v, lam, NO_VECTOR))])
        if self.follows:
            x = np.concatenate([f, vdot, lam, 0.0 * L])
        reaction, mass = reaction_at(o, t, q), o.mass(t, q)
        return State(t, q, v, f, f, h, L, x, reaction, mass, solve, vdot, lam)

    def take(self, state: State, h: float) -> State:
        """See `Scheme`."""
        o, s, newton = self.o, state, self.newton
        if s.solve is None:
            s.solve = factorize(s.mass) if o.n_lam else nothing_to_solve
        a0 = self.adjusted(s.a, s.f, h / s.h)
        self.lam0 = s.lam
        self.prepare(h, s.t, s.q, s.v, a0, s.f, s.reaction, s.solve)
        newton.solve(self)
        if o.n_lam:  # the last correction of q1 has left a trace in the rate of g: take it away
            self.project(newton.last_solvers)
        x = self.unknowns
        L, f1 = stacked(1.0, x.L0, 1.0, x.L1), self.new_force(x.a)
        found = stacked(1.0, x.a, 1.0, L, 1.0, x.R1)
        q, v = self.position(x), self.velocity(x)
        solve = None if o.constant_mass is None else s.solve
        assert x.reaction is not None  # a correction has found it
        vdot = lam = NO_VECTOR
        if self.follows:
            vdot, lam = self.true_motion(q, v, f1)
            apart = stacked(1.0 / h, plus(x.L0, -1.0, s.lam), 1.0 / h, plus(x.L1, -1.0, lam))
            found = stacked(1.0, stacked(1.0, f1, 1.0, vdot, 1.0, lam), 1.0, apart)
        return State(self.t, q, v, x.a, f1, h, L, found, x.reaction, x.mass, solve, vdot, lam)

    def native(self) -> Any:
        """See `Scheme`; in machine code, reactions belong to the end of the step."""
        o = self.o
        if self.variant != "end":
            return None
        return native_steps("hhti2", "HHTI2", self, 2 * (o.n_q + o.n_lam), "holonomic_rate")

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """Acceleration and multipliers from (3.2), of second order because q and v are."""
        L = kept.reshape(2, o.n_lam).mean(axis=0)
        return accelerations(o, t, q, v, L, NO_VECTOR)

    @staticmethod
    def report_rows(o: Mechanism, rows: Array) -> Reported | None:
        """See `Scheme`; in machine code, or not at once."""
        n, m = o.n_q, o.n_lam
        t, q, v = (x.copy() for x in (rows[:, 0], rows[:, 1 : 1 + n], rows[:, 1 + n : 1 + 2 * n]))
        found = native_states(o, t, q, v)
        return None if found is None else (found[:, :n], found[:, n : n + m], found[:, n + m :])

    @staticmethod
    def errors(settings: Settings) -> ErrorConstants:
        """The larger ones of the forces' part (HHT) and of the reactions' part of (3.4)."""
        forces = generalized_alpha(settings.coefficients)
        w = weights(settings.b, settings.variant)
        reactions = abs(1.0 / 6.0 - 0.5 * w.q1)
        return ErrorConstants(max(forces.position, reactions), max(forces.velocity, 1.0 / 12.0))

    @classmethod
    def faults(cls, o: Mechanism, settings: Settings) -> list[str]:
        """Conditions of section 3."""
        found = super().faults(o, settings)
        if settings.variant.endswith("midpoint") and settings.b != 0.0:
            found.append(f"b = {settings.b:g}; expected 0 with the variant {settings.variant!r}")
        if not abs(settings.b) <= LARGEST_B or abs(settings.b - 0.5) * LARGEST_B < 1.0:
            found.append(
                f"b = {settings.b:.9g}; expected at most {LARGEST_B:g} in size and not within "
                f"{1.0 / LARGEST_B:g} of 1/2, or rounding makes the matrix singular: leave it out"
            )
        return found

    @staticmethod
    def printed(o: Mechanism, settings: Settings, old: State, new: State) -> Printed:
        """See `Scheme`; U follows h^2/2 in (3.4a), W follows h in (3.4b)."""
        c, h, t0, q0, v0 = settings.coefficients, new.h, old.t, old.q, old.v
        alpha, beta, gamma, b = c.alpha, c.beta, c.gamma, settings.b
        t1, q1, v1, a1 = t0 + h, new.q, new.v, new.a
        L0, L1 = new.kept[: 2 * o.n_lam].reshape(2, o.n_lam)

        def r(t: float, q: Array, v: Array, L: Array) -> Array:
            return solved(o, t, q, o.reaction(t, q, v, L, NO_VECTOR))

        f0, f1 = solved(o, t0, q0, o.force(t0, q0, v0)), solved(o, t1, q1, o.force(t1, q1, v1))
        a0, R0 = adjusted_as_printed(settings, old, f0, h), r(t0, q0, v0, L0)
        if settings.variant.endswith("midpoint"):
            middle = (q0 + q1) / 2 if settings.variant == "midpoint" else q0 + h / 2 * v0
            U, W = R0, r(t0 + h / 2, middle, (v0 + v1) / 2, L1)
        else:  # (3.4d), or (3.5)
            R1 = r(t1, q1 if settings.variant == "end" else q0 + h * v0, v1, L1)
            U, W = (1 - b) * R0 + b * R1, 0.5 * (R0 + R1)
        moved = q0 + h * v0 + h**2 / 2 * ((1 - 2 * beta) * a0 + 2 * beta * a1) + h**2 / 2 * U
        return {
            "(3.4a)": position(q1, -moved),
            "(3.4b)": velocity(v1, -(v0 + h * ((1 - gamma) * a0 + gamma * a1) + h * W)),
            "(3.4c)": acceleration(a1, -(1 + alpha) * f1, alpha * f0),
            "(3.4e) g": constraint(o.holonomic(t1, q1)),
            "(3.4e) rate": constraint(o.holonomic_rate(t1, q1, v1)),
        }
