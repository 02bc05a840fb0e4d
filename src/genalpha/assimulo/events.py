"""Where, within a step, a state event happens."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2

import numpy as np

Array = np.ndarray

EPS = float(np.finfo(float).eps)


def changed_signs(old: Array, new: Array) -> list[int]:
    """Return for each event function +1 (it became positive), -1 (it no longer is), or 0."""
    before, after = np.asarray(old) > 0, np.asarray(new) > 0
    return [int(x) for x in after.astype(int) - before.astype(int)]


def first_change(
    values: Callable[[float], Array], old: Array, t_low: float, t_high: float
) -> float:
    """Return the first time in a step at which an event function has changed its sign.

    The ITP method (Oliveira and Takahashi 2020) on whatever function seems to be the first: about
    ten evaluations for smooth functions, one more than bisection for others. Times are found to
    rounding, for any sign and direction of time, and the one returned lies on the far side, so
    that no event is found twice.

    Parameters
    ----------
    values : callable(t) -> (k,) array
        The event functions along the step.
    old : (k,) array
        Their values at `t_low`, the start of the step.
    t_low, t_high : float
        At `t_high` at least one sign differs from `old`.
    """
    length = t_high - t_low
    # in units of the step, so that the direction of time does not matter
    accuracy = max(EPS * max(abs(t_low), abs(t_high)) / abs(length), 1e-17)
    low, high = 0.0, 1.0
    g_low, g_high = np.asarray(old), np.asarray(values(t_high))
    slack = accuracy * 2.0 ** (1 + ceil(log2(max(1.0 / (2.0 * accuracy), 1.0))))
    while high - low > 2.0 * accuracy:
        x = _trial(low, high, _secant(low, high, g_low, g_high), slack)
        slack *= 0.5
        x = min(max(x, low + accuracy), high - accuracy)
        g = np.asarray(values(t_low + x * length))
        if any(changed_signs(old, g)):
            high, g_high = x, g
        else:
            low, g_low = x, g
    return t_high if high == 1.0 else t_low + high * length


def _trial(low: float, high: float, secant: float, slack: float) -> float:
    """Return the point to try next: near the secant's, but never far from the middle for long."""
    middle = 0.5 * (low + high)
    towards = 1.0 if middle >= secant else -1.0
    # beyond the root, so that the next bracket is short
    moved = 0.2 * (high - low) ** 2
    x = secant + towards * moved if moved <= abs(middle - secant) else middle
    allowed = max(slack - 0.5 * (high - low), 0.0)
    return x if abs(x - middle) <= allowed else middle - towards * allowed


def _secant(low: float, high: float, g_low: Array, g_high: Array) -> float:
    """Return where the first of the functions that change their sign is zero, were it straight."""
    changed = (g_low > 0) != (g_high > 0)
    below, above = np.abs(g_low[changed]), np.abs(g_high[changed])
    sums = below + above
    fractions = np.where(sums > 0.0, below / np.where(sums > 0.0, sums, 1.0), 0.5)
    return low + (high - low) * float(np.min(fractions, initial=1.0))
