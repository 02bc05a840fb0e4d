"""A start off the constraints, moved onto them: what `integrate(..., repair=True)` does."""

from __future__ import annotations

import warnings

import numpy as np

from genalpha.errors import InconsistentStartError, RepairedStartWarning
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import check_start, consistent_initial_values

Array = np.ndarray


def repaired(o: Mechanism) -> Mechanism:
    """Return the mechanism with the nearest consistent start, and warn of how far that is.

    Raises
    ------
    InconsistentStartError
        There is none near the start.
    """
    try:
        wide = o.widened
        check_start(wide, wide.t0, wide.q0, wide.v0)
    except InconsistentStartError:
        start = consistent_initial_values(o)
        moves = [
            _moved(o, "position", o.q0, start.q),
            _moved(o, "velocity", o.v0, start.v),
        ]
        warnings.warn(
            f"{o.name}: the start is off the constraints and was moved onto them: "
            + "; ".join(moves),
            RepairedStartWarning,
            stacklevel=3,
        )
        return o.replace(q0=start.q, v0=start.v)
    return o


def _moved(o: Mechanism, what: str, before: Array, after: Array) -> str:
    distance = np.abs(after - before)
    i = int(np.argmax(distance))
    if not distance[i]:
        return f"the {what} stays"
    return (
        f"the {what} by at most {distance[i]:.3e} ({o.coordinate_names[i]}: "
        f"{before[i]:.9g} becomes {after[i]:.9g})"
    )
