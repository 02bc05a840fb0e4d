"""The solver classes: every scheme as a class of Assimulo's, made from what the scheme declares."""

from __future__ import annotations

from typing import Any

from genalpha.assimulo.base import GenAlphaSolver
from genalpha.assimulo.option import with_options
from genalpha.assimulo.solver_options import ASSIMULO
from genalpha.driver.options import RESULT, options_of
from genalpha.schemes import SCHEMES, Scheme

_DOC = """{doc}

{paper}; as an Assimulo solver.

Parameters
----------
problem : Implicit_Problem, Overdetermined_Problem or Explicit_Problem
    Made by ``Mechanism.problem``, or any other whose equations are those of a mechanism; see
    `genalpha.assimulo.mechanism_from_problem`. The mu of "ggl2" is ignored and reported as 0.

Notes
-----
It is called as any solver of Assimulo. Options are properties: {options}.
"""


def solver_class(scheme: type[Scheme]) -> type[GenAlphaSolver]:
    """Return the solver class of a scheme."""
    declared = (*options_of(scheme), *RESULT, *ASSIMULO)
    names = ", ".join(f"`{option.name}`" for option in declared)
    doc = _DOC.format(doc=scheme.doc, paper=scheme.paper, options=names)
    body = {"__doc__": doc, "__module__": __name__, "scheme": scheme.name}
    return with_options(declared)(type(scheme.name, (GenAlphaSolver,), body))


def __getattr__(name: str) -> Any:
    """Make the class of a scheme when it is first asked for (PEP 562)."""
    if name not in SCHEMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = solver_class(SCHEMES[name])
    return globals()[name]
