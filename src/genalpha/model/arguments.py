"""What may be given to a `Mechanism`, and what is wrong with what is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.model.c_functions import CFunction
from genalpha.model.given import NO_NUMBERS, Given, real, takes, wrong_call
from genalpha.model.reference import Reference
from genalpha.model.table import MATRICES, TABLE, Callback


def faults_of_values(
    arguments: dict[str, Any],
    callbacks: dict[str, Callable[..., Any]],
    table: Mapping[str, Callback] = TABLE,
    ours: bool = False,
) -> list[str]:
    """List everything that is wrong with the arguments before any callback is called.

    Callbacks that are `ours` take what they are called with.
    """
    faults = []
    shapes = []
    driven = table is not TABLE
    for key in ("q0", "v0", *(["z0"] if driven else [])):
        try:
            value = real(arguments[key])
        except NO_NUMBERS as error:
            faults.append(f"{key} is {arguments[key]!r:.60}; expected numbers ({error})")
            continue
        if key != "z0":
            shapes.append(value.shape)
        if value.ndim != 1 or value.size == 0:
            length = "s" if key == "z0" else "n"
            faults.append(f"{key} has shape {value.shape}; expected a vector ({length},)")
        elif not np.isfinite(value).all():
            i = int(np.flatnonzero(~np.isfinite(value))[0])
            faults.append(f"{key}[{i}] is {value[i]}; all values must be finite")
    if len(shapes) == 2 and shapes[0] != shapes[1]:
        faults.append(f"q0 has shape {shapes[0]} and v0 {shapes[1]}; they must be equal")
    faults += _faults_of_extras(arguments)
    needed = {key: arguments[key] for key in ("force", *(["state_rate"] if driven else []))}
    for key, value in {**needed, **callbacks}.items():
        matrix = table[key].is_matrix
        if not callable(value) and not (matrix and _is_matrix(value)):
            kind = "a callable or a constant matrix" if matrix else "a callable"
            faults.append(f"{key} is {value!r:.60}; expected {kind}")
    for key, value in {"mass": arguments["mass"], **needed, **callbacks}.items():
        names = table[key].arguments.split()
        if not ours and callable(value) and not takes(value, len(names)):
            faults.append(wrong_call(key, value, ", ".join(names)))
    for key in callbacks:
        other = table[key].needs
        if other and other not in callbacks and other not in needed:
            faults.append(f"{key} is given but {other} is not")
    faults += _faults_of_states(arguments, driven)
    known = MATRICES - {"damping"}  # whose pattern goes with that of the stiffness
    sparsity = arguments["sparsity"]
    for key in set(sparsity if isinstance(sparsity, Mapping) else {}) - known:
        faults.append(f"sparsity has the unknown key {key!r}; expected some of {sorted(known)}")
    return faults


def _faults_of_states(arguments: dict[str, Any], driven: bool) -> list[str]:
    """List what makes sense only with states, or does not with them."""
    own = ("state_rate", "state_rate_jacobian", "state_coupling", "nonholonomic_state_jacobian")
    if not driven:
        given = [key for key in (*own, "state_names") if arguments[key] is not None]
        return [f"{key} is given but z0, the start of the states, is not" for key in given]
    return [
        f"{key} is a C function; a mechanism with states z takes Python functions only"
        for key, value in arguments.items()
        if isinstance(value, CFunction)
    ]


def _faults_of_extras(arguments: dict[str, Any]) -> list[str]:
    """List what is wrong with everything that is neither a state nor a callback."""
    given = Given("Mechanism")
    given.number("t0", arguments["t0"])
    quadratic = arguments["quadratic_velocity"]
    if not (isinstance(quadratic, bool) or (callable(quadratic) and takes(quadratic, 2))):
        given.fault("quadratic_velocity", quadratic, "True, False, or a function of (t, q)")
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
