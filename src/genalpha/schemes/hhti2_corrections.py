"""Corrections of a step of HHTI2 on a residual: position step and projection from one point.

See `hhti2_residual`, and `hhti2_newton`, where one follows the other. Here both know what is wrong
at the same point; what the position step makes of the rate of g, it makes by G.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.kernels import combined, part, plus, product, solution, stacked
from genalpha.numerics.accuracy import Scales, larger, size
from genalpha.numerics.linear import Solve
from genalpha.numerics.newton import Sizes
from genalpha.schemes.hhti2 import HHTI2
from genalpha.schemes.hhti2_looks import Look

Array = np.ndarray


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `f` is f(t, q, v) = M^-1 force and R the reaction M^-1 r(t, q, L1); `kept` is (L0, L1) and,
    where they are known, the true vdot (then by itself, too) and lam, whose reaction vdot - f may
    be wrong by `doubt`; x is (a1, L0, L1, R1), or what these are guessed from.
    """

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    R: Array
    h: float
    kept: Array
    x: Array
    doubt: float
    vdot: Array


@dataclass
class Unknowns:
    """a1, L0, L1, R0, R1."""

    a: Array
    L0: Array
    L1: Array
    R0: Array
    R1: Array


@dataclass
class Matrices:
    """Factorized matrices of position step and projection, and what they are made of.

    `forces` is the part of the forces in the former; `by_lam` tells how R follows L, `mass` solves
    with `inertia`, which is about M.
    """

    position: Solve
    velocity: Solve
    scales: Scales
    of_rates: Scales
    forces: Array
    G: Array
    by_lam: Array
    mass: Solve
    inertia: Array


class Corrections(HHTI2):
    """How the unknowns of a step are corrected."""

    unknowns: Any

    def _q1(self, x: Unknowns) -> Array:
        """Return q1 (3.4a)."""
        w, half = self.weights, 0.5 * self.h * self.h
        q = plus(self.q_hat, self.hb, x.a)
        return combined(1.0, q, half * w.q0, x.R0, half * w.q1, x.R1)

    def _v1(self, x: Unknowns) -> Array:
        """Return v1 (3.4b)."""
        w, h = self.weights, self.h
        return combined(1.0, plus(self.v_hat, self.hg, x.a), h * w.v0, x.R0, h * w.v1, x.R1)

    def _corrections(self, at: Look, d: Array, matrices: Matrices) -> tuple[Unknowns, Array]:
        """Return corrections after a position step d, by the projection, and how v1 moves."""
        w, h, n, m = self.weights, self.h, self.o.n_q, self.o.n_lam
        d_lam = part(d, n, n + m)
        dR = product(matrices.by_lam, d_lam)
        a = self._moved(part(d, 0, n), dR, dR)
        # (3.4d), and (3.4e) after what the position step has made of it
        faster = combined(self.hg, a, h * (w.v0 + w.v1), dR)
        rate = plus(at.rate, 1.0, product(matrices.G, faster))
        e = solution(matrices.velocity, stacked(-w.v1, at.reactions, -1.0 / h, rate))
        e_lam = part(e, n, n + m)
        # e moves v1 by h e, and q1 not
        dL0, dL1 = plus(d_lam, w.projection0, e_lam), plus(d_lam, w.projection1, e_lam)
        dR0 = product(matrices.by_lam, combined(w.projection0, e_lam, 0.0, e_lam))
        dR1 = combined(1.0 / w.v1, part(e, 0, n), -w.v0 / w.v1, dR0)
        a = self._moved(a, dR0, dR1)
        dR0, dR1 = plus(dR0, 1.0, dR), plus(dR1, 1.0, dR)
        return Unknowns(a, dL0, dL1, dR0, dR1), plus(faster, h, e)

    def _of_rates(self, faster: Array, d: Array, matrices: Matrices) -> Array:
        """Return what (3.4c) lacks of states if v1 moves otherwise than the position step takes it.

        The matrix has derivatives by q in it as well, which are small beside those by v where
        rates are stiff.
        """
        k = self.o.n_moving
        other = product(matrices.forces, combined(1.0 / self.hg, faster, -1.0, d))
        other[:k] = 0.0
        return other

    def _accelerated(self, d: Unknowns, q: Array, compared: Scales) -> Unknowns:
        """Return corrections that make up for the age of the matrices, see `Newton`."""
        n, m, units = self.o.n_q, self.o.n_lam, compared.units
        if units is not None:
            of_a, of_lam = units[:n], units[n:]
            units = np.concatenate([of_a, of_a, of_lam, of_lam])
        z = stacked(1.0, stacked(1.0, d.a, 1.0, d.R1), 1.0, d.L0, 1.0, d.L1)
        unit, noise = compared.mass_over_gradient, compared.noise_of(q, self.hb)
        z = self.newton.accelerated(z, 2 * n, unit, self.t, noise, units)
        L0, L1 = part(z, 2 * n, 2 * n + m), part(z, 2 * n + m, 2 * (n + m))
        return Unknowns(part(z, 0, n), L0, L1, d.R0, part(z, n, 2 * n))

    def _change(self, x: Unknowns, q: Array, v: Array, d: Unknowns, matrices: Matrices) -> Sizes:
        """Change the unknowns, and return how much that is for position and velocity."""
        w, n, m, per = self.weights, self.o.n_q, self.o.n_lam, 0.5 / self.beta
        dR0 = product(matrices.by_lam, d.L0)
        a, R1, L1 = plus(x.a, 1.0, d.a), plus(x.R1, 1.0, d.R1), plus(x.L1, 1.0, d.L1)
        self.unknowns = y = Unknowns(a, plus(x.L0, 1.0, d.L0), L1, plus(x.R0, 1.0, dR0), R1)
        value = stacked(1.0, larger(a, R1), 1.0, L1)
        of_q = combined(1.0, d.a, per * w.q0, dR0, per * w.q1, d.R1)
        change = stacked(1.0, of_q, w.q0, d.L0)
        moved = size(self.relative, matrices.scales, change, value, q, self.hb, n, m)
        faster = plus(self._v1(y), -1.0, v)
        of_lam = combined(w.v0, d.L0, w.v1, d.L1)
        change = stacked(1.0 / self.h, faster, 1.0, of_lam)
        return (moved, size(self.relative, matrices.of_rates, change, value, v, self.h, n, m))

    def _moved(self, a: Array, dR0: Array, dR1: Array) -> Array:
        """Return an a1 such that changes of the reactions do not move q1."""
        w, per = self.weights, -0.5 / self.beta
        return combined(1.0, a, per * w.q0, dR0, per * w.q1, dR1)
