"""What the user may choose about an integration, and whether the choices make sense."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.errors import InvalidOptionError
from genalpha.model import Mechanism
from genalpha.numerics.accuracy import DEFAULT, for_tolerance
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.newton import MAX_ITERATIONS, MODES
from genalpha.numerics.systems import LINEAR_SOLVERS, klu
from genalpha.schemes import SCHEMES, Settings, choose

STARTS = ("shifted", "plain")


class UndampedWarning(UserWarning):
    """The scheme has no numerical damping where it needs some."""


@dataclass(frozen=True)
class Options:
    """Options of an integration; all faults are reported in one error.

    Attributes
    ----------
    scheme : {"GenAlphaI3", "GenAlphaSOI2", "HHTI2"}
        Default "GenAlphaSOI2": keeps position and velocity constraints, takes all kinds of them.
    coefficients : Coefficients, optional
        Default Chung and Hulbert with rho_inf = 0.8, or HHT with alpha = -0.1 for HHTI2.
    rho_inf : float, optional
        Short for ``coefficients=Coefficients.chung_hulbert(rho_inf)``.
    alpha : float, optional
        Short for ``coefficients=Coefficients.hht(alpha)``.
    b, variant
        Of HHTI2: b (default 0, not 1/2) and "end" (default), "predicted" or "midpoint".
    start : {"shifted", "plain"}
        How `a` starts: as a second-order value at t0 + alpha h (default), or as vdot0, as in the
        papers' runs, which costs order in the multipliers' first steps.
    adjust_steps : bool
        Whether `a` is adjusted when the step size changes. Default True; False shows what the
        formulas are for.
    jacobian : {"auto", "every step", "every iteration"}
        When Newton's matrix is renewed. Default "auto": when the iterations that its age has cost
        add up to what a new one costs.
    newton_accuracy : float, optional
        Newton's iteration stops at this error, relative to the accelerations. By default 1e-9 for
        given steps, which leaves almost nothing but rounding in the constraints; for adaptive
        steps 1e-3 rtol^(2/3). Give 1e-13 to have everything solved to rounding.
    max_iterations : int
        Of Newton's method in one step, default 15.
    linear_solver : {"auto", "dense", "superlu", "klu"}
        Default "auto": LAPACK for small or full systems, otherwise KLU if PyKLU is installed,
        otherwise SuperLU.
    """

    scheme: str = "GenAlphaSOI2"
    coefficients: Coefficients | None = None
    rho_inf: float | None = None
    alpha: float | None = None
    b: float = 0.0
    variant: str = "end"
    start: str = "shifted"
    adjust_steps: bool = True
    jacobian: str = "auto"
    newton_accuracy: float | None = None
    max_iterations: int = MAX_ITERATIONS
    linear_solver: str = "auto"

    def settings(self, mechanism: Mechanism, tolerance: float | None = None) -> Settings:
        """Return the scheme's settings.

        Parameters
        ----------
        mechanism : Mechanism
        tolerance : float, optional
            Of adaptive steps, from which Newton's accuracy follows unless it is given.

        Raises
        ------
        InvalidOptionError
            With all faults: of the options, and of the conditions that the scheme needs.
        """
        faults = self.faults()
        if faults:
            raise InvalidOptionError(str(self.scheme), faults)
        settings = Settings(
            self._coefficients(),
            adjust_steps=self.adjust_steps,
            relative=self._accuracy(tolerance),
            b=self.b,
            variant=self.variant,
        )
        faults = choose(self.scheme, mechanism).faults(mechanism, settings)
        if faults:
            raise InvalidOptionError(self.scheme, faults)
        self._warn(mechanism, settings.coefficients)
        return settings

    def _accuracy(self, tolerance: float | None) -> float:
        if self.newton_accuracy is not None:
            return self.newton_accuracy
        return DEFAULT if tolerance is None else for_tolerance(tolerance)

    def _coefficients(self) -> Coefficients:
        if self.rho_inf is not None:
            return Coefficients.chung_hulbert(self.rho_inf)
        if self.alpha is not None:
            return Coefficients.hht(self.alpha)
        return self.coefficients or SCHEMES[self.scheme].default()

    def faults(self) -> list[str]:
        """List what is wrong with the options, whatever the mechanism."""
        faults = []
        for name, known in (
            ("scheme", tuple(SCHEMES)),
            ("start", STARTS),
            ("jacobian", MODES),
            ("linear_solver", LINEAR_SOLVERS),
        ):
            if getattr(self, name) not in known:
                faults.append(f"{name} = {getattr(self, name)!r} is none of {known}")
        ways = [x for x in ("coefficients", "rho_inf", "alpha") if getattr(self, x) is not None]
        if len(ways) > 1:
            faults.append(f"{' and '.join(ways)} are given; give one of them")
        for name, low, high in (("rho_inf", 0.0, 1.0), ("alpha", -1.0 / 3.0 - 1e-12, 0.0)):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                faults.append(f"{name} = {value!r} is not in [{low:.3g}, {high:.3g}]")
        coefficients: Any = self.coefficients
        if not isinstance(coefficients, (Coefficients, type(None))):
            faults.append(f"coefficients = {coefficients!r} is no Coefficients object")
        if self.linear_solver == "klu" and not klu():
            faults.append("linear_solver = 'klu' needs the package PyKLU, which is not installed")
        if self.newton_accuracy is not None and not _positive(self.newton_accuracy):
            faults.append(f"newton_accuracy = {self.newton_accuracy!r} is not positive")
        if not (isinstance(self.max_iterations, int) and self.max_iterations > 0):
            faults.append(f"max_iterations = {self.max_iterations!r} is no positive whole number")
        return faults

    def _warn(self, mechanism: Mechanism, c: Coefficients) -> None:
        if self.scheme == "GenAlphaI3" and mechanism.n_lam and not c.is_strictly_stable_at_infinity:
            warnings.warn(
                "GenAlphaI3 without numerical damping (rho_inf = 1): errors of the multipliers "
                "are not damped and oscillate from step to step (Arnold and Brüls, Fig. 8); take "
                "rho_inf < 1",
                UndampedWarning,
                stacklevel=4,
            )


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and bool(0.0 < value < np.inf)
