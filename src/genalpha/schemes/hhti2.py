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
b = 0 and h R with R = r(t0 + h/2, (q0 + q1)/2, L) instead of h/2 (R0 + R1).

L0 and L1 are local to the step and only first order; the multipliers that are reported come from
the constraints at acceleration level (3.2).

How it is solved is in `hhti2_newton`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from genalpha.errors import SingularSystemError, UnsupportedProblemError
from genalpha.kernels import stacked
from genalpha.model import Mechanism, Motion
from genalpha.model.equations import Reaction
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.linear import Matrix, Solve, factorize
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton
from genalpha.schemes.hhti2_newton import NO_VECTOR, Holonomic, nothing_to_solve, weights
from genalpha.schemes.settings import Settings

Array = np.ndarray
VARIANTS = ("end", "predicted", "midpoint")


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `f` is f(t, q, v) = M^-1 force; `kept` is (L0, L1); x is (a1, L0, L1, R1); `reaction` and
    `mass` are those at q, where `solve`, once somebody needs it, solves with the mass.
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


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = f(t0, q0, v0)."""
    q, v, _, lam, _ = motion
    solve = initial_solver(o, t, q)
    f, L = solve(o.force(t, q, v)), np.concatenate([lam, lam])
    x = np.concatenate([f, L, solve(o.reaction(t, q, v, lam, NO_VECTOR))])
    return State(t, q, v, f, f, h, L, x, o.reaction_at(t, q), o.mass(t, q), solve)


def initial_solver(o: Mechanism, t: float, q: Array) -> Solve:
    """Return what solves with the mass, or say that the method needs M^-1."""
    try:
        return mass_solver(o, t, q)
    except SingularSystemError as error:
        raise UnsupportedProblemError(
            f"{o.name}: HHTI2 needs an invertible mass matrix ({error}); GenAlphaI3 and "
            "GenAlphaSOI2 allow coordinates without mass that the constraints determine"
        ) from error


def shifted(
    o: Mechanism, settings: Settings, newton: Newton, state: State, first: State, h: float
) -> State:
    """Start with a0 = f(t0 + alpha h) + O(h^2): f(t0) and f(t1) extrapolated linearly."""
    alpha = settings.coefficients.alpha
    return replace(state, a=(1.0 - alpha) * state.f + alpha * first.f, h=h)


def adjusted(settings: Settings, a: Array, f: Array, ratio: float) -> Array:
    """Move a0 from t0 + alpha h_old to t0 + alpha h, where `ratio` is h / h_old."""
    if ratio == 1.0 or not settings.adjust_steps:
        return a
    return f + ratio * (a - f)  # (2.3)


class HHTI2(Holonomic):
    """One step of (3.4)."""

    def take(self, state: State, h: float) -> State:
        """See `Step`."""
        o, s, newton = self.o, state, self.newton
        if s.solve is None:
            s.solve = factorize(s.mass) if o.n_lam else nothing_to_solve
        a0 = adjusted(self.settings, s.a, s.f, h / s.h)
        self.begin(h, s.t, s.q, s.v, a0, s.f, s.reaction, s.solve)
        newton.solve(self)
        if o.n_lam:  # the last correction of q1 has left a trace in the rate of g: take it away
            self.project(newton.last_solvers)
        x = self.unknowns
        L, f1 = stacked(1.0, x.L0, 1.0, x.L1), self.new_force(x.a)
        found = stacked(1.0, x.a, 1.0, L, 1.0, x.R1)
        q, v = self.position(x), self.velocity(x)
        solve = None if o.constant_mass is None else s.solve
        assert x.reaction is not None  # a correction has found it
        return State(self.t, q, v, x.a, f1, h, L, found, x.reaction, x.mass, solve)


def report(o: Mechanism, t: float, q: Array, v: Array, kept: Array) -> tuple[Array, Array, Array]:
    """Acceleration and multipliers from (3.2), of second order because q and v are."""
    L = kept.reshape(2, o.n_lam).mean(axis=0)
    return accelerations(o, t, q, v, L, NO_VECTOR)


def errors(settings: Settings) -> ErrorConstants:
    """The larger ones of the forces' part (HHT) and of the reactions' part of (3.4a), (3.4b)."""
    forces = generalized_alpha(settings.coefficients)
    w = weights(settings.b, settings.variant)
    position = abs(1.0 / 6.0 - 0.5 * w.q1)
    return ErrorConstants(max(forces.position, position), max(forces.velocity, 1.0 / 12.0))


def faults(o: Mechanism, settings: Settings) -> list[str]:
    """Conditions of section 3."""
    c = settings.coefficients
    found = []
    if not -1.0 / 3.0 - 1e-12 <= c.alpha <= 0.0 or c != Coefficients.hht(c.alpha):
        found.append(f"{c} are not those of HHT; give alpha, or take GenAlphaSOI2")
    if settings.b == 0.5:
        found.append("b = 1/2 is excluded in (3.4)")
    if not np.isfinite(settings.b):
        found.append(f"b = {settings.b!r} is not a finite number")
    if settings.variant not in VARIANTS:
        found.append(f"variant = {settings.variant!r} is none of {VARIANTS}")
    if settings.variant == "midpoint" and settings.b != 0.0:
        found.append(f"b = {settings.b:g}: the variant 'midpoint' has b = 0")
    return found
