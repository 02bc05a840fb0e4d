"""A mechanism as a solver's options want it: without user's derivatives, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import sparse

from genalpha.model import Mechanism
from genalpha.model.table import FOR_NEWTON, JACOBIANS


def knows_derivatives(mechanism: Mechanism) -> bool:
    """Tell whether any of the derivatives for Newton's iteration are given."""
    return bool(mechanism.given & FOR_NEWTON)


def without_derivatives(mechanism: Mechanism, plain: bool) -> Mechanism:
    """Return the mechanism with differenced derivatives.

    Parameters
    ----------
    mechanism : Mechanism
    plain : bool
        Whether it was read from a plain problem, so that all derivatives come from its `jac`. Of
        the user's own mechanism the constraint Jacobians stay: they are part of the equations.
    """
    if mechanism.whole is not None:
        mechanism.whole.uses_jacobian = False
        return mechanism
    dropped = mechanism.given & (FOR_NEWTON | JACOBIANS if plain else FOR_NEWTON)
    return mechanism.replace(**dict.fromkeys(dropped)) if dropped else mechanism


def with_linear_solver(mechanism: Mechanism, kind: str) -> Mechanism:
    """Return the mechanism with matrices that are "DENSE" or "SPARSE"."""
    o = mechanism
    if o.whole is not None:
        o.whole.is_sparse = kind == "SPARSE"
        return o
    if o.is_sparse == (kind == "SPARSE"):
        return o
    if kind == "SPARSE":  # one sparse matrix makes all of them sparse
        return o.replace(mass=_changed_mass(o, sparse.csc_array))
    changes: dict[str, Any] = {
        key: _changed(getattr(o, key), _dense) for key in o.given & (FOR_NEWTON | JACOBIANS)
    }
    return o.replace(**changes, mass=_changed_mass(o, _dense), sparsity=None)


def _dense(matrix: Any) -> Any:
    return matrix.toarray()


def _changed(function: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *arguments: change(function(*arguments))


def _changed_mass(o: Mechanism, change: Callable[[Any], Any]) -> Any:
    return _changed(o.mass, change) if o.constant_mass is None else change(o.constant_mass)
