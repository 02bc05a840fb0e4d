"""What becomes of the errors of earlier windows in later ones, and over impacts.

The motion itself tells: the coarsest run of a window is made once more from a start that is off by
them. At an impact, a motion that is off has its event a little earlier or later; so its impact is
asked for there, and both motions are compared at the same time after it. That is done after the
whole motion is known: functions that count their calls cannot change it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from genalpha.driver.events import Events
from genalpha.driver.extrapolation.estimate import TINY
from genalpha.driver.extrapolation.measure import Pair, Sizes
from genalpha.driver.extrapolation.points import consistent
from genalpha.driver.extrapolation.windows import Budget, Window
from genalpha.errors import GenAlphaError
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: Errors are carried on as differences of this size, relative to the motion's.
VISIBLE = 1e-5
#: Errors that are small by accident are raised by this at most, and all that are carried on by the
#: second: directions in which they grow may be hidden in a window.
LARGEST_RAISE, CAUTION = 1e3, 3.0
#: Rates of event functions are differences over a time in which the motion changes by this part.
SHORT = 1e-6


class Impact(NamedTuple):
    """An impact: the functions that have had it, and the motion on both sides.

    Attributes
    ----------
    wanted : list of int
    mechanism, before : Mechanism, Knot
    following, after : Mechanism, Knot
    """

    wanted: list[int]
    mechanism: Mechanism
    before: Knot
    following: Mechanism
    after: Knot


class Inherited(NamedTuple):
    """What a motion takes over from the one before it.

    Attributes
    ----------
    off : (dq, dv) or None
        The error with which it starts, with sign.
    pieces : int
        How many motions were before it.
    follows : bool
        Whether there may be another one after it.
    """

    off: Pair | None
    pieces: int
    follows: bool


def through_window(window: Window, off: Pair, sizes: Sizes, budget: Budget) -> Window:
    """Return a window whose errors have those of its start in them."""
    if window.times.size == 1 or not any(x.any() for x in off):
        return window
    carried = _larger(
        _carried(window, off, sizes, budget), _carried(window, _turned(off), sizes, budget), sizes
    )
    if window.stop is not None:
        carried = window.cut(carried, window.stop.t)
    q, v = (x + np.abs(y) for x, y in zip(window.bounds, carried, strict=True))
    return window._replace(bounds=(q, v), signed=_added(carried, window.signed, sizes))


def at_end(window: Window, sizes: Sizes) -> Pair:
    """Return the error at the end of a window as it is carried on: with signs, and cautiously."""
    whole = _added(window.signed, _surplus(window, sizes), sizes)
    pairs = zip(whole, window.trial.noises, strict=True)
    dq, dv = (_louder(x[-1], noise[-1]) for x, noise in pairs)
    return dq, dv


def _surplus(window: Window, sizes: Sizes) -> Pair:
    """Return what is added to a window's own errors, which then do not become smaller along it.

    What they seem to lose, in q and v together, they may have in directions that differences of
    columns miss just there.
    """
    own = window.trial.signed
    if window.stop is not None:
        own = window.cut(own, window.stop.t)
    now = sizes.relative(own)
    factor = np.minimum(np.maximum.accumulate(now) / np.maximum(now, TINY), LARGEST_RAISE)
    q, v = ((CAUTION * factor - 1.0)[:, None] * x for x in own)
    return q, v


def _louder(signed: Array, noise: Array) -> Array:
    """Return errors with noise; where there is nothing else, signs alternate."""
    signs = np.where(signed == 0.0, (-1.0) ** np.arange(signed.size), np.sign(signed))
    return np.asarray(signed + noise * signs)


def _turned(off: Pair) -> Pair:
    """Return an error of the same size in another direction: one alone may miss what grows."""
    dq, dv = (x * (-1.0) ** np.arange(x.size) for x in off)
    return dq, dv


def _larger(one: Pair, other: Pair, sizes: Sizes) -> Pair:
    """Return the pair that is larger at the end of a window."""
    return one if sizes.relative(one)[-1] >= sizes.relative(other)[-1] else other


def _carried(window: Window, off: Pair, sizes: Sizes, budget: Budget) -> Pair:
    """Return what becomes of an error at the start, at the points of the coarsest run."""
    runs, base = window.runs, window.trial.base
    start, reference = runs.start, runs.run(base)
    scale = _visible(off, sizes)
    try:
        q, v = start.q + scale * off[0], start.v + scale * off[1]
        o = window.trial.mechanism
        moved = runs.run_from(consistent(o, start.t, q, v, start.lam, start.psi), base)
    except GenAlphaError:  # it has left where the mechanism can be
        whole = np.ones((base + 1, 1))
        return whole * off[0], whole * off[1]
    budget.left -= base
    return (moved.q - reference.q) / scale, (moved.v - reference.v) / scale


def _visible(off: Pair, sizes: Sizes) -> float:
    """Return by what errors are multiplied so that differences show them."""
    return VISIBLE / float(sizes.relative(off))


def _added(carried: Pair, signed: Pair, sizes: Sizes) -> Pair:
    """Add errors with the sign that makes them larger at the end of the window."""
    agree = sizes.product((carried[0][-1], carried[1][-1]), (signed[0][-1], signed[1][-1]))
    sign = 1.0 if agree >= 0.0 else -1.0
    q, v = (x + sign * y for x, y in zip(carried, signed, strict=True))
    return q, v


def over_impact(events: Events, impact: Impact, off: Pair, sizes: Sizes) -> tuple[Pair, bool]:
    """Return the error after an impact, and whether the impact does the same when asked again.

    Parameters
    ----------
    events : Events
    impact : Impact
    off : (dq, dv)
        The error before it, with sign.
    sizes : Sizes
    """
    if not any(x.any() for x in off):
        return off, True
    t, q, v, a, *_ = impact.before
    scale = _visible(off, sizes)
    moved = q + scale * off[0], v + scale * off[1]
    late = _delay(events, impact, moved)
    arguments = (t + late, moved[0] + late * moved[1], moved[1] + late * a)
    try:
        again = _asked(events, impact, t, q, v)
        there = _asked(events, impact, *arguments)
    except Exception:  # whatever the user's function says to being asked here
        again = there = None
    after = impact.after
    if again is None or there is None or not _same(again, (after.q, after.v)):
        return _by_rates(events, impact, off, scale, late), False
    # back along the motion after the impact, to where it happened without the error
    dq = (there[0] - late * there[1] - after.q) / scale
    dv = (there[1] - late * after.vdot - after.v) / scale
    return (dq, dv), True


def over_jump(
    value: Callable[[float, Array, Array], float], before: Knot, after: Knot, off: Pair
) -> Pair:
    """Return the error after an event that may have changed the velocity and cannot be asked again.

    As if bodies hit each other: the velocity has jumped in proportion to the rate of the event
    function, in a direction that turns as its gradient does.

    Parameters
    ----------
    value : callable(t, q, v)
        The event function.
    before, after : Knot
        The motion on both sides of the event.
    off : (dq, dv)
        The error before it, with sign.
    """
    t, q, v, a, *_ = before
    size = max(float(np.abs(off[0]).max()), float(np.abs(off[1]).max()), TINY)
    length = max(1e-12, float(np.abs(q).max()))
    short = SHORT * length / max(1e-12, float(np.abs(v).max()))

    def gradient(q: Array) -> Array:
        steps = SHORT * length * np.eye(q.size)
        ends = [value(t, q + x, v) - value(t, q - x, v) for x in steps]
        return np.array(ends) / (2.0 * SHORT * length)

    w = gradient(q)
    rate = (value(t + short, q + short * v, v) - value(t - short, q - short * v, v)) / (2.0 * short)
    if not rate or not w.any():
        return off
    late = -float(w @ off[0]) / rate
    there = off[0] + late * v, off[1] + late * a
    scale = VISIBLE * length / max(float(np.abs(there[0]).max()), SHORT * size)
    turned = (gradient(q + scale * there[0]) - w) / scale
    jump, norm = after.v - v, float(np.linalg.norm(w))
    side = turned / norm - (w @ turned) / norm**3 * w
    side *= float(np.linalg.norm(jump)) * (1.0 if jump @ w >= 0.0 else -1.0)
    faster = float(turned @ v + w @ there[1]) / rate
    dq = off[0] - late * jump
    dv = there[1] + faster * jump + side - late * after.vdot
    return dq, dv


def _asked(events: Events, impact: Impact, t: float, q: Array, v: Array) -> Pair | None:
    """Return the motion after an impact, or None if it hands over something else than before."""
    o, q, v = events.copy().after(impact.mechanism, impact.wanted, t, q, v)
    same = o.n_lam == impact.following.n_lam and o.n_psi == impact.following.n_psi
    return (q, v) if same else None


def _same(one: Pair, other: Pair) -> bool:
    return all(np.allclose(x, y, rtol=1e-9, atol=1e-12) for x, y in zip(one, other, strict=True))


def _delay(events: Events, impact: Impact, moved: Pair) -> float:
    """Return how much later the event of a motion that is off happens."""
    t, q, v, a, *_ = impact.before
    i = _cause(events, impact)
    short = SHORT * max(1e-12, float(np.abs(q).max())) / max(1e-12, float(np.abs(v).max()))

    def value(s: float, q: Array, v: Array) -> float:
        return events.values(t + s, q + s * v + 0.5 * s * s * a, v + s * a)[i]

    rate = (value(short, q, v) - value(-short, q, v)) / (2.0 * short)
    return (value(0.0, q, v) - value(0.0, *moved)) / rate if rate else 0.0


def _cause(events: Events, impact: Impact) -> int:
    """Return the first function that has an impact."""
    return next(i for i in impact.wanted if events.impact(i) is not None)


def _by_rates(events: Events, impact: Impact, off: Pair, scale: float, late: float) -> Pair:
    """Return the error after an impact that cannot be asked again.

    As if the velocity jumped in proportion to the rate of the event function, as it does where
    bodies hit each other.
    """
    before, after = impact.before, impact.after
    t, q, v, *_ = before
    i = _cause(events, impact)
    short = SHORT * max(1e-12, float(np.abs(q).max())) / max(1e-12, float(np.abs(v).max()))

    def rate(v: Array) -> float:
        ends = (events.values(t + s, q + s * v, v)[i] for s in (-short, short))
        low, high = ends
        return (high - low) / (2.0 * short)

    came = rate(v)
    change = (rate(v + scale * off[1]) - came) / (scale * came) if came else 0.0
    time = late / scale
    dq = off[0] + time * (v - after.v)
    dv = off[1] + change * (after.v - v) + time * (before.vdot - after.vdot)
    return dq, dv
