"""A mechanism from its Lagrangian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from genalpha.formulas.equations import Motion, of_lagrangian
from genalpha.formulas.libraries import BACKENDS
from genalpha.formulas.mechanism import fault_of_backend, formulas
from genalpha.formulas.symbols import Symbols
from genalpha.model import Mechanism


def from_lagrangian(
    lagrangian: Any,
    coordinates: Sequence[Any],
    *,
    holonomic: Sequence[Any] = (),
    nonholonomic: Sequence[Any] = (),
    forces: Any = None,
    dissipation: Any = 0,
    parameters: Mapping[Any, Any] | None = None,
    q0: Any,
    v0: Any = None,
    backend: str = "auto",
    **others: Any,
) -> Mechanism:
    """See `genalpha.Mechanism.from_lagrangian`."""
    fault_of_backend(backend, BACKENDS)
    names = Symbols("from_lagrangian", list(coordinates), parameters or {})
    L = names.read("lagrangian", lagrangian)
    g = names.read_all("holonomic", holonomic, "t q")
    k = names.read_all("nonholonomic", nonholonomic)
    R = names.read("dissipation", dissipation)
    Q = _forces(names, forces, coordinates)
    start = read_start(names, coordinates, q0, v0)
    names.check()
    o = of_lagrangian(L, names.t, names.q, names.v, names.vdot, Q, R, g, k)
    return mechanism(names, o, start, backend, others)


def _forces(names: Symbols, given: Any, coordinates: Sequence[Any]) -> list[Any]:
    """Return generalized forces, given one by one or by coordinate."""
    n = len(coordinates)
    if isinstance(given, Mapping):
        return _by_coordinate(names, "forces", given, coordinates, "t q v")
    found = names.read_all("forces", given) or [sp.S.Zero] * n
    if len(found) != n:
        names.given.faults.append(f"forces has {len(found)} entries; the coordinates are {n}")
        found = [sp.S.Zero] * n
    return found


def _by_coordinate(
    names: Symbols, name: str, given: Mapping[Any, Any], coordinates: Sequence[Any], allowed: str
) -> list[Any]:
    for key in given.keys() - set(coordinates):
        names.given.faults.append(f"{name} has the key {key}, which is no coordinate")
    return [names.read(f"{name}[{x}]", given.get(x, 0), allowed) for x in coordinates]


def read_start(names: Symbols, coordinates: Sequence[Any], q0: Any, v0: Any) -> list[Any]:
    """Return q0 and v0 one after the other, as formulas of the parameters; v0 may be left out."""
    found = []
    for name, given in (("q0", q0), ("v0", v0)):
        if given is None and name == "v0":
            given = [0] * len(coordinates)
        if isinstance(given, Mapping):
            values = _by_coordinate(names, name, given, coordinates, "")
        else:
            values = names.read_all(name, given, "")
        if len(values) != len(coordinates):
            n = len(coordinates)
            names.given.faults.append(f"{name} has {len(values)} entries; the coordinates are {n}")
        found += values
    return found


def mechanism(
    names: Symbols, o: Motion, start: list[Any], backend: str, others: dict[str, Any]
) -> Mechanism:
    """Return the mechanism of derived equations."""
    others = {"coordinate_names": names.names, **others}
    return formulas(o, start, len(names.values), backend, others).mechanism(names.values)
