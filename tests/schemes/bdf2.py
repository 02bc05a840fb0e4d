"""A scheme of somebody else's, as CONTRIBUTING tells how to write one: BDF2 in index-2 form.

C. W. Gear, B. Leimkuhler, G. K. Gupta: Automatic integration of Euler-Lagrange equations with
constraints. J. Comp. Appl. Math. 12 (1985). With h the step size, w = h / h_old and

    D x1 = ((1 + 2 w) / (1 + w) x1 - (1 + w) x0 + w^2 / (1 + w) x_old) / h,

one step solves

    D q1 = v1                                                         (1)
    M D v1 = f(t1, q1, v1) + reaction(t1, q1, v1, lam1, psi1)         (2)
    0 = g_t + G v1,  0 = k(t1, q1, v1)                                (3)

The step before the first is made up from Taylor's polynomial. Positions drift from g = 0 by O(h^2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import scales, size
from genalpha.numerics.gradients import step_terms
from genalpha.numerics.local_error import ErrorConstants
from genalpha.numerics.newton import Newton
from genalpha.schemes.printed import Printed, acceleration, constraint, position
from genalpha.schemes.scheme import Reported, Scheme, Settings

Array = np.ndarray


@dataclass
class State:
    """What is carried from step to step; `x` is (vdot, lam, psi)."""

    t: float
    q: Array
    v: Array
    a: Array
    h: float
    x: Array
    kept: Array
    q_old: Array
    v_old: Array


def weights(h: float, h_old: float) -> tuple[float, float, float]:
    """Return the weights of x1, x0 and x_old in h D x1."""
    w = h / h_old
    return (1.0 + 2.0 * w) / (1.0 + w), -(1.0 + w), w**2 / (1.0 + w)


class BDF2(Scheme):
    """Its unknowns are x = (D v1, lam1, psi1)."""

    name = "BDF2"
    paper = "Gear, Leimkuhler, Gupta 1985"
    doc = "Two-step backward differentiation, index 2."

    def __init__(self, o: Mechanism, settings: Settings, newton: Newton) -> None:
        super().__init__(o, settings, newton)
        self.shifts = True

    def begin(self, t: float, motion: Motion, h: float) -> State:
        """Start from a past with constant acceleration."""
        q, v, vdot, lam, psi = motion
        x = np.concatenate([vdot, lam, psi])
        return State(t, q, v, vdot, h, x, x, q - h * v + h**2 / 2 * vdot, v - h * vdot)

    def shifted(self, state: State, first: State, h: float) -> State:
        """Start from a past with the jerk that a first step has found."""
        jerk = (first.a - state.a) / h
        q_old = state.q_old - h**3 / 6 * jerk
        return replace(state, q_old=q_old, v_old=state.v_old + h**2 / 2 * jerk)

    def take(self, state: State, h: float) -> State:
        """See `Scheme`."""
        s, (c1, c0, c_old) = state, weights(h, state.h)
        self.t, self.c = s.t + h, h / c1
        self.q_hat = -(c0 * s.q + c_old * s.q_old) / c1
        self.v_hat = -(c0 * s.v + c_old * s.v_old) / c1
        self.unknowns = self.past.predicted(self.t)
        self.newton.solve(self)
        x, (q, v) = self.unknowns, self._motion()
        return State(self.t, q, v, x[: self.o.n_q].copy(), h, x, x, s.q, s.v)

    def _motion(self) -> tuple[Array, Array]:
        v = self.v_hat + self.c * self.unknowns[: self.o.n_q]
        return self.q_hat + self.c * v, v

    def _parts(self) -> list[Array]:
        n, m = self.o.n_q, self.o.n_lam
        return np.split(self.unknowns, [n, n + m])

    def correct(self, solvers: Any) -> tuple[float, ...]:
        """See `Problem`."""
        o, (q, v), solve = self.o, self._motion(), solvers[0]
        self.counters.nfcns += 1
        rates = np.concatenate([o.holonomic_rate(self.t, q, v), o.nonholonomic(self.t, q, v)])
        r = np.concatenate([-o.imbalance(self.t, q, v, *self._parts()), -rates / self.c])
        d = solve(r)
        self.unknowns = self.unknowns + d
        n, m = o.n_q, o.n_lam
        return (size(self.relative, solvers[1], d, self.unknowns, v, self.c, n, m),)

    def setup(self) -> Any:
        """Factorize the derivatives of (2) and (3)."""
        o, t, c, (q, v) = self.o, self.t, self.c, self._motion()
        vdot, lam, psi = self._parts()
        self.count_matrix()
        terms = step_terms(o, t, q, v, vdot, lam, psi, 1.0, c * c, c)
        A = [*terms.inertia, *terms.forces]
        solve = self.factorize("step", A, terms.reactions, terms.along)
        multipliers = np.concatenate([lam, psi])
        compared = scales(o, terms.inertia, terms.forces, terms.gradients, q, c, solve, multipliers)
        return solve, compared

    @staticmethod
    def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> Reported:
        """The scheme computes true accelerations and multipliers itself."""
        n, m = o.n_q, o.n_lam
        return kept[:n], kept[n : n + m], kept[n + m :]

    @staticmethod
    def errors(settings: Settings) -> ErrorConstants:
        """Of equal steps: h D x1 - h x'(t1) = -2/3 * h^3/3 x'''."""
        return ErrorConstants(2.0 / 9.0, 2.0 / 9.0)

    @staticmethod
    def printed(o: Mechanism, settings: Settings, old: State, new: State) -> Printed:
        """See `Scheme`."""
        h, t1, q1, v1 = new.h, old.t + new.h, new.q, new.v
        c1, c0, c_old = weights(h, old.h)
        lam, psi = new.x[o.n_q : o.n_q + o.n_lam], new.x[o.n_q + o.n_lam :]
        Dv = (c1 * v1 + c0 * old.v + c_old * old.v_old) / h
        f, r = o.force(t1, q1, v1), o.reaction(t1, q1, v1, lam, psi)
        return {
            "(1)": position(c1 * q1, c0 * old.q, c_old * old.q_old, -h * v1),
            "(2)": acceleration(o.mass(t1, q1) @ Dv, -f, -r),
            "(3) g": constraint(o.holonomic_rate(t1, q1, v1)),
            "(3) k": constraint(o.nonholonomic(t1, q1, v1)),
        }
