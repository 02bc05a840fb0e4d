"""What a scheme is to the driver, and what the user may choose about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.model import Mechanism, Motion
from genalpha.numerics.accuracy import DEFAULT
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.local_error import ErrorConstants, History
from genalpha.numerics.newton import Newton
from genalpha.schemes.step import Step

Array = np.ndarray
State = Any  # each scheme's own class: t, q, v, a, h, x, kept, and what else it carries


@dataclass(frozen=True)
class Settings:
    """Choices that hold for a whole run.

    Attributes
    ----------
    coefficients : Coefficients
    adjust_steps : bool
        Whether `a` is moved to its new instant when the step size changes.
    relative : float
        Accuracy of Newton's iteration, see `genalpha.numerics.accuracy`.
    b, variant
        Only for HHTI2, see there.
    """

    coefficients: Coefficients
    adjust_steps: bool = True
    relative: float = DEFAULT
    b: float = 0.0
    variant: str = "end"


@dataclass(frozen=True)
class Scheme:
    """A scheme, as plain functions.

    Attributes
    ----------
    name : str
    default : callable() -> Coefficients
    begin : callable(mechanism, settings, t, motion, h) -> State
        The state at the start, with the "plain" `a`.
    shifted : callable(mechanism, settings, newton, state, first, h) -> State
        The state at the start with an `a` of second order, from the state `first` that a first
        step of size h from the plain start has led to.
    step : callable(mechanism, settings, newton) -> Step
        The scheme at work on a mechanism.
    report : callable(mechanism, t, q, v, kept) -> (vdot, lam, psi)
        True acceleration and multipliers, all of second order; `kept` is that of the state.
    errors : callable(settings) -> ErrorConstants
        Constants of the local error.
    history : callable(coefficients, t, v, vdot) -> History
        What tells the derivatives that the local error needs.
    faults : callable(mechanism, settings) -> list of str
        Conditions that the scheme needs and that are not met.
    """

    name: str
    default: Callable[[], Coefficients]
    begin: Callable[[Mechanism, Settings, float, Motion, float], State]
    shifted: Callable[[Mechanism, Settings, Newton, State, State, float], State]
    step: Callable[[Mechanism, Settings, Newton], Step]
    report: Callable[[Mechanism, float, Array, Array, Array], tuple[Array, Array, Array]]
    errors: Callable[[Settings], ErrorConstants]
    history: Callable[[Coefficients, float, Array, Array], History]
    faults: Callable[[Mechanism, Settings], list[str]]
