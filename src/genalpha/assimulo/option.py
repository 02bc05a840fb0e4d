"""Declared options as properties of a solver, in step with ``options`` and ``_set_`` methods.

Scripts set options as ``solver.rtol = x``, as ``solver.options["rtol"] = x`` or as
``solver._set_rtol(x)``. The first and the last are checked at once; the second is checked when the
integration starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from genalpha.errors import InvalidOptionError
from genalpha.options import Option

#: Kinds of values that stay what they are.
FIXED = (float, int, str, bool, type(None))


def key(option: Option) -> str:
    """Return the name of an option in ``solver.options``: Assimulo's, if that is another."""
    return option.alias or option.name


class OptionProperty:
    """A property of a solver that is kept in ``solver.options``."""

    def __init__(self, option: Option, others: tuple[str, ...]) -> None:
        self.option, self._key, self._others = option, key(option), others
        self.__doc__ = option.doc

    def __get__(self, solver: Any, owner: type | None = None) -> Any:
        return self if solver is None else solver.options[self._key]

    def __set__(self, solver: Any, value: Any) -> None:
        try:
            clean = self.option.clean(value, solver)
        except ValueError as error:
            raise InvalidOptionError(type(solver).__name__, [str(error)]) from None
        solver.options[self._key] = clean
        if clean is not None:
            solver.options.update(dict.fromkeys(self._others))


C = TypeVar("C", bound=type)


def with_options(declared: tuple[Option, ...]) -> Callable[[C], C]:
    """Give a class declared options: properties, and methods for scripts (a class decorator)."""
    keys = {option.name: key(option) for option in declared}

    def decorate(kind: C) -> C:
        setattr(kind, "declared", declared)  # noqa: B010 - which mypy cannot know
        for option in declared:
            others = tuple(keys[name] for name in option.excludes if name in keys)
            way = OptionProperty(option, others)
            for name in option.names:
                setattr(kind, name, way)
            for name in {*option.names, option.setter or option.name}:
                setattr(kind, f"_get_{name}", lambda solver, way=way: way.__get__(solver))
                setattr(kind, f"_set_{name}", lambda solver, x, way=way: way.__set__(solver, x))
        return kind

    return decorate


class HasOptions:
    """A solver with declared options; ``solver.options`` holds their values.

    A single bad value is refused when it is set. All of them, and those that do not go together,
    are checked once more when an integration starts, and all faults come in one error.
    """

    declared: tuple[Option, ...] = ()
    options: dict[str, Any]
    _leny: int

    @property
    def size(self) -> int:
        """The number of unknowns, for options that have one value for each."""
        return self._leny

    def _set_defaults(self) -> None:
        for option in self.declared:
            self.options[key(option)] = option.default_for(self)
        self._known = frozenset(self.options)
        #: Defaults that nobody can change from within.
        self._fixed = {k: x for k, x in self.options.items() if isinstance(x, FIXED)}

    def _values(self, wanted: tuple[Option, ...]) -> dict[str, Any]:
        """Return the present values of some options by name, without those that are None."""
        found = {option.name: self.options.get(key(option)) for option in wanted}
        return {name: value for name, value in found.items() if value is not None}

    def _in_short(self, name: str) -> Any:
        """Return the values of an option for printing: one number where all are the same."""
        values = np.unique(self.options[name])
        return values[0] if values.size == 1 else self.options[name]

    def _faults(self, foreign: frozenset[str] = frozenset()) -> list[str]:
        """List what is wrong with the options one by one; `foreign` ones are nobody's business."""
        faults = []
        given = {key(x) for x in self.declared if self.options.get(key(x)) is not None}
        for option in self.declared:
            if key(option) not in self.options:
                faults.append(f"{key(option)} was removed from options")
                continue
            value = self.options[key(option)]
            if value is None and not given.isdisjoint(option.excludes):
                continue
            if value is self._fixed.get(key(option), self):  # the default
                continue
            try:
                option.clean(value, self)
            except ValueError as error:
                faults.append(str(error))
        for name in sorted(set(self.options) - self._known - foreign):
            faults.append(f"options[{name!r}] is no option of {type(self).__name__}")
        return faults
