"""Options: what a user may choose, declared once by the part that uses it.

An `Option` has a name, a default, a `Kind` that says what it may be, and words about when to change
it. `integrate` checks its arguments by it, the Assimulo classes make a property of it, the
documentation a row of a table, the tests their cases. What nobody has declared is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray

#: What the compiled parts can hold, and a float exactly.
LARGEST_INTEGER = 2.0**53


class Kind:
    """What an option may be.

    `owner` is whoever has the option; the number of its unknowns is its attribute ``size``.
    """

    def expected(self, owner: Any) -> str:
        """Say what is expected, for example "a positive number"."""
        raise NotImplementedError

    def clean(self, value: Any, owner: Any) -> Any:
        """Return the value as it will be used, or raise a TypeError or ValueError."""
        raise NotImplementedError

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """Return some values that are allowed and some that are not, for tests."""
        raise NotImplementedError


@dataclass(frozen=True)
class Number(Kind):
    """A number in an interval, which includes its finite ends unless it is `open`."""

    low: float = -np.inf
    high: float = np.inf
    open: bool = False
    without: float | None = None
    infinite: bool = False
    optional: bool = False

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        bounds = ("(", ")") if self.open else ("[", "]")
        if np.isfinite([self.low, self.high]).all():
            text = f"a number in {bounds[0]}{self.low:.3g}, {self.high:.3g}{bounds[1]}"
        elif np.isfinite(self.low):
            text = f"a number {'>' if self.open else '>='} {self.low:g}"
        else:
            text = "a finite number"
        if self.without is not None:
            text += f" other than {self.without:g}"
        return text + " or None" * self.optional

    def clean(self, value: Any, owner: Any) -> float | None:
        """See `Kind`."""
        if value is None and self.optional:
            return None
        x = float(_real(value, float).reshape(()))
        inside = self.low < x < self.high if self.open else self.low <= x <= self.high
        if not inside or x == self.without or not (np.isfinite(x) or self.infinite):
            raise ValueError
        return x

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        low, high = self.low, self.high
        low = low if np.isfinite(low) else min(-1.0, high - 2.0)
        high = high if np.isfinite(high) else low + 2.0
        bad = [np.nan, "much", [1.0, 2.0], 1j, self.without, None]
        outside = [x for x in (self.low - 0.5, self.high + 0.5) if np.isfinite(x)]
        allowed = (None,) if self.optional else ()
        good = [low + share * (high - low) for share in (0.3, 0.7)]
        return [*good, *allowed], [x for x in (*bad, *outside) if x not in (*allowed, None)]


@dataclass(frozen=True)
class Numbers(Kind):
    """One number for several things, or a mapping of some of their names to numbers, or None."""

    names: tuple[str, ...]
    number: Number

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        one = self.number.expected(owner)
        return f"{one} or a dict of such for some of {', '.join(map(repr, self.names))}, or None"

    def clean(self, value: Any, owner: Any) -> dict[str, float] | None:
        """See `Kind`."""
        if value is None:
            return None
        given = value if isinstance(value, Mapping) else dict.fromkeys(self.names, value)
        if not given or not set(given) <= set(self.names):
            raise ValueError
        return {name: self.number.clean(x, owner) for name, x in given.items()}  # type: ignore[misc]

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        good, bad = self.number.examples(owner)
        first = self.names[0]
        return [*good, {first: good[0]}, None], [*bad, {}, {"other": good[0]}, {first: bad[0]}]


@dataclass(frozen=True)
class Integer(Kind):
    """A whole number; 1e6 counts as one, True does not."""

    low: int
    high: float = np.inf

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        if np.isfinite(self.high):
            return f"a whole number from {self.low} to {self.high:g}"
        return f"a whole number >= {self.low} (and at most {LARGEST_INTEGER:g})"

    def clean(self, value: Any, owner: Any) -> int:
        """See `Kind`."""
        x = float(_real(value, float).reshape(()))
        if not x.is_integer() or not self.low <= x <= min(self.high, LARGEST_INTEGER):
            raise ValueError
        return int(x)

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        return [self.low + 1, float(self.low + 2)], [self.low - 1, 2.5, "many", True, None]


@dataclass(frozen=True)
class Vector(Kind):
    """One number, or one for each unknown; from `low` on, or one of some `values`."""

    low: float = 0.0
    open: bool = False
    values: tuple[float, ...] = ()

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        sign = ">" if self.open else ">="
        what = " or ".join(f"{x:g}" for x in self.values) or f"numbers {sign} {self.low:g}"
        return f"{what}, 1 or {owner.size} of them"

    def clean(self, value: Any, owner: Any) -> Array:
        """See `Kind`."""
        x = _real(value, float).ravel()
        allowed = np.isin(x, self.values) if self.values else np.isfinite(x) & (x >= self.low)
        if x.size not in (1, owner.size) or not allowed.all() or (self.open and self.low in x):
            raise ValueError
        return np.full(owner.size, x[0]) if x.size == 1 else x

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        one = self.values[0] if self.values else self.low + 1e-3
        return [one, np.full(owner.size, one)], [np.full(owner.size + 1, one), -7.0, "x", np.nan]


@dataclass(frozen=True)
class Choice(Kind):
    """One of several words; with `any_case`, DENSE is as good as dense."""

    values: tuple[str, ...]
    any_case: bool = False

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        return f"one of {', '.join(map(repr, self.values))}"

    def clean(self, value: Any, owner: Any) -> str:
        """See `Kind`."""
        if not isinstance(value, str):
            raise TypeError
        if (value.lower() if self.any_case else value) not in self.values:
            raise ValueError
        return value

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        return list(self.values), ["no such word", 3, None]


@dataclass(frozen=True)
class Flag(Kind):
    """True or False; the numbers 0 and 1 count as well."""

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        return "True or False"

    def clean(self, value: Any, owner: Any) -> bool:
        """See `Kind`."""
        if not isinstance(value, (bool, int, float, np.bool_, np.number)) or value not in (0, 1):
            raise ValueError
        return bool(value)

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        return [True, False], ["yes", 3, None]


@dataclass(frozen=True)
class Instance(Kind):
    """An object of a class, or None; `made` is one, for tests."""

    kind: type
    made: Any

    def expected(self, owner: Any) -> str:
        """See `Kind`."""
        return f"a genalpha.{self.kind.__name__} object or None"

    def clean(self, value: Any, owner: Any) -> Any:
        """See `Kind`."""
        if value is not None and not isinstance(value, self.kind):
            raise TypeError
        return value

    def examples(self, owner: Any) -> tuple[list[Any], list[Any]]:
        """See `Kind`."""
        return [self.made], [0.3, "x"]


def _real(value: Any, kind: type) -> Array:
    """Return numbers, or raise an error for what only looks like them."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or np.ma.is_masked(value):
        raise TypeError
    return array.astype(kind)


@dataclass(frozen=True)
class Option:
    """One thing that a user may choose.

    Attributes
    ----------
    name : str
    default
        A value, or a callable that finds it for whoever has the option.
    kind : Kind
        What it may be.
    doc : str
        What it does, its default, when to change it.
    alias : str
        Its name in Assimulo's own classes, where that is another.
    setter : str
        The name behind ``_set_`` and ``_get_`` there, where that is another still.
    excludes : tuple of str
        Options that this one replaces: of all of them, one is given at most.
    """

    name: str
    default: Any
    kind: Kind
    doc: str
    alias: str = ""
    setter: str = ""
    excludes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which it may be set."""
        return (self.name, self.alias) if self.alias else (self.name,)

    def default_for(self, owner: Any) -> Any:
        """Return the default."""
        return self.default(owner) if callable(self.default) else self.default

    def clean(self, value: Any, owner: Any) -> Any:
        """Return the value as it will be used.

        Raises
        ------
        ValueError
            Its text names the option, the value and what was expected.
        """
        try:
            return self.kind.clean(value, owner)
        except (TypeError, ValueError, OverflowError):
            expected = self.kind.expected(owner)
            raise ValueError(f"{self.name} = {value!r:.80}; expected {expected}") from None


class Declared:
    """Options that belong together, sorted by what is done with them.

    Parameters
    ----------
    options : iterable of Option

    Attributes
    ----------
    all : tuple of Option
    by_name : dict
        The same by all their names.
    defaults : dict
        Those that do not depend on who has the option, by name.
    found : tuple of Option
        Whose defaults do.
    exclusive : tuple of Option
        That replace others.
    """

    def __init__(self, options: Iterable[Option]) -> None:
        self.all = tuple(options)
        self.by_name = {name: option for option in self.all for name in option.names}
        self.defaults = {x.name: x.default for x in self.all if not callable(x.default)}
        self.found = tuple(x for x in self.all if callable(x.default))
        self.exclusive = tuple(x for x in self.all if x.excludes)


class Choices:
    """Values of declared options, as attributes.

    Parameters
    ----------
    declared : iterable of Option, or Declared
    given : mapping
        What the user has given, by name or alias.
    owner
        For checks and defaults, see `Kind`.
    what : str
        Whose options they are, for messages.

    Attributes
    ----------
    faults : list of str
        What is wrong: names that nobody has declared, values, options that exclude each other.
        Unless it is empty, the values mean nothing.
    """

    def __init__(
        self,
        declared: Iterable[Option] | Declared,
        given: Mapping[str, Any],
        owner: Any,
        what: str,
    ) -> None:
        declared = declared if isinstance(declared, Declared) else Declared(declared)
        options = declared.by_name
        self.faults = [_unknown(x, options, what) for x in given if x not in options]
        values = {options[x].name: value for x, value in given.items() if x in options}
        self.__dict__.update(declared.defaults)
        for option in declared.found:
            if option.name not in values:
                self.__dict__[option.name] = option.default_for(owner)
        for option in declared.exclusive if not values else declared.all:
            if option.name in values or option.excludes:
                self._choose(option, values, owner)

    def _choose(self, option: Option, given: Mapping[str, Any], owner: Any) -> None:
        """Set one option: as given, or to its default, or to None where another replaces it."""
        others = [name for name in option.excludes if given.get(name) is not None]
        value = given.get(option.name)
        if value is None and (others or option.name not in given):
            self.__dict__[option.name] = None if others else option.default_for(owner)
            return
        if others:
            fault = f"{' and '.join(sorted([option.name, *others]))} are given; give one of them"
            self.faults += [fault] * (fault not in self.faults)
        try:
            self.__dict__[option.name] = option.clean(value, owner)
        except ValueError as error:
            self.faults.append(str(error))

    def __getattr__(self, name: str) -> Any:
        # values are ordinary attributes; this is for those that do not exist, and for mypy
        raise AttributeError(f"there is no option {name!r} here")


def _unknown(name: str, options: Mapping[str, Option], what: str) -> str:
    near = difflib.get_close_matches(name, options, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown option {name!r}; {hint}{what} has {', '.join(sorted(options))}"
