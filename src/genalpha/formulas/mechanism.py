"""Mechanisms made of formulas: derived once, their parameters adjustable at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.errors import InvalidOptionError
from genalpha.formulas.code import Routine, routine
from genalpha.formulas.equations import Motion, Places, Table, callbacks
from genalpha.formulas.libraries import Library, library
from genalpha.kernels import Native
from genalpha.model import Mechanism
from genalpha.model.c_functions import CFunction
from genalpha.model.given import Given
from genalpha.model.table import TABLE

Array = np.ndarray

#: Larger mechanisms have sparse matrices if no more than this part of their entries is not zero.
SMALL, SPARSE_ENOUGH = 128, 0.2


@dataclass(frozen=True)
class Formulas:
    """What was derived, as source code; mechanisms with any parameters are made from it.

    Attributes
    ----------
    routines : tuple of Routine
        The callbacks, "start" (q0, v0 one after the other) and "energy".
    sizes : (int, int, int)
        Numbers of coordinates, holonomic and nonholonomic constraints.
    count : int
        The number of parameters.
    backend : {"auto", "c", "numba", "python"}
    others : dict
        Further arguments of the mechanism: names, t0, redundant, ...
    """

    routines: tuple[Routine, ...]
    sizes: tuple[int, int, int]
    count: int
    backend: str
    others: dict[str, Any] = field(default_factory=dict)

    def mechanism(self, parameters: Mapping[str, float]) -> Mechanism:
        """Return the mechanism with the values of all parameters."""
        values = np.array(list(parameters.values()), dtype=float)
        at = values.ctypes.data
        given = {x.name: self._callback(x, values, at) for x in self.routines}
        n = self.sizes[0]
        start = given.pop("start")(0.0, np.zeros(n))
        given |= {"q0": start[:n], "v0": start[n:]}
        if "energy" in given:
            given["energy"] = _Number(given["energy"])
        given |= self.others
        if self._first:
            made = self._first[0].with_callbacks(given)
        else:
            made = Mechanism(**given)
            self._first.append(made)
        made.recipe = (Formulas.mechanism, (self, dict(parameters)), {})
        made.formulas = Parameters(self, dict(parameters))
        return made

    @cached_property
    def _first(self) -> list[Mechanism]:
        """The first mechanism that was made, as soon as there is one: others are like it."""
        return []

    @cached_property
    def _library(self) -> Library:
        return library(self.routines, self.backend, self.count)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is compiled: other processes find it in the cache."""
        return {key: x for key, x in self.__dict__.items() if key[0] != "_"}

    def _callback(self, x: Routine, values: Array, at: int) -> Any:
        """Return what a `Mechanism` is given for a function: a callback, or a constant matrix.

        `at` is the address of the values.
        """
        lib, is_constant = self._library, x.is_constant and len(x.shape) == 2
        if lib.addresses and x.name in TABLE and x.pattern is None and not is_constant:
            return CFunction(x.name, lib.addresses[x.name], at, (lib, values))
        n, m, l = self.sizes  # noqa: E741
        sizes = {"q": n, "v": n, "vdot": n, "lam": m, "psi": l}
        inputs = tuple(sizes[key] for key in x.arguments.split()[1:])
        shape = x.shape if x.pattern is None else (len(x.pattern),)
        found: Any
        if lib.addresses:
            found = Native(lib.addresses[x.name], at, inputs, shape, (lib, values))
        else:
            found = Written(lib.functions[x.name], shape, values.tolist())
        if x.pattern is not None:
            found = SparseMatrix(found, x.pattern, x.shape)
        return found(0.0, *[np.zeros(size) for size in inputs]) if is_constant else found


class Written:
    """A function that writes into a list, as one that returns an array."""

    def __init__(self, function: Any, shape: tuple[int, ...], values: list[float]) -> None:
        self.function, self.shape, self.values = function, shape, values

    def __call__(self, t: float, *vectors: Any) -> Array:
        """Return the result."""
        out = [0.0] * int(np.prod(self.shape))
        given = [np.asarray(x, dtype=float).tolist() for x in vectors]
        self.function(t, *given, out, self.values)
        return np.array(out).reshape(self.shape)


class SparseMatrix:
    """A function that works out the entries of a pattern, as one that returns a sparse matrix.

    The matrix is the same one each time, with other values.
    """

    def __init__(
        self, function: Any, pattern: Sequence[tuple[int, ...]], shape: tuple[int, ...]
    ) -> None:
        rows, columns = np.array(pattern, dtype=np.int32).reshape(-1, 2).T.copy()
        ends = np.searchsorted(columns, np.arange(shape[1] + 1)).astype(np.int32)
        self._function = function
        self._matrix = sparse.csc_array((np.zeros(rows.size), rows, ends), shape=shape)

    def __call__(self, t: float, *vectors: Any) -> sparse.csc_array:
        """Return the matrix."""
        self._matrix.data[:] = self._function(t, *vectors)
        return self._matrix


class _Number:
    """A function of one entry as one that returns a number."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, t: float, q: Array, v: Array) -> float:
        return float(self.function(t, q, v)[0])


@dataclass(frozen=True)
class Parameters:
    """Where a mechanism comes from, and what was changed in it since.

    Attributes
    ----------
    formulas : Formulas
    values : dict of str to float
    changes : tuple of dict
        Arguments of `Mechanism.replace`, in their order.
    """

    formulas: Formulas
    values: dict[str, float]
    changes: tuple[dict[str, Any], ...] = ()

    def replaced(self, changes: dict[str, Any]) -> Parameters:
        """Return the same after another `Mechanism.replace`."""
        return Parameters(self.formulas, self.values, (*self.changes, changes))

    def mechanism(self, given: Mapping[str, Any]) -> Mechanism:
        """Return the mechanism with other values of some parameters.

        Raises
        ------
        InvalidOptionError
            With all names that are not parameters, and values that are no numbers.
        """
        read = Given("with_parameters")
        for key in given.keys() - self.values.keys():
            known = ", ".join(map(str, self.values)) or "none"
            read.faults.append(f"{key} is no parameter; there are: {known}")
        new = {key: read.number(key, x) for key, x in given.items() if key in self.values}
        read.check()
        made = self.formulas.mechanism(self.values | new)
        for changes in self.changes:
            made = made.replace(**changes)
        return made


def formulas(
    motion: Motion, start: list[Any], count: int, backend: str, others: dict[str, Any]
) -> Formulas:
    """Derive everything, and write it as code; `count` is the number of parameters."""
    tables = callbacks(motion)
    n, m, l = len(motion.q), len(motion.holonomic), len(motion.nonholonomic)  # noqa: E741
    filled = [len(x.entries) / (x.shape[0] * x.shape[1]) for x in tables.values() if _wide(x)]
    as_sparse = n + m + l > SMALL and max(filled) <= SPARSE_ENOUGH
    routines = [routine(key, TABLE[key].arguments, x, as_sparse) for key, x in tables.items()]
    entries: Places = {(i,): x for i, x in enumerate(start) if x != 0}
    routines.append(routine("start", "t q", Table((2 * n,), entries)))
    if motion.energy is not None:
        routines.append(routine("energy", "t q v", Table((1,), {(0,): motion.energy})))
    return Formulas(tuple(routines), (n, m, l), count, backend, others)


def _wide(x: Table) -> bool:
    return len(x.shape) == 2


def fault_of_backend(backend: Any, known: Sequence[str]) -> None:
    """Refuse a backend that there is not."""
    if backend not in known:
        expected = ", ".join(map(repr, known))
        raise InvalidOptionError("formulas", [f"backend = {backend!r}; expected one of {expected}"])
