"""One option of a solver: a property, an entry of ``options``, and a ``_set_`` method, in step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genalpha.errors import InvalidOptionError

Array = np.ndarray
#: Returns the clean value of what a user gave, or raises a ValueError that says what is expected.
Check = Callable[[Any, Any], Any]


class Option:
    """A property of a solver that is kept in ``solver.options`` under its own name.

    Scripts set options as ``solver.rtol = x``, as ``solver.options["rtol"] = x`` or as
    ``solver._set_rtol(x)``. The first and the last are checked at once; the second is checked
    when the integration starts.

    Parameters
    ----------
    default
        A value, or a callable that finds it for a solver.
    check : callable(solver, value) -> clean value
    doc : str
        Default, range, when to change it.
    method : str, optional
        The name behind ``_set_`` and ``_get_`` in Assimulo's own classes, where it is another.
    excludes : str, optional
        The option that this one replaces: it becomes None.
    """

    name = ""

    def __init__(
        self, default: Any, check: Check, doc: str, method: str = "", excludes: str = ""
    ) -> None:
        self.default, self.check, self.excludes = default, check, excludes
        self.__doc__, self._method = doc, method

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        for method in {name, self._method or name}:
            setattr(owner, f"_get_{method}", lambda solver: self.__get__(solver))
            setattr(owner, f"_set_{method}", lambda solver, value: self.__set__(solver, value))

    def __get__(self, solver: Any, owner: type | None = None) -> Any:
        return self if solver is None else solver.options[self.name]

    def __set__(self, solver: Any, value: Any) -> None:
        try:
            clean = self.check(solver, value)
        except ValueError as error:
            raise InvalidOptionError(type(solver).__name__, [self._fault(value, error)]) from None
        solver.options[self.name] = clean
        if self.excludes and clean is not None:
            solver.options[self.excludes] = None

    def _fault(self, value: Any, error: ValueError) -> str:
        return f"{self.name} is {value!r}; expected {error}"

    def fault(self, solver: Any) -> str | None:
        """Tell what is wrong with the value that ``options`` holds, if anything is."""
        value = solver.options.get(self.name, self)
        if value is self:
            return f"{self.name} was removed from options"
        if value is None and self.excludes and solver.options.get(self.excludes) is not None:
            return None
        try:
            self.check(solver, value)
        except ValueError as error:
            return self._fault(value, error)
        return None

    def set_default(self, solver: Any) -> None:
        """Enter the default."""
        solver.options[self.name] = self.default(solver) if callable(self.default) else self.default


def options_of(solver_class: type) -> dict[str, Option]:
    """Return all options of a class by their names."""
    names = [name for klass in reversed(solver_class.__mro__) for name in vars(klass)]
    found = {name: getattr(solver_class, name) for name in names if name.isidentifier()}
    return {name: value for name, value in found.items() if isinstance(value, Option)}


def number(expected: str, allowed: Callable[[float], bool], optional: bool = False) -> Check:
    """Check one number, which may be None if it is optional."""

    def check(solver: Any, value: Any) -> float | None:
        if value is None and optional:
            return None
        try:
            x = float(np.asarray(value, dtype=float).reshape(()))
        except (TypeError, ValueError):
            raise ValueError(expected) from None
        if not allowed(x):
            raise ValueError(expected)
        return x

    return check


def integer(expected: str, allowed: Callable[[int], bool]) -> Check:
    """Check a whole number; 10.0 counts as one, True does not."""

    def check(solver: Any, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) or not isinstance(
            value, (int, float, np.integer, np.floating)
        ):
            raise ValueError(expected)
        if not float(value).is_integer() or not allowed(int(value)):
            raise ValueError(expected)
        return int(value)

    return check


def vector(expected: str, allowed: Callable[[Array], bool]) -> Check:
    """Check a vector of the size of y; one number stands for all."""

    def check(solver: Any, value: Any) -> Array:
        expected_sizes = f"{expected}, 1 or {solver._leny} of them"
        try:
            x = np.array(value, dtype=float).ravel()
        except (TypeError, ValueError):
            raise ValueError(expected_sizes) from None
        if x.size not in (1, solver._leny) or not allowed(x):
            raise ValueError(expected_sizes)
        return np.full(solver._leny, x[0]) if x.size == 1 else x

    return check


def choice(*values: str) -> Check:
    """Check one of several words."""

    def check(solver: Any, value: Any) -> str:
        if not isinstance(value, str) or value not in values:
            raise ValueError(f"one of {list(values)}")
        return value

    return check


def flag(solver: Any, value: Any) -> bool:
    """Check True or False; numbers 0 and 1 count as well."""
    if isinstance(value, (bool, int, float, np.bool_, np.number)) and value in (0, 1):
        return bool(value)
    raise ValueError("True or False")
