"""What both forms of HHTI2 share: HHT's coefficients, and an `a` that holds forces only.

See `hhti2` for the paper and the notation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from genalpha.errors import CallbackError, SingularSystemError, UnsupportedProblemError
from genalpha.kernels import combined, plus
from genalpha.model import Mechanism, Motion
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.linear import Matrix, NotFiniteError, Solve
from genalpha.numerics.mass import mass_solver
from genalpha.options import Choice, Choices, Number, Option
from genalpha.schemes.printed import solved
from genalpha.schemes.scheme import (
    ADJUST_STEPS,
    COEFFICIENTS,
    START,
    GeneralizedAlpha,
    Settings,
)

Array = np.ndarray
NO_VECTOR = np.zeros(0)

DAMPING = Option(
    "alpha",
    -0.1,
    Number(-1.0 / 3.0 - 1e-12, 0.0),
    "Numerical damping: -1/3 damps most, 0 nothing. Default -0.1. Stands for "
    "`Coefficients.hht(alpha)`.",
    excludes=("coefficients",),
)
ONLY_HHT = Option(
    "coefficients",
    None,
    COEFFICIENTS.kind,
    "`Coefficients.hht(alpha)` instead of `alpha`; default None.",
    excludes=("alpha",),
)
B = Option(
    "b",
    0.0,
    Number(without=0.5),
    "Weight of the reaction at the end of the step in the position (3.4a). Default 0, as in the "
    "paper; 1/6 - alpha^2/2 makes errors of forces and reactions cancel, and positions more "
    "accurate on most mechanisms. For holonomic constraints.",
)
VARIANT = Option(
    "variant",
    "end",
    Choice(("end", "predicted", "midpoint", "predicted midpoint")),
    "Where the reactions of a step are taken: at its 'end' (default), at the 'predicted' position "
    "q0 + h v0, at the 'midpoint', or at the 'predicted midpoint' q0 + h/2 v0. Predicted ones are "
    "less implicit. For holonomic constraints.",
)


class HHT(GeneralizedAlpha):
    """The HHT part of the scheme."""

    options = (DAMPING, ONLY_HHT, B, VARIANT, START, ADJUST_STEPS)
    a_is_acceleration = False  # reactions are not in it

    @staticmethod
    def coefficients(chosen: Choices) -> Coefficients:
        """Return the coefficients, given in one of two ways."""
        if chosen.coefficients is not None:
            return chosen.coefficients
        return Coefficients.hht(chosen.alpha)

    @classmethod
    def symmetric(cls, o: Mechanism) -> dict[str, Any]:
        """The trapezoidal rule; with nonholonomic constraints, R belongs to a predicted middle."""
        return {} if o.n_psi else {"alpha": 0.0, "b": 0.0, "variant": "end"}

    def shifted(self, state: Any, first: Any, h: float) -> Any:
        """Start with a0 = f(t0 + alpha h) + O(h^2): f(t0) and f(t1) extrapolated linearly."""
        alpha = self.alpha
        return replace(state, a=(1.0 - alpha) * state.f + alpha * first.f, h=h)

    def adjusted(self, a: Array, f: Array, ratio: float) -> Array:
        """Move a0 from t0 + alpha h_old to t0 + alpha h, where `ratio` is h / h_old."""
        if ratio == 1.0 or not self.adjusts:
            return a
        return plus(f, ratio, plus(a, -1.0, f))  # (2.3)

    @staticmethod
    def meant(o: Mechanism, t: float, motion: Motion) -> Array:
        """Return f = M^-1 force."""
        return solved(o, t, motion.q, o.force(t, motion.q, motion.v))

    @classmethod
    def faults(cls, o: Mechanism, settings: Settings) -> list[str]:
        """Conditions of section 3."""
        c = settings.coefficients
        if -1.0 / 3.0 - 1e-12 <= c.alpha <= 0.0 and c == Coefficients.hht(c.alpha):
            return []
        return [f"{c} are not those of HHT; give alpha, or take GenAlphaSOI2"]


def initial_solver(o: Mechanism, t: float, q: Array) -> Solve:
    """Return what solves with the mass, or say that the method needs M^-1."""
    try:
        return mass_solver(o, t, q)
    except NotFiniteError as error:
        what = "mass" if o.whole is None else "the residual"
        raise CallbackError(
            f"{o.name}: HHTI2 cannot start: {what} returned NaN or infinity at t = {t:.9g}, "
            f"q = {q}; expected finite numbers wherever the motion may come"
        ) from error
    except SingularSystemError as error:
        raise UnsupportedProblemError(
            f"{o.name}: HHTI2 needs an invertible mass matrix ({error}); GenAlphaI3 and "
            "GenAlphaSOI2 allow coordinates without mass that the constraints determine: take one "
            "of them"
        ) from error


def new_force(alpha: float, a1: Array, f0: Array) -> Array:
    """Return f(t1, q1, v1) from (3.4c)."""
    return combined(1.0 / (1.0 + alpha), a1, alpha / (1.0 + alpha), f0)


def adjusted_as_printed(settings: Settings, old: Any, f0: Array, h: float) -> Array:
    """Return a0 as (2.3) has it, for a step of size h from `old`."""
    return f0 + h / old.h * (old.a - f0) if settings.adjust_steps else old.a


def transported(o: Mechanism, M: Matrix, solve_old: Solve, columns: Matrix) -> Matrix:
    """Return M1 M0^-1 columns: reactions of another instant, as they enter M1 a1.

    Where that would fill a sparse matrix, the columns are taken as they are, which is right for a
    constant mass matrix and costs Newton's iteration some contraction otherwise.
    """
    if o.constant_mass is not None or o.is_sparse:
        return columns
    return M @ solve_old(columns)
