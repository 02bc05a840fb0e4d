"""The schemes, one file each: its equations, its paper, nothing else.

`SCHEMES` is the one list of them; drivers, tests and comparisons draw on it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from genalpha.errors import UnsupportedProblemError
from genalpha.model import Mechanism
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.local_error import MeanHistory, VelocityHistory
from genalpha.schemes import hhti2, hhti2_nonholonomic, i3, soi2
from genalpha.schemes.settings import Scheme, Settings

__all__ = ["SCHEMES", "Scheme", "Settings", "choose"]

#: Damping that suits most mechanisms: little at low frequencies, enough for multipliers.
DEFAULT_RHO_INF = 0.8
DEFAULT_ALPHA = -0.1

_I3 = Scheme(
    "GenAlphaI3",
    cache(lambda: Coefficients.chung_hulbert(DEFAULT_RHO_INF)),
    i3.begin,
    i3.shifted,
    i3.I3,
    i3.report,
    i3.errors,
    MeanHistory,
    i3.faults,
)
_SOI2 = Scheme(
    "GenAlphaSOI2",
    cache(lambda: Coefficients.chung_hulbert(DEFAULT_RHO_INF)),
    soi2.begin,
    soi2.shifted,
    soi2.SOI2,
    soi2.report,
    soi2.errors,
    lambda c, t, v, vdot: VelocityHistory(t, v, vdot),
    soi2.faults,
)
_HHTI2 = Scheme(
    "HHTI2",
    cache(lambda: Coefficients.hht(DEFAULT_ALPHA)),
    hhti2.begin,
    hhti2.shifted,
    hhti2.HHTI2,
    hhti2.report,
    hhti2.errors,
    lambda c, t, v, vdot: VelocityHistory(t, v, vdot),
    hhti2.faults,
)
_HHTI2_NONHOLONOMIC = replace(
    _HHTI2,
    begin=hhti2_nonholonomic.begin,
    step=hhti2_nonholonomic.Nonholonomic,
    report=hhti2_nonholonomic.report,
)

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (_I3, _SOI2, _HHTI2)}


def choose(name: str, mechanism: Mechanism) -> Scheme:
    """Return the scheme of that name, in the form that fits the mechanism's constraints."""
    if name == "HHTI2" and mechanism.n_psi:
        if mechanism.n_lam:
            raise UnsupportedProblemError(
                f"{mechanism.name}: HHTI2 takes holonomic or nonholonomic constraints, not both "
                "at once; GenAlphaSOI2 takes both"
            )
        return _HHTI2_NONHOLONOMIC
    return SCHEMES[name]
