"""A mechanism that counts the calls of its callbacks, whoever makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from genalpha.model import Mechanism


def counted_mechanism(mechanism: Mechanism) -> tuple[Mechanism, Counter[str]]:
    """Return a copy whose callbacks are counted by name, and the counts, which start at 0.

    Derivatives that are differenced show up as calls of what is differenced. A constant mass
    matrix is never called.
    """
    calls: Counter[str] = Counter()
    names = {"force", *mechanism.given}
    if mechanism.constant_mass is None:
        names.add("mass")
    copy = mechanism.replace(
        **{name: _counted(getattr(mechanism, name), name, calls) for name in sorted(names)},
        quadratic_velocity=False,  # what it adds is in the force already
    )
    calls.clear()  # the constructor calls each once
    return copy, calls


def _counted(function: Callable[..., Any], name: str, calls: Counter[str]) -> Callable[..., Any]:
    def wrapper(*arguments: Any) -> Any:
        calls[name] += 1
        return function(*arguments)

    return wrapper
