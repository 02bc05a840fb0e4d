"""The start of an adaptive integration: what is known of the error before there is a past.

A tiny explicit step gives v'' at the start. From it follow the first step size and, once that
step has been tried, its v'''.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.weights import Tolerances

Array = np.ndarray
Failures = tuple[type[BaseException], ...]

#: The first step may have this share of the position error that is allowed.
CAREFUL = 0.1


class Ahead(NamedTuple):
    """What a tiny explicit step has found.

    Attributes
    ----------
    tiny : float
        Its size, positive.
    vdot : (n,) array
        The acceleration at the start.
    jerk : (n,) array or None
        Its derivative there; None if the equations could not be evaluated beside the start.
    """

    tiny: float
    vdot: Array
    jerk: Array | None


def look_ahead(
    o: Mechanism, start: Knot, tolerances: Tolerances, interval: float, failures: Failures
) -> Ahead:
    """Find the acceleration and, by a tiny explicit step, its derivative at the start.

    Parameters
    ----------
    o : Mechanism
    start : Knot
        Of which lam and psi are guesses, and vdot is not used.
    tolerances : Tolerances
    interval : float
        From the start to the end, negative if that lies before it.
    failures : tuple of exception classes
        What the equations may raise beside the start without harm.
    """
    t, q, v = start[:3]
    vdot, lam, psi = accelerations(o, t, q, v, start.lam, start.psi)
    length = abs(interval)
    fast = max(tolerances.norm_q(v, q, q), tolerances.norm_v(vdot, v, v), 1.0 / length)
    # far enough that rounding does not show
    size = max(min(0.01 / fast, 1e-3 * length), 1e-9 * length)
    h = float(np.copysign(size, interval))
    jerk = None
    with contextlib.suppress(*failures):
        moved = q + h * v + 0.5 * h**2 * vdot
        later, _, _ = accelerations(o, t + h, moved, v + h * vdot, lam, psi)
        jerk = (later - vdot) / h
    return Ahead(size, vdot, jerk)


def first_size(
    ahead: Ahead, start: Knot, tolerances: Tolerances, constant: float, longest: float
) -> float:
    """Return a step whose position error is a tenth of what is allowed.

    Parameters
    ----------
    ahead : Ahead
    start : Knot
    tolerances : Tolerances
    constant : float
        C_q of the local error C_q h^3 v''.
    longest : float
        The step may not be longer.
    """
    if ahead.jerk is None:
        return min(ahead.tiny, longest)
    error = constant * tolerances.norm_q(ahead.jerk, start.q, start.q)
    return min((CAREFUL / max(error, 1e-300)) ** (1.0 / 3.0), longest)


def first_snap(ahead: Ahead, vdot: Array, h: float) -> Array | None:
    """Return v''' of a first step from the accelerations at its ends.

    Parameters
    ----------
    ahead : Ahead
        What was found at its start.
    vdot : (n,) array
        The acceleration at its end.
    h : float
    """
    if ahead.jerk is None:
        return None
    mean_jerk = (vdot - ahead.vdot) / h
    return np.asarray(2.0 / h * (mean_jerk - ahead.jerk))
