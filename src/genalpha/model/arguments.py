"""What may be given to a `Mechanism`, and what is wrong with what is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.model.callbacks import real
from genalpha.model.table import MATRICES, NEEDS


def faults_of_values(
    arguments: dict[str, Any], callbacks: dict[str, Callable[..., Any]]
) -> list[str]:
    """List everything that is wrong with the arguments before any callback is called."""
    faults = []
    shapes = []
    for key in ("q0", "v0"):
        try:
            value = real(arguments[key])
        except (TypeError, ValueError) as error:
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
    if not np.isfinite(arguments["t0"]):
        faults.append(f"t0 is {arguments['t0']!r}; it must be finite")
    for key, value in {"force": arguments["force"], **callbacks}.items():
        if not callable(value) and not (key in MATRICES and _is_matrix(value)):
            kind = "a callable or a constant matrix" if key in MATRICES else "a callable"
            faults.append(f"{key} is {value!r:.60}; expected {kind}")
    for key, other in NEEDS.items():
        if key in callbacks and other not in callbacks:
            faults.append(f"{key} is given but {other} is not")
    if arguments["redundant"] not in ("error", "least"):
        faults.append(f"redundant is {arguments['redundant']!r}; expected 'error' or 'least'")
    known = MATRICES - {"damping"}  # whose pattern goes with that of the stiffness
    for key in set(arguments["sparsity"] or {}) - known:
        faults.append(f"sparsity has the unknown key {key!r}; known are {sorted(known)}")
    return faults


def _is_matrix(value: Any) -> bool:
    return sparse.issparse(value) or (isinstance(value, (list, np.ndarray)) and np.ndim(value) == 2)
