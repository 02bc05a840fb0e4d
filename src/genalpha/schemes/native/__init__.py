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
    fits = newton.mode == "auto" and method in DENSE
    if not fits or (size > LARGEST and method == "auto"):
        return None
    wanted = [*ALWAYS]
    wanted += [*HOLONOMIC, *more] if o.n_lam else []
    wanted += NONHOLONOMIC if o.n_psi else []
    wanted += TANGENT if o.given.intersection(TANGENT) else []
    found = _all_in_c(o, wanted)
    if found is None:
        return None
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)(scheme, found, count)


def native_accelerations(o: Any, rows: np.ndarray) -> np.ndarray | None:
    """Return accelerations of steps (t, q, v, a, lam, psi) by machine code; None if it cannot."""
    found = _reports(o)
    return None if found is None else found.of_steps(rows)


def native_states(
    o: Any, times: np.ndarray, q: np.ndarray, v: np.ndarray, close: np.ndarray | None = None
) -> np.ndarray | None:
    """Return (vdot, lam, psi) of many states by machine code, shape (s, n + m + l).

    None if it cannot, or not for all of them. If it is told what is `close`, it puts q and v, which
    it overwrites, onto the constraints; see `genalpha.schemes.native.reports`.
    """
    found = _reports(o, close is not None) if o.redundant == "error" else None
    return None if found is None else found.of_states(times, q, v, close)


def _reports(o: Any, projects: bool = False) -> Any:
    """Return what works out accelerations in machine code; None if it cannot."""
    wanted = [*ALWAYS]
    wanted += ["holonomic_jacobian", "holonomic_acceleration"] if o.n_lam else []
    wanted += ["nonholonomic_jacobian", "nonholonomic_acceleration"] if o.n_psi else []
    if projects:
        wanted += ["holonomic", "holonomic_rate"] if o.n_lam else []
        wanted += ["nonholonomic"] if o.n_psi else []
    found = _all_in_c(o, wanted)
    if found is None:
        return None
    return importlib.import_module(f"{__name__}.reports").Reports(o, found)


def _all_in_c(o: Any, names: list[str]) -> dict[str, Any] | None:
    """Return callbacks by name, if all of them are C functions or constant matrices."""
    if not COMPILED or o.whole is not None or not o.is_ideal or o.is_sparse:
        return None
    found = {}
    for key in names:
        found[key] = _in_c(getattr(o, key))
        if found[key] is None:
            return None
    return found


def _in_c(function: Any) -> Any:
    """Return a callback that needs no Python, as it is or as a constant matrix; None for others."""
    if isinstance(function, Native):
        return function
    return np.asarray(function.matrix) if isinstance(function, Constant) else None
