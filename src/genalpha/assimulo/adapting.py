"""A mechanism as a solver's options want it: with or without the user's derivatives."""

from __future__ import annotations

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
    dropped = mechanism.given & (FOR_NEWTON | JACOBIANS if plain else FOR_NEWTON)
    if mechanism.whole is not None:
        dropped &= FOR_NEWTON  # the others are not from `jac`
    if not dropped:
        return mechanism
    changed = mechanism.replace(**dict.fromkeys(dropped))
    changed.whole = mechanism.whole
    return changed
