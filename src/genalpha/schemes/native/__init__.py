"""Schemes in machine code, for mechanisms whose callbacks are C functions: no Python, no GIL.

`genalpha.schemes` holds the same equations for all other mechanisms, and for all that happens
seldom: starts, changes of the step size, failures. The modules here take many equal steps in one
call.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from genalpha.imports import COMPILED
from genalpha.kernels import Native
from genalpha.model.callbacks import Constant

#: What is always evaluated; what else, if there are holonomic or nonholonomic constraints.
ALWAYS = ("mass", "force")
HOLONOMIC = ("holonomic", "holonomic_jacobian")
NONHOLONOMIC = ("nonholonomic", "nonholonomic_jacobian", "nonholonomic_gradient")
TANGENT = ("stiffness", "damping")
#: Unknowns of a system that dense matrices in machine code are still faster for than sparse ones.
LARGEST = 128
#: The methods of `genalpha.numerics.systems` that dense matrices are for.
DENSE = ("auto", "dense")


def native_steps(module: str, name: str, scheme: Any, count: int, *more: str) -> Any:
    """Return the steps of a scheme in machine code; None where there is no way to take them.

    Parameters
    ----------
    module, name : str
        Of the class, in this package.
    scheme : Scheme
    count : int
        The number of its unknowns.
    *more : str
        Callbacks that it needs if there are holonomic constraints.
    """
    o, newton = scheme.o, scheme.newton
    size, method = o.n_q + o.n_lam + o.n_psi, scheme.systems.method
    fits = COMPILED and o.whole is None and o.is_ideal and not o.is_sparse
    fits = fits and newton.mode == "auto" and method in DENSE
    if not fits or (size > LARGEST and method == "auto"):
        return None
    wanted = [*ALWAYS]
    wanted += [*HOLONOMIC, *more] if o.n_lam else []
    wanted += NONHOLONOMIC if o.n_psi else []
    wanted += TANGENT if o.given.intersection(TANGENT) else []
    found = {key: _in_c(getattr(o, key)) for key in wanted}
    if any(x is None for x in found.values()):
        return None
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)(scheme, found, count)


def _in_c(function: Any) -> Any:
    """Return a callback that needs no Python, as it is or as a constant matrix; None for others."""
    if isinstance(function, Native):
        return function
    return np.asarray(function.matrix) if isinstance(function, Constant) else None
