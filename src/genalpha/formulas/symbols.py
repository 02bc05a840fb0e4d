"""What the user wrote, read into plain symbols: time, coordinates, velocities, parameters.

Users write coordinates as functions of time (`sympy.physics.mechanics.dynamicsymbols`), because
their derivatives are velocities. Deriving and printing code is done with plain real symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from genalpha.model.given import Given

Expression = Any  # sympy.Expr


class Symbols:
    """Plain symbols for what a mechanism's formulas are about.

    Parameters
    ----------
    what : str
        Who asks, for messages.
    coordinates : sequence of functions of time
    parameters : mapping of symbol or name to number

    Attributes
    ----------
    t : Symbol
    q, v, vdot : list of n Symbol
    names : list of str
        Of the coordinates.
    parameters : dict of str to Symbol
    values : dict of str to float
    """

    def __init__(
        self,
        what: str,
        coordinates: Sequence[Any],
        parameters: Mapping[Any, Any],
    ) -> None:
        self.given = Given(what)
        self._time = self._read_coordinates(coordinates)
        self.names = [x.func.__name__ for x in coordinates]
        n = len(coordinates)
        self.t = sp.Symbol("t", real=True)
        self.q, self.v, self.vdot = (
            [sp.Symbol(f"{letter}[{i}]", real=True) for i in range(n)]
            for letter in ("q", "v", "vdot")
        )
        self._known: dict[Any, Any] = {self._time: self.t}
        for x, q, v, vdot in zip(coordinates, self.q, self.v, self.vdot, strict=True):
            self._known |= {x: q, x.diff(self._time): v, x.diff(self._time, 2): vdot}
        self._read_parameters(parameters)

    def _read_coordinates(self, coordinates: Sequence[Any]) -> Any:
        """Return the symbol of time, of which all coordinates must be functions."""
        times = set()
        for x in coordinates:
            if not isinstance(x, AppliedUndef) or len(x.args) != 1:
                expected = "functions of time, as sympy.physics.mechanics.dynamicsymbols makes them"
                self.given.fault("coordinates", x, expected)
            else:
                times.add(x.args[0])
        if len(times) > 1:
            self.given.fault("coordinates", coordinates, f"functions of one time, not of {times}")
        if not coordinates:
            self.given.fault("coordinates", coordinates, "at least one function of time")
        self.given.check()
        return times.pop()

    def _read_parameters(self, parameters: Mapping[Any, Any]) -> None:
        self.given.must_be(
            "parameters", parameters, Mapping, "a mapping of symbols or names to numbers"
        )
        self.values = {
            str(key): self.given.number(f"parameters[{key}]", x) for key, x in parameters.items()
        }
        self.given.check()
        self.parameters = {
            name: sp.Symbol(f"p[{i}]", real=True) for i, name in enumerate(self.values)
        }

    def read(self, name: str, given: Any, allowed: str = "t q v") -> Expression:
        """Return a formula in plain symbols; what is not known in it is a fault.

        Parameters
        ----------
        name : str
            For messages.
        given : expression, equation or number
        allowed : str
            What it may depend on, of t, q, v, vdot.
        """
        try:
            found = sp.sympify(given)
            if isinstance(found, sp.Equality):
                found = found.lhs - found.rhs
            found = found.doit().xreplace(self._known)
        except (sp.SympifyError, AttributeError, TypeError):
            self.given.fault(name, given, "a formula of SymPy")
            return sp.S.Zero
        by_name = {x: self.parameters[x.name] for x in found.free_symbols if x.name in self.values}
        found = found.xreplace(by_name)
        self._check(name, given, found, allowed)
        return found

    def read_all(self, name: str, given: Any, allowed: str = "t q v") -> list[Expression]:
        """Return formulas of a list, or of a column."""
        if given is None:
            return []
        if isinstance(given, sp.MatrixBase):
            given = list(given)
        if isinstance(given, (str, sp.Basic)) or not isinstance(given, Iterable):
            given = [given]
        return [self.read(f"{name}[{i}]", x, allowed) for i, x in enumerate(given)]

    def _check(self, name: str, given: Any, found: Expression, allowed: str) -> None:
        """Note symbols and functions that have no meaning here."""
        groups = {"t": [self.t], "q": self.q, "v": self.v, "vdot": self.vdot}
        known = {x for key in allowed.split() for x in groups[key]}
        known.update(self.parameters.values())
        strange = found.free_symbols - known
        values = sorted(str(x) for x in strange if not self._is_own(x))
        if values:
            self.given.faults.append(
                f"{name} has {', '.join(values)}, without a value: give parameters={{'"
                f"{values[0]}': ...}}, or make it a coordinate"
            )
        wrong = sorted({self._said(x) for x in strange if self._is_own(x)})
        if wrong:
            self.given.faults.append(
                f"{name} = {given!s:.60} has {', '.join(wrong)}; it may depend on {allowed} only"
            )
        functions = sorted(map(str, found.atoms(AppliedUndef, sp.Derivative)))
        if functions:
            self.given.faults.append(
                f"{name} has {', '.join(functions)}, which is neither a coordinate nor a "
                "derivative of one"
            )

    def _is_own(self, x: Any) -> bool:
        return x == self.t or x in self.q or x in self.v or x in self.vdot

    def _said(self, x: Any) -> str:
        """Return one of our symbols in the user's words."""
        for group, text in ((self.q, "{}"), (self.v, "d{}/dt"), (self.vdot, "d2{}/dt2")):
            if x in group:
                return text.format(self.names[group.index(x)])
        return "t"

    def check(self) -> None:
        """Raise an `InvalidOptionError` with all faults, if there are any."""
        self.given.check()
