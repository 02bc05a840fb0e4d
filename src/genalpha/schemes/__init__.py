"""The schemes, one file each: its equations, its paper, nothing else.

`SCHEMES` is the one list of them; drivers, solver classes, tests, comparisons and documentation
draw on it.
"""

from __future__ import annotations

from importlib import import_module

from genalpha.errors import InvalidOptionError
from genalpha.model import Mechanism
from genalpha.schemes.scheme import Scheme, Settings, State

__all__ = ["SCHEMES", "Scheme", "Settings", "State", "choose"]

#: File and class of every scheme.
_SCHEMES = (
    ("i3", "GenAlphaI3"),
    ("soi2", "GenAlphaSOI2"),
    ("hhti2", "HHTI2"),
)
SCHEMES: dict[str, type[Scheme]] = {
    name: getattr(import_module(f"genalpha.schemes.{file}"), name) for file, name in _SCHEMES
}


def choose(name: str, mechanism: Mechanism) -> type[Scheme]:
    """Return the scheme of that name, in the form that fits the mechanism's constraints."""
    if name not in SCHEMES:
        fault = f"scheme = {name!r}; expected one of {', '.join(map(repr, SCHEMES))}"
        raise InvalidOptionError("integrate", [fault])
    return SCHEMES[name].fitting(mechanism)
