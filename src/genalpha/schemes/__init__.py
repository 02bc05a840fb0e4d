"""The schemes, one file each: its equations, its paper, nothing else.

`SCHEMES` is the one list of them; drivers, solver classes, tests, comparisons and documentation
draw on it.
"""

from __future__ import annotations

from genalpha.errors import InvalidOptionError
from genalpha.model import Mechanism
from genalpha.schemes.hhti2 import HHTI2
from genalpha.schemes.i3 import GenAlphaI3
from genalpha.schemes.scheme import Scheme, Settings, State
from genalpha.schemes.soi2 import GenAlphaSOI2

__all__ = ["SCHEMES", "Scheme", "Settings", "State", "choose"]

SCHEMES: dict[str, type[Scheme]] = {
    scheme.name: scheme
    for scheme in (
        GenAlphaI3,
        GenAlphaSOI2,
        HHTI2,
    )
}


def choose(name: str, mechanism: Mechanism) -> type[Scheme]:
    """Return the scheme of that name, in the form that fits the mechanism's constraints."""
    if name not in SCHEMES:
        fault = f"scheme = {name!r}; expected one of {', '.join(map(repr, SCHEMES))}"
        raise InvalidOptionError("integrate", [fault])
    return SCHEMES[name].fitting(mechanism)
