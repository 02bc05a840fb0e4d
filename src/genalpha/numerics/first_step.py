"""The start of an adaptive integration: what is known of the error before there is a past.

A tiny explicit step gives v'' at the start. From it follow the first step size and, once that
step has been tried, its v'''. Where v'' is small at the start, as in many that are symmetric or at
rest, it says nothing of what follows: another explicit step, further ahead, gives v''' then.
"""

from __future__ import annotations

import contextlib
import math
from typing import NamedTuple

import numpy as np

from genalpha.kernels import largest_ratio
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.local_error import ErrorConstants
from genalpha.numerics.weights import Tolerances

Array = np.ndarray
Failures = tuple[type[BaseException], ...]

#: The first step may have this share of the error that is allowed.
CAREFUL = 0.1
#: The step further ahead, relative to the time in which the motion changes: far enough that errors
#: of differenced accelerations do not show, and within what v'' and v''' describe.
FURTHER = 0.01
TINY = 1e-300


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
    return min((CAREFUL / max(error, TINY)) ** (1.0 / 3.0), longest)


def look_further(
    o: Mechanism,
    start: Knot,
    ahead: Ahead,
    tolerances: Tolerances,
    constants: ErrorConstants,
    longest: float,
    failures: Failures,
) -> float:
    """Return a step with a tenth of the errors that are allowed, where v'' alone allows any.

    Parameters
    ----------
    o, start, tolerances, failures
        See `look_ahead`.
    ahead : Ahead
        What that has found.
    constants : ErrorConstants
    longest : float
        The step may not be longer. Its sign is the direction.
    """
    t, q, v = start[:3]
    vdot, jerk, limit = ahead.vdot, ahead.jerk, abs(longest)
    if jerk is None:
        return limit
    fastest = max(1.0, largest_ratio(v, q), math.sqrt(largest_ratio(vdot, q)))
    s = math.copysign(min(FURTHER / fastest, limit), longest)
    place = q + s * v + 0.5 * s**2 * vdot + s**3 / 6.0 * jerk
    speed = v + s * vdot + 0.5 * s**2 * jerk
    with contextlib.suppress(*failures):
        later, _, _ = accelerations(o, t + s, place, speed, start.lam, start.psi)
        snap = (later - vdot - s * jerk) * (2.0 / s**2)
        of_v = constants.velocity * tolerances.norm_v(snap, v, v)
        # of h^3 (v'' + h v''' / 2), of which the second part counts
        of_q = 0.5 * constants.position * tolerances.norm_q(snap, q, q)
        sizes = (CAREFUL / max(of_v, TINY)) ** (1 / 3), (CAREFUL / max(of_q, TINY)) ** (1 / 4)
        return min(*sizes, limit)
    return limit


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
