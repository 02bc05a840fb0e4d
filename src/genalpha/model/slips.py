"""Common slips in a mechanism: found when it is made or asked for, with what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.errors import CallbackError, InvalidOptionError, UnsupportedProblemError

#: Entries of a mass matrix may differ from those across the diagonal by this share of the largest.
ASYMMETRY = 1e-8


class NoEnergy:
    """Stands in for an energy that was not given: false, and says so when it is called."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __bool__(self) -> bool:
        return False

    def __call__(self, t: Any, q: Any, v: Any) -> float:
        """Say that there is none."""
        raise UnsupportedProblemError(
            f"{self.name}: no energy is known; give it to the mechanism: "
            "Mechanism(..., energy=lambda t, q, v: ...), or mechanism.replace(energy=...)"
        )


def call_first(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a callback; one that writes into its arguments, which are read-only, is named."""
    try:
        return function(*arguments)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise CallbackError(
            f"{name} changes its arguments, which belong to the solver and are read-only: let it "
            "work on copies, for example q = q.copy() in its first line"
        ) from error


def check_symmetry(mass: Any) -> None:
    """Refuse a mass matrix that is not symmetric: it is a matrix with a slip in it."""
    apart = abs(mass - mass.T)
    largest = float(abs(mass).max())
    if not float(apart.max()) > ASYMMETRY * largest:
        return
    apart = apart.toarray() if sparse.issparse(apart) else apart
    i, j = (int(k) for k in np.unravel_index(np.argmax(apart), apart.shape))
    raise InvalidOptionError(
        "Mechanism",
        [
            f"mass[{i}, {j}] = {mass[i, j]:.6g} and mass[{j}, {i}] = {mass[j, i]:.6g}; expected a "
            "symmetric matrix, the second derivative of the kinetic energy. If rows of the "
            "equations of motion were scaled, undo that"
        ],
    )
