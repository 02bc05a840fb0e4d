"""What is known of a mechanism's true motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
KnownArray = Any  # an array; None where a reference does not know it


class Motion(NamedTuple):
    """Everything about a motion at one instant; in a `Reference`, what is not known is None."""

    q: KnownArray
    v: KnownArray
    vdot: KnownArray
    lam: KnownArray
    psi: KnownArray


class DrivenMotion(NamedTuple):
    """The same of a mechanism with first-order states z."""

    q: KnownArray
    v: KnownArray
    vdot: KnownArray
    lam: KnownArray
    psi: KnownArray
    z: KnownArray
    zdot: KnownArray


@dataclass(frozen=True)
class Reference:
    """An exact, published or carefully computed solution.

    Parameters
    ----------
    source : str
        Where it comes from: the paper and equation, or how it was computed.
    motion : callable(t) -> Motion
        The solution at time `t`; of a mechanism with states a `DrivenMotion`.
    digits : float
        How many digits can be trusted.
    times : (k,) array, optional
        The only times at which it is known; None (default): at any time.
    """

    source: str
    motion: Callable[[float], Any]
    digits: float
    times: Array | None = None
