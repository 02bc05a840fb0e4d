"""Assimulo's side of genalpha: translation only, no mathematics.

- `problem`: a mechanism as an Assimulo problem, in any of seven formulations,
- `mechanism_from_problem`: the way back, from a plain Assimulo problem to a mechanism,
- `GenAlphaI3`, `GenAlphaSOI2`, `HHTI2`: the solver classes,
- `IDA`: scikit-sundae's IDA with the calls of Assimulo's own.
"""

from __future__ import annotations

import genalpha

try:
    import assimulo  # noqa: F401 - asked for here, so that every way in gives the same advice
except ImportError as error:
    raise ImportError(genalpha._NO_ASSIMULO.format(name="assimulo"), name="assimulo") from error

from genalpha.assimulo.formulations import FORMS, problem
from genalpha.assimulo.ida import IDA
from genalpha.assimulo.reading import Reading, mechanism_from_problem
from genalpha.assimulo.solvers import HHTI2, GenAlphaI3, GenAlphaSOI2
from genalpha.assimulo.stabilized import StabilizedMechanism
from genalpha.assimulo.stabilized_solvers import StabilizedEuler, StabilizedRK2
from genalpha.assimulo.sundae import IDAError

__all__ = [
    "FORMS",
    "HHTI2",
    "IDA",
    "GenAlphaI3",
    "GenAlphaSOI2",
    "IDAError",
    "Reading",
    "StabilizedEuler",
    "StabilizedMechanism",
    "StabilizedRK2",
    "mechanism_from_problem",
    "problem",
]
