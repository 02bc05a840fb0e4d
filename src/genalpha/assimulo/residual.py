"""How genalpha calls an Assimulo problem: one residual F(t, y, yd) for every kind of problem.

Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from assimulo.problem import cExplicit_Problem
from scipy import sparse

from genalpha.errors import CallbackError, UnsupportedProblemError
from genalpha.kernels import snapshot
from genalpha.model.given import NO_NUMBERS, real, shown

Array = np.ndarray
Matrix = Any  # np.ndarray or a sparse array

#: There is one such object for all ordinary arrays: looking at it costs less than comparing.
DOUBLE = np.dtype(float)


class Residual:
    """The residual of an Assimulo problem and its Jacobian, with the switches taken care of.

    1. Callbacks are looked up at every call, so that a problem may replace them between events.
    2. They get copies of the solver's arrays; what they return is raveled into a new array.
    3. They get the switches if their signature has room for them; where there is no signature to
       read, if the problem has switches.
    4. An explicit problem is F = yd - rhs(t, y), with the Jacobian c I - jac(t, y).

    Parameters
    ----------
    problem : Implicit_Problem, Overdetermined_Problem or Explicit_Problem

    Attributes
    ----------
    switches : list of bool
        Handed to the callbacks; set it when an event changes them.
    calls : int
        How often `res` (or `rhs`) was called.
    matrix_calls : int
        How many of these were for matrices; whoever differences them counts.
    asks_jacobian : bool
        Whether `jac` may be asked what the residual is; not if the user switches it off.
    """

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.explicit = isinstance(problem, cExplicit_Problem)
        self.switches: list[bool] = [bool(x) for x in np.ravel(getattr(problem, "sw0", []))]
        self._signatures: dict[str, tuple[Any, bool]] = {}
        #: A `res` that is known to take no switches.
        self._simple: Any = self
        self.calls = self.matrix_calls = 0
        self.asks_jacobian = True

    def __call__(self, t: float, y: Array, yd: Array) -> Array:
        """Return F(t, y, yd); there may be more rows than unknowns."""
        return self.fresh(t, np.array(y, dtype=float), np.array(yd, dtype=float))

    def fresh(self, t: float, y: Array, yd: Array) -> Array:
        """Return F(t, y, yd), where y and yd are new arrays that the problem may keep."""
        self.calls += 1
        if self.explicit:
            return np.asarray(yd) - self._ravel("rhs", t, self._call("rhs", t, y))
        function = self.problem.res
        # a method is a new object at each access
        if function is self._simple or getattr(function, "__func__", None) is self._simple:
            value = function(t, y, yd)
        else:
            value = self._call("res", t, y, yd)
            code, takes_switches = self._signatures["res"]
            self._simple = self if takes_switches else code
        if type(value) is Array:
            vector = value
            if vector.ndim == 1 and vector.dtype is DOUBLE:
                return snapshot(vector)
        return self._ravel("res", t, value)

    @property
    def function(self) -> Any:
        """What is called, to be compared with what was called before."""
        function = getattr(self.problem, "rhs" if self.explicit else "res")
        return getattr(function, "__func__", function)  # a method is a new object at each access

    @property
    def has_jacobian(self) -> bool:
        """Whether the problem gives its own Jacobian, and wants it used."""
        return hasattr(self.problem, "jac") and bool(getattr(self.problem, "jac_use", True))

    def jacobian(self, c: float, t: float, y: Array, yd: Array) -> Matrix:
        """Return dF/dy + c dF/dyd, dense or sparse as the problem's `jac` is."""
        if not self.explicit:
            return _matrix(t, len(y), self._call("jac", c, t, np.array(y), np.array(yd)))
        jacobian = _matrix(t, len(y), self._call("jac", t, np.array(y)))
        if sparse.issparse(jacobian):
            return c * sparse.eye_array(len(y), format="csc") - jacobian
        return c * np.eye(len(y)) - jacobian

    def events(self, t: float, y: Array, yd: Array) -> Array:
        """Return the values of the problem's state events; Assimulo always hands them switches."""
        arguments = (np.array(y),) if self.explicit else (np.array(y), np.array(yd))
        return self._ravel(
            "state_events", t, self.problem.state_events(t, *arguments, self.switches)
        )

    def _call(self, name: str, *arguments: Any) -> Any:
        function = getattr(self.problem, name)
        code = getattr(function, "__func__", function)  # a method is a new object at each access
        known = self._signatures.get(name)
        if known is None or known[0] is not code:
            has = bool(self.switches) or hasattr(self.problem, "state_events")
            known = code, _takes_more(name, function, len(arguments), has)
            self._signatures[name] = known
        if known[1]:
            return function(*arguments, self.switches)
        return function(*arguments)

    @staticmethod
    def _ravel(name: str, t: float, value: Any) -> Array:
        if type(value) is Array and value.dtype == DOUBLE and value.ndim == 1:
            return value.copy()
        return _real(name, t, value).ravel()


def _real(name: str, t: float, value: Any) -> Array:
    try:
        return real(value)
    except NO_NUMBERS as error:
        raise CallbackError(
            f"{name} returned {shown(value)} at t = {t:.9g}; expected numbers ({error})"
        ) from error


def _matrix(t: float, size: int, value: Any) -> Matrix:
    """Return what `jac` has returned, as a matrix of floats with a column for every unknown."""
    if sparse.issparse(value):
        matrix = sparse.csc_array(value)
        matrix.data = _real("jac", t, matrix.data)
    else:
        matrix = np.atleast_2d(_real("jac", t, value))
    rows, columns = matrix.shape
    if columns != size or rows < size:  # overdetermined problems have more rows
        raise CallbackError(
            f"jac returned shape {matrix.shape} at t = {t:.9g}; expected {(size, size)}"
        )
    return matrix


def _takes_more(name: str, function: Callable[..., Any], count: int, otherwise: bool) -> bool:
    """Tell from the signature whether `function` takes the switches after `count` arguments."""
    known = _positional(function)
    if known is None:
        return otherwise
    places, required = known
    if required > count + 1:
        raise UnsupportedProblemError(
            f"{name} takes {required} arguments, {places}; expected {count}, or {count + 1} with "
            "switches (parameters for sensitivities are not supported)"
        )
    return required > count or (len(places) > count and otherwise)


def _positional(function: Callable[..., Any]) -> tuple[list[str], int] | None:
    """Return the names of positional arguments, and how many must be given; None if any number."""
    if type(function) is FunctionType and not vars(function):  # which is what it seems to be
        code = function.__code__
        if code.co_flags & inspect.CO_VARARGS:
            return None
        places = list(code.co_varnames[: code.co_argcount])
        return places, len(places) - len(function.__defaults__ or ())
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled functions
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    found = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [p.name for p in found], sum(p.default is p.empty for p in found)
