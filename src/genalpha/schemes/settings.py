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

Array = np.ndarray
State = Any  # each scheme's own NamedTuple: t, q, v, a, h and what else it carries


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
    shifted : callable(mechanism, settings, state, first, h) -> State
        The state at the start with an `a` of second order, from the state `first` that a first
        step of size h from the plain start has led to.
    step : callable(mechanism, settings, newton, state, h) -> State
        One step; `state` is not changed.
    report : callable(mechanism, state) -> (vdot, lam, psi)
        True acceleration and multipliers at the state's time, all of second order.
    slim : callable(state) -> State
        The state without what `report` does not need, to be kept.
    errors : callable(settings) -> ErrorConstants
        Constants of the local error.
    history : callable(t, v, vdot) -> History
        What tells the derivatives that the local error needs.
    faults : callable(mechanism, settings) -> list of str
        Conditions that the scheme needs and that are not met.
    """

    name: str
    default: Callable[[], Coefficients]
    begin: Callable[[Mechanism, Settings, float, Motion, float], State]
    shifted: Callable[[Mechanism, Settings, State, State, float], State]
    step: Callable[[Mechanism, Settings, Newton, State, float], State]
    report: Callable[[Mechanism, State], tuple[Array, Array, Array]]
    slim: Callable[[State], State]
    errors: Callable[[Settings], ErrorConstants]
    history: Callable[[float, Array, Array], History]
    faults: Callable[[Mechanism, Settings], list[str]]
