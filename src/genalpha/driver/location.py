"""When, between two times, the first event happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log2

import numpy as np

EPS = float(np.finfo(float).eps)


def change(sign: int, value: float) -> int:
    """Return +1 or -1 if a function of that sign has reached or passed zero upward or downward.

    A function without a sign (0) has no event, and neither has one that is not a number.
    """
    if sign > 0:
        return -1 if value <= 0.0 else 0
    if sign < 0:
        return 1 if value >= 0.0 else 0
    return 0


def changes(signs: Sequence[int], values: Sequence[float]) -> list[int]:
    """Return `change` of every function."""
    return [change(sign, value) for sign, value in zip(signs, values, strict=True)]


def first_change(
    values: Callable[[float], list[float]],
    signs: Sequence[int],
    t_low: float,
    t_high: float,
    low: list[float],
    high: list[float],
) -> tuple[float, float, list[float]]:
    """Return the first time at which an event function has changed its sign.

    The ITP method (Oliveira and Takahashi 2020) on whatever function seems to be the first: about
    ten evaluations for smooth functions, one more than bisection for others. Times are found to
    rounding, for any sign and direction of time.

    Parameters
    ----------
    values : callable(t) -> list of k floats
        The event functions.
    signs : k of -1, 0, 1
        Their signs up to `t_low`.
    t_low, t_high : float
        At `t_high` at least one function has changed, at `t_low` none.
    low, high : list of k floats
        Their values there.

    Returns
    -------
    before, after : float
        The last time known to be before the event and the first one after it.
    values : list of k floats
        Those after it.
    """
    length = t_high - t_low
    # in units of the interval, so that the direction of time does not matter
    accuracy = max(EPS * max(abs(t_low), abs(t_high)) / abs(length), 1e-17)
    left, right, g_left, g_right = 0.0, 1.0, low, high
    slack = accuracy * 2.0 ** (1 + ceil(log2(max(1.0 / (2.0 * accuracy), 1.0))))
    while right - left > 2.0 * accuracy:
        x = _trial(left, right, _secant(left, right, g_left, g_right, signs), slack)
        slack *= 0.5
        x = min(max(x, left + accuracy), right - accuracy)
        g = values(t_low + x * length)
        if any(changes(signs, g)):
            right, g_right = x, g
        else:
            left, g_left = x, g
    after = t_high if right == 1.0 else t_low + right * length
    return t_low + left * length, after, g_right


def _trial(low: float, high: float, secant: float, slack: float) -> float:
    """Return the point to try next: near the secant's, but never far from the middle for long."""
    middle = 0.5 * (low + high)
    towards = 1.0 if middle >= secant else -1.0
    # beyond the root, so that the next bracket is short
    moved = 0.2 * (high - low) ** 2
    x = secant + towards * moved if moved <= abs(middle - secant) else middle
    allowed = max(slack - 0.5 * (high - low), 0.0)
    return x if abs(x - middle) <= allowed else middle - towards * allowed


def _secant(
    low: float, high: float, g_low: list[float], g_high: list[float], signs: Sequence[int]
) -> float:
    """Return where the first of the functions that change their sign is zero, were it straight."""
    first = 1.0
    for sign, below, above in zip(signs, g_low, g_high, strict=True):
        if change(sign, above):
            total = abs(below) + abs(above)
            first = min(first, abs(below) / total if total > 0.0 else 0.5)
    return low + (high - low) * first
