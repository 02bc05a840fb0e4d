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

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from genalpha.errors import SingularSystemError, UnsupportedProblemError
from genalpha.kernels import combined, plus, stacked
from genalpha.model import Mechanism, Motion
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.local_error import ErrorConstants, generalized_alpha
from genalpha.numerics.mass import mass_solver
from genalpha.numerics.newton import Newton
from genalpha.numerics.prediction import NOTHING, Past, extended, predicted
from genalpha.schemes.hhti2_newton import (
    Site,
    Trial,
    correct,
    first_guess,
    matrices_at,
    new_force,
    nothing_to_solve,
    position_and_velocity,
    project,
    site_at,
    weights,
)
from genalpha.schemes.settings import Settings

Array = np.ndarray
NO_VECTOR = np.zeros(0)
VARIANTS = ("end", "predicted", "midpoint")


@dataclass
class State:
    """What is carried from step to step; `h` is the step size that made `a`.

    `f` is f(t, q, v) = M^-1 force; `L` is L0 and L1; `past` (a1, L0, L1, R1 of the last steps)
    only helps Newton's iteration to start well.
    """

    t: float
    q: Array
    v: Array
    a: Array
    f: Array
    h: float
    L: Array
    past: Past


def begin(o: Mechanism, settings: Settings, t: float, motion: Motion, h: float) -> State:
    """Start with a0 = f(t0, q0, v0)."""
    q, v, _, lam, _ = motion
    f, L = initial_force(o, t, q, v), np.concatenate([lam, lam])
    R = mass_solver(o, t, q)(o.reaction(t, q, v, lam, NO_VECTOR))
    return State(t, q, v, f, f, h, L, ((t, np.concatenate([f, L, R])),))


def initial_force(o: Mechanism, t: float, q: Array, v: Array) -> Array:
    """Return f(t, q, v) = M^-1 force, or say that the method needs M^-1."""
    try:
        return mass_solver(o, t, q)(o.force(t, q, v))
    except SingularSystemError as error:
        raise UnsupportedProblemError(
            f"{o.name}: HHTI2 needs an invertible mass matrix ({error}); GenAlphaI3 and "
            "GenAlphaSOI2 allow coordinates without mass that the constraints determine"
        ) from error


def shifted(o: Mechanism, settings: Settings, state: State, first: State, h: float) -> State:
    """Start with a0 = f(t0 + alpha h) + O(h^2): f(t0) and f(t1) extrapolated linearly."""
    alpha = settings.coefficients.alpha
    return replace(state, a=(1.0 - alpha) * state.f + alpha * first.f, h=h)


def adjusted(settings: Settings, a: Array, f: Array, ratio: float) -> Array:
    """Move a0 from t0 + alpha h_old to t0 + alpha h, where `ratio` is h / h_old."""
    if ratio == 1.0 or not settings.adjust_steps:
        return a
    return f + ratio * (a - f)  # (2.3)


def step(o: Mechanism, settings: Settings, newton: Newton, state: State, h: float) -> State:
    """One step of (3.4)."""
    c = settings.coefficients
    t1, f0 = state.t + h, state.f
    a0 = adjusted(settings, state.a, f0, h / state.h)
    trial = Trial(
        t1,
        h,
        combined(1.0, state.q, h, state.v, h * h * (0.5 - c.beta), a0),
        plus(state.v, h * (1.0 - c.gamma), a0),
        f0,
        h * h * c.beta,
        h * c.gamma,
        weights(settings),
        state.v,
        o.reaction_at(state.t, state.q),
        mass_solver(o, state.t, state.q) if o.n_lam else nothing_to_solve,
        _new_place(o, settings, state, h),
    )

    x = newton.solve(
        first_guess(o, trial, predicted(state.past, t1)),
        partial(correct, o, settings, newton, trial),
        partial(matrices_at, o, settings, newton, trial),
    )
    if o.n_lam:  # the last correction of q1 has left a trace in the rate of g: take it away
        x, _ = project(o, settings, trial, x, newton.last_solvers)
    L, f1 = stacked(1.0, x.L0, 1.0, x.L1), new_force(settings, x.a, trial.f0)
    past = extended(state.past, t1, stacked(1.0, x.a, 1.0, L, 1.0, x.R1))
    q, v = position_and_velocity(trial, x.a, x.R0, x.R1)
    return State(t1, q, v, x.a, f1, h, L, past)


def _new_place(
    o: Mechanism, settings: Settings, state: State, h: float
) -> Callable[[Array, Array, Site], tuple[Site, Array]]:
    """Return what tells the site and the velocity of R1, or those of the middle."""
    t0, q0, v0 = state.t, state.q, state.v
    if settings.variant == "predicted":
        site_tilde = site_at(o, t0 + h, plus(q0, h, v0))  # (3.5)
        return lambda q, v, site: (site_tilde, v)
    if settings.variant == "midpoint":
        return lambda q, v, site: (site_at(o, t0 + 0.5 * h, 0.5 * (q0 + q)), 0.5 * (v0 + v))
    return lambda q, v, site: (site, v)


def report(o: Mechanism, state: State) -> tuple[Array, Array, Array]:
    """Acceleration and multipliers from (3.2), of second order because q and v are."""
    L = state.L.reshape(2, o.n_lam).mean(axis=0)
    return accelerations(o, state.t, state.q, state.v, L, np.zeros(0))


def slim(state: State) -> State:
    """Return a state that `report` takes, and that takes little memory."""
    s = state
    return State(s.t, s.q, s.v, s.a, NO_VECTOR, s.h, s.L, NOTHING)


def errors(settings: Settings) -> ErrorConstants:
    """The larger ones of the forces' part (HHT) and of the reactions' part of (3.4a), (3.4b)."""
    forces = generalized_alpha(settings.coefficients)
    w = weights(settings)
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
