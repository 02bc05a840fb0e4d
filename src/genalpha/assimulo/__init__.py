"""Assimulo's side of genalpha: translation only, no mathematics.

- `problem`: a mechanism as an Assimulo problem, in any of seven formulations,
- `mechanism_from_problem`: the way back, from a plain Assimulo problem to a mechanism,
- the solver classes, one for each scheme: `GenAlphaI3`, `GenAlphaSOI2`, `HHTI2`,
- `register`: these classes among Assimulo's own,
- `IDA`: scikit-sundae's IDA with the calls of Assimulo's own.
"""

from __future__ import annotations

from typing import Any

import genalpha

try:
    import assimulo  # noqa: F401 - asked for here, so that every way in gives the same advice
except ImportError as error:
    raise ImportError(genalpha._NO_ASSIMULO.format(name="assimulo"), name="assimulo") from error

from genalpha.assimulo import solvers
from genalpha.assimulo.formulations import FORMS, problem
from genalpha.assimulo.ida import IDA
from genalpha.assimulo.reading import Reading, mechanism_from_problem
from genalpha.assimulo.stabilized import StabilizedMechanism
from genalpha.assimulo.stabilized_solvers import StabilizedEuler, StabilizedRK2
from genalpha.assimulo.sundae import IDAError
from genalpha.schemes import SCHEMES

__all__ = [
    "FORMS",
    "IDA",
    "IDAError",
    "Reading",
    "StabilizedEuler",
    "StabilizedMechanism",
    "StabilizedRK2",
    "mechanism_from_problem",
    "problem",
    "register",
]


def register() -> None:
    """Put the solver classes into `assimulo.solvers`, for programs that look for a name there.

    After it ``from assimulo.solvers import GenAlphaSOI2`` works as for Assimulo's own classes. A
    name that Assimulo has itself stays as it is.
    """
    import assimulo.solvers as home

    for name in (*SCHEMES, "StabilizedEuler", "StabilizedRK2"):
        if not hasattr(home, name):
            setattr(home, name, getattr(genalpha, name))


def __getattr__(name: str) -> Any:
    """Return the solver class of a scheme (PEP 562)."""
    if name not in SCHEMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(solvers, name)


def __dir__() -> list[str]:
    """List the names, those of the solver classes included."""
    return sorted({*globals(), *SCHEMES})
