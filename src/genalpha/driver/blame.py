"""Which equation is to blame when a step fails, and which callback when steps collapse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray
State = tuple[float, Array, Array]  # t, q, v

#: Callbacks that may jump, and what they take.
CALLBACKS = {
    "force": 3,
    "mass": 2,
    "holonomic": 2,
    "holonomic_jacobian": 2,
    "nonholonomic": 3,
    "nonholonomic_jacobian": 3,
}
#: How finely a callback is looked at first, how often the place of its largest change is halved,
#: and which part of that change, and of its values (of what they sum up), a jump still has there.
PARTS, HALVINGS, LEFT, VISIBLE = 64, 30, 0.5, 1e-6
ADVICE = "Take smaller steps; mechanism.check_derivatives() tells whether a derivative is wrong"
#: How many steps before and behind the last one are looked at, in turn: steps that collapse creep.
REACHES = (2.0, 30.0, 1e3, 1e5)


def worst_equations(o: Mechanism, start: Knot, h: float) -> str:
    """Name the coordinate and the constraint with the largest residuals where a step begins.

    "Where it begins" is its first guess, the motion continued with constant acceleration: of the
    iteration itself, once it has diverged, no value means anything.
    """
    t, q, v = (
        start.t + h,
        start.q + h * start.v + 0.5 * h * h * start.vdot,
        start.v + h * start.vdot,
    )
    motion = np.abs(o.imbalance(t, q, v, start.vdot, start.lam, start.psi))
    i = int(np.argmax(motion))
    text = f"the largest residuals at its first guess are {motion[i]:.2e} in the equation of q[{i}]"
    constraints = np.abs(np.concatenate([o.holonomic(t, q), o.nonholonomic(t, q, v)]))
    if constraints.size:
        j = int(np.argmax(constraints))
        text += f" and {constraints[j]:.2e} in constraint {o.constraint_names[j]}"
    return f"{text}. {ADVICE}"


def jumping_callback(o: Mechanism, left: State, right: State) -> str:
    """Name a callback that jumps on the way from one state to another, or beyond.

    Return a sentence with the place and what to do; empty if none jumps.
    """
    for name, count in CALLBACKS.items():
        if name == "mass" and o.constant_mass is not None:
            continue
        if name.endswith("jacobian") and name not in o.given:
            continue

        def value(s: float, name: str = name, count: int = count) -> Array:
            pairs: Any = zip(left, right, strict=True)
            state = [a + s * (b - a) for a, b in pairs]
            found = getattr(o, name)(*state[:count])
            return np.ravel(found.toarray() if hasattr(found, "toarray") else found)

        try:
            size = _summed(o, name, left)
            places = (_jump(value, reach, size) for reach in REACHES)
            before, after = next((x for x in places if x is not None), (0.0, 0.0))
        except Exception:  # it cannot be evaluated there, which has been said already
            continue
        if before != after:
            t = left[0] + before * (right[0] - left[0])
            i = int(np.argmax(np.abs(value(after) - value(before))))
            return (
                f"{name} seems to jump near t = {t:.9g}, from {value(before)[i]:.4g} to "
                f"{value(after)[i]:.4g} in its component {i}. Smooth it, or declare the place: "
                "give `events` a function that is zero there (state_events or time_events in "
                "Assimulo), so that steps end at the jump and a new phase begins behind it"
            )
    return ""


def _summed(o: Mechanism, name: str, state: State) -> float:
    """Return the size of what constraints sum up: they are zero, and their values rounding."""
    t, q, v = state
    if name == "holonomic":
        terms = abs(o.holonomic_jacobian(t, q)) @ np.abs(q)
    elif name == "nonholonomic":
        terms = abs(o.nonholonomic_jacobian(t, q, v)) @ np.abs(v)
    else:
        return 0.0
    return float(np.max(terms, initial=0.0))


def _jump(value: Callable[[float], Array], reach: float, size: float) -> tuple[float, float] | None:
    """Return two places on both sides of a jump of a function on [1 - reach, reach], or None.

    What is small beside `size` is none.
    """
    places = np.linspace(1.0 - reach, reach, PARTS + 1)
    values = np.array([value(s) for s in places])
    steps = np.abs(np.diff(values, axis=0)).max(axis=1, initial=0.0)
    i = int(np.argmax(steps))
    first, low, high = steps[i], float(places[i]), float(places[i + 1])
    if not first > VISIBLE * max(size, float(np.abs(values).max(initial=0.0))):
        return None
    g_low, g_high = values[i], values[i + 1]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        g = value(middle)
        if np.abs(g - g_low).max() >= np.abs(g_high - g).max():
            high, g_high = middle, g
        else:
            low, g_low = middle, g
    return (low, high) if np.abs(g_high - g_low).max() >= LEFT * first else None
