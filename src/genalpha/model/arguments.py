"""What may be given to a `Mechanism`, and what is wrong with what is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.model.given import NO_NUMBERS, Given, real, takes, wrong_call
from genalpha.model.reference import Reference
from genalpha.model.table import MATRICES, NEEDS, TABLE


def faults_of_values(
    arguments: dict[str, Any], callbacks: dict[str, Callable[..., Any]]
) -> list[str]:
    """List everything that is wrong with the arguments before any callback is called."""
    faults = []
    shapes = []
    for key in ("q0", "v0"):
        try:
            value = real(arguments[key])
        except NO_NUMBERS as error:
            faults.append(f"{key} is {arguments[key]!r:.60}; expected numbers ({error})")
            continue
        shapes.append(value.shape)
        if value.ndim != 1 or value.size == 0:
            faults.append(f"{key} has shape {value.shape}; expected a vector (n,)")
        elif not np.isfinite(value).all():
            i = int(np.flatnonzero(~np.isfinite(value))[0])
            faults.append(f"{key}[{i}] is {value[i]}; all values must be finite")
    if len(shapes) == 2 and shapes[0] != shapes[1]:
        faults.append(f"q0 has shape {shapes[0]} and v0 {shapes[1]}; they must be equal")
    faults += _faults_of_extras(arguments)
    for key, value in {"force": arguments["force"], **callbacks}.items():
        if not callable(value) and not (key in MATRICES and _is_matrix(value)):
            kind = "a callable or a constant matrix" if key in MATRICES else "a callable"
            faults.append(f"{key} is {value!r:.60}; expected {kind}")
    for key, value in {"mass": arguments["mass"], "force": arguments["force"], **callbacks}.items():
        names = TABLE[key].arguments.split()
        if callable(value) and not takes(value, len(names)):
            faults.append(wrong_call(key, value, ", ".join(names)))
    for key, other in NEEDS.items():
        if key in callbacks and other not in callbacks:
            faults.append(f"{key} is given but {other} is not")
    known = MATRICES - {"damping"}  # whose pattern goes with that of the stiffness
    sparsity = arguments["sparsity"]
    for key in set(sparsity if isinstance(sparsity, Mapping) else {}) - known:
        faults.append(f"sparsity has the unknown key {key!r}; known are {sorted(known)}")
    return faults


def _faults_of_extras(arguments: dict[str, Any]) -> list[str]:
    """List what is wrong with everything that is neither a state nor a callback."""
    given = Given("Mechanism")
    given.number("t0", arguments["t0"])
    for key, kinds, expected in (
        ("redundant", str, "'error' or 'least'"),
        ("name", (str, type(None)), "text"),
        ("sparsity", (Mapping, type(None)), "a mapping of names to patterns"),
        ("reference", (Reference, type(None)), "a genalpha Reference or None"),
    ):
        if not isinstance(arguments[key], kinds):
            given.fault(key, arguments[key], expected)
    redundant, energy = arguments["redundant"], arguments["energy"]
    if isinstance(redundant, str) and redundant not in ("error", "least"):
        given.fault("redundant", redundant, "'error' or 'least'")
    if energy is not None and not callable(energy):
        given.fault("energy", energy, "a callable(t, q, v)")
    names = arguments["constraint_names"]
    if names is not None and not (
        isinstance(names, (list, tuple)) and all(isinstance(x, str) for x in names)
    ):
        given.fault("constraint_names", names, "a list of text, one for each constraint")
    return given.faults


def _is_matrix(value: Any) -> bool:
    try:
        return sparse.issparse(value) or (
            isinstance(value, (list, np.ndarray)) and np.ndim(value) == 2
        )
    except ValueError:  # rows of different lengths
        return False
