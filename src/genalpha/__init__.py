"""Generalized-alpha solvers for constrained mechanical systems.

The public names are loaded when they are first used, so that ``import genalpha`` is quick and
needs neither Assimulo nor a plotting library. Only the solver classes need Assimulo.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from genalpha import imports  # noqa: F401 - before anything that may be compiled

if TYPE_CHECKING:  # for editors and type checkers; at run time names are loaded on first use
    from genalpha.assimulo import (
        HHTI2,
        GenAlphaI3,
        GenAlphaSOI2,
        StabilizedEuler,
        StabilizedRK2,
        register,
    )
    from genalpha.driver import Solution, Sweep, integrate, sweep
    from genalpha.model import Mechanism, Reference
    from genalpha.numerics.coefficients import Coefficients
    from genalpha.numerics.initial_values import consistent_initial_values
    from genalpha.stabilization.gains import Gains

__version__ = "0.1.0.dev0"

_HOME = {
    "Coefficients": "genalpha.numerics.coefficients",
    "Gains": "genalpha.stabilization.gains",
    "Mechanism": "genalpha.model",
    "Reference": "genalpha.model",
    "Solution": "genalpha.driver",
    "Sweep": "genalpha.driver",
    "consistent_initial_values": "genalpha.numerics.initial_values",
    "integrate": "genalpha.driver",
    "register": "genalpha.assimulo",
    "sweep": "genalpha.driver",
    "StabilizedEuler": "genalpha.assimulo",
    "StabilizedRK2": "genalpha.assimulo",
}
_NO_ASSIMULO = """\
genalpha.{name} needs Assimulo, which cannot be imported here. Get it with
    conda install -c conda-forge assimulo
or, with a C and a Fortran compiler, build it into this environment with
    python -m genalpha.build_assimulo
genalpha.integrate solves the same mechanisms without Assimulo."""

__all__ = [
    "HHTI2",
    "Coefficients",
    "Gains",
    "GenAlphaI3",
    "GenAlphaSOI2",
    "Mechanism",
    "Reference",
    "Solution",
    "StabilizedEuler",
    "StabilizedRK2",
    "Sweep",
    "__version__",
    "consistent_initial_values",
    "integrate",
    "register",
    "sweep",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module on first use (PEP 562)."""
    if name.startswith("__"):
        raise AttributeError(f"module 'genalpha' has no attribute {name!r}")
    home = _HOME.get(name) or _home_of_a_scheme(name)
    if home == "genalpha.assimulo":
        try:
            importlib.import_module("assimulo")
        except ImportError as error:
            raise ImportError(_NO_ASSIMULO.format(name=name), name="assimulo") from error
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def _home_of_a_scheme(name: str) -> str:
    """Return where the solver class of a scheme is; other names there are none."""
    if name not in importlib.import_module("genalpha.schemes").SCHEMES:
        raise AttributeError(f"module 'genalpha' has no attribute {name!r}")
    return "genalpha.assimulo"


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
