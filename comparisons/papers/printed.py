"""The scheme (13) of Jay and Negrut 2008 as printed, for experiments with its equations.

Solved by Newton's method to rounding errors; nothing of the schemes of the package is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from comparisons.orders import slope
from comparisons.papers.study import Errors
from genalpha.model import Mechanism
from genalpha.model.differences import forward_jacobian
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.initial_values import accelerations

Array = np.ndarray


class Row(NamedTuple):
    """One line of an experiment's table: its labels, and order and error of every variable."""

    labels: tuple[str, ...]
    orders: Errors
    errors: Errors


class Point(NamedTuple):
    """A state of (13)."""

    t: float
    q: Array
    v: Array
    a: Array
    Ma: Array
    lam: Array
    psi: Array


class Step13(NamedTuple):
    """One step of (13) as printed, from a state and with a size."""

    o: Mechanism
    c: Coefficients
    s: Point
    h: float
    two_psi: bool = True

    @property
    def M1(self) -> Array:
        """M_{1+alpha}, the explicit choice."""
        shift = (1.0 + self.c.alpha) * self.h
        return self.o.mass(self.s.t + shift, self.s.q + shift * self.s.v)

    def guess(self) -> Array:
        """Return all unknowns as they were."""
        s = self.s
        last = s.psi if self.two_psi else np.zeros(0)
        return np.concatenate([s.a, s.a, s.lam, s.lam, s.psi, last])

    def parts(self, x: Array, a0: Array) -> tuple[Array, ...]:
        """Return a1_t, a1, lam1_t, lam1, psi1, psi1_t, q1, v1_t, v1."""
        o, c, s, h = self.o, self.c, self.s, self.h
        n, m, l = o.n_q, o.n_lam, o.n_psi  # noqa: E741
        a_t, a, lam_t, lam, psi, psi_t = np.split(x, np.cumsum([n, n, m, m, l]))
        q = s.q + h * s.v + h**2 * ((0.5 - c.beta) * a0 + c.beta * a_t)  # (13a)
        v_t = s.v + h * ((1.0 - c.gamma) * a0 + c.gamma * a_t)  # (13b)
        v = s.v + h * ((1.0 - c.gamma) * a0 + c.gamma * a)  # (13c)
        return a_t, a, lam_t, lam, psi, psi_t if self.two_psi else psi, q, v_t, v

    def residual(self, x: Array, a0: Array, Ma0: Array) -> Array:
        """Return the residuals of (13d) to (13i)."""
        o, c, s, h, t1 = self.o, self.c, self.s, self.h, self.s.t + self.h
        a_t, a, lam_t, lam, psi, psi_t, q, v_t, v = self.parts(x, a0)
        old = c.alpha_m * Ma0 - c.alpha_f * whole_force(o, s.t, s.q, s.v, s.lam, s.psi)
        f_t = whole_force(o, t1, q, v, lam_t, psi_t)
        f = whole_force(o, t1, q, v, lam, psi)
        rows = [
            (1.0 - c.alpha_m) * (self.M1 @ a_t) + old - (1.0 - c.alpha_f) * f_t,  # (13d)
            (1.0 - c.alpha_m) * (self.M1 @ a) + old - (1.0 - c.alpha_f) * f,  # (13e)
            o.holonomic(t1, q) / h**2,  # (13f)
            o.holonomic_rate(t1, q, v) / h,  # (13g)
            o.nonholonomic(t1, q, v) / h,  # (13i)
        ]
        if self.two_psi:
            rows.append(o.nonholonomic(t1, q, v_t) / h)  # (13h)
        return np.concatenate(rows)

    def end(self, x: Array, a0: Array) -> Point:
        """Return the state that the unknowns mean."""
        _, a, _, lam, psi, _, q, _, v = self.parts(x, a0)
        return Point(self.s.t + self.h, q, v, a, self.M1 @ a, lam, psi)

    def taken(self, a0: Array, Ma0: Array) -> Point:
        """Solve the step."""
        return self.end(solved(lambda x: self.residual(x, a0, Ma0), self.guess()), a0)

    def shifted(self) -> tuple[Array, Array]:
        """Return a0 and M a0 extrapolated from vdot0 and the consistent vdot1 of a plain step."""
        o, alpha, first = self.o, self.c.alpha, self.taken(self.s.a, self.s.Ma)
        vdot1, _, _ = accelerations(o, first.t, first.q, first.v, first.lam, first.psi)
        old, new = o.mass(self.s.t, self.s.q) @ self.s.a, o.mass(first.t, first.q) @ vdot1
        return (1.0 - alpha) * self.s.a + alpha * vdot1, (1.0 - alpha) * old + alpha * new

    def started(self) -> tuple[Array, Array]:
        """Return a0 and M a0 of the implicit start (8), found together with the step itself."""
        o, s, n, alpha = self.o, self.s, self.o.n_q, self.c.alpha
        M0 = o.mass(s.t + alpha * self.h, s.q + alpha * self.h * s.v)
        f0 = whole_force(o, s.t, s.q, s.v, s.lam, s.psi)

        def residual(y: Array) -> Array:
            a0, x = y[:n], y[n:]
            new = self.end(x, a0)
            f1 = whole_force(o, new.t, new.q, new.v, new.lam, new.psi)
            start = M0 @ a0 - (1.0 - alpha) * f0 - alpha * f1  # (8)
            return np.concatenate([start, self.residual(x, a0, M0 @ a0)])

        a0 = solved(residual, np.concatenate([s.a, self.guess()]))[:n]
        return a0, M0 @ a0


def whole_force(o: Mechanism, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Array:
    """Return forces and reactions."""
    return o.force(t, q, v) + o.reaction(t, q, v, lam, psi)


def solved(residual: Callable[[Array], Array], x: Array) -> Array:
    """Newton's iteration: the last correction leaves nothing but rounding errors."""
    for _ in range(15):
        r = residual(x)
        dx = np.linalg.solve(forward_jacobian(residual, x, r), -r)
        x = x + dx
        if np.abs(dx).max() < 1e-9 * (1.0 + np.abs(x).max()):
            return x
    raise ArithmeticError(f"no convergence: the last correction is {np.abs(dx).max():.1e}")


def first_point(o: Mechanism, h: float, alpha: float) -> Point:
    """Return the consistent start, with a = vdot and M at the instant of a."""
    vdot, lam, psi = accelerations(o, o.t0, o.q0, o.v0, *o.multiplier_guess())
    M = o.mass(o.t0 + alpha * h, o.q0 + alpha * h * o.v0)
    return Point(o.t0, o.q0, o.v0, vdot, M @ vdot, lam, psi)


def row_of(labels: tuple[str, ...], h: Array, found: list[Errors]) -> Row:
    """Return a line of a table, from the errors of runs with the step sizes h."""
    orders = {x: slope(h, [errors[x] for errors in found], 2) for x in found[0]}
    return Row(labels, orders, found[-1])
