"""What may be given to a `Mechanism`, and what is wrong with what is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.model.given import NO_NUMBERS, Given, takes
from genalpha.model.reference import Reference

#: Callbacks of (t, q, v).
OF_TQV = {
    "nonholonomic_jacobian",
    "nonholonomic_gradient",
    "holonomic_rate",
    "holonomic_acceleration",
    "nonholonomic_acceleration",
}
#: What callbacks take.
ARGUMENTS = {
    "force": "t q v",
    "mass": "t q",
    "holonomic": "t q",
    "holonomic_jacobian": "t q",
    "nonholonomic": "t q v",
    **dict.fromkeys(sorted(OF_TQV), "t q v"),
    "reaction": "t q v lam psi",
    "reaction_jacobian": "t q v lam psi",
    "stiffness": "t q v vdot lam psi",
    "damping": "t q v vdot lam psi",
}
#: All that may be left out.
OPTIONAL = OF_TQV | {
    "holonomic",
    "holonomic_jacobian",
    "nonholonomic",
    "reaction",
    "reaction_jacobian",
    "stiffness",
    "damping",
}
#: What makes sense only together with something else.
NEEDS = {
    "holonomic_jacobian": "holonomic",
    "holonomic_rate": "holonomic",
    "holonomic_acceleration": "holonomic",
    "nonholonomic_jacobian": "nonholonomic",
    "nonholonomic_gradient": "nonholonomic",
    "nonholonomic_acceleration": "nonholonomic",
    "reaction_jacobian": "reaction",
}
#: What may also be given as a constant matrix.
MATRICES = {
    "holonomic_jacobian",
    "nonholonomic_jacobian",
    "nonholonomic_gradient",
    "reaction_jacobian",
    "stiffness",
    "damping",
}


def faults_of_values(
    arguments: dict[str, Any], callbacks: dict[str, Callable[..., Any]]
) -> list[str]:
    """List everything that is wrong with the arguments before any callback is called."""
    faults = []
    shapes = []
    for key in ("q0", "v0"):
        try:
            value = np.asarray(arguments[key], dtype=float)
        except NO_NUMBERS:
            faults.append(f"{key} is {arguments[key]!r:.60}; expected numbers")
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
        names = ARGUMENTS[key].split()
        if callable(value) and not takes(value, len(names)):
            faults.append(f"{key} cannot be called with ({', '.join(names)}), as it must")
    for key, other in NEEDS.items():
        if key in callbacks and other not in callbacks:
            faults.append(f"{key} is given but {other} is not")
    known = {
        "stiffness",
        "holonomic_jacobian",
        "nonholonomic_jacobian",
        "nonholonomic_gradient",
        "reaction_jacobian",
    }
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
