"""The user's callbacks, wrapped once so that what comes out of them can be trusted.

A wrapped callback always returns float64 of the right shape, in fresh memory (a user may return
the same buffer every time): vectors as arrays, matrices dense or sparse as the mechanism is.
Anything else is a `CallbackError` that names the callback, the time, the shape wanted and the one
seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.errors import CallbackError
from genalpha.kernels import Checked, Native, guarded
from genalpha.model.given import NO_NUMBERS, real, shown

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array
VectorFunction = Callable[..., Array]
MatrixFunction = Callable[..., Matrix]


def count_of(name: str, function: Callable[..., Any], t: float, *state: Array) -> int:
    """Return how many numbers a callback returns; it gets arrays of its own."""
    value = function(t, *(x.copy() for x in state))
    try:
        return int(real(value).size)
    except NO_NUMBERS as error:
        raise CallbackError(
            f"{name} returned {shown(value)}{at(t)}; expected one number for each constraint "
            f"({error})"
        ) from error


def checked_vector(function: Callable[..., Any], name: str, size: int) -> VectorFunction:
    """Wrap a callback that must return `size` numbers; C functions need no wrapping."""
    if isinstance(function, Native):
        return function
    return Checked(function, (size,), lambda value, t: _converted(value, name, (size,), t))


def checked_matrix(
    function: Callable[..., Any], name: str, shape: tuple[int, int], as_sparse: bool
) -> MatrixFunction:
    """Wrap a callback that must return a matrix of `shape`, dense or sparse."""

    def dense(value: Any, t: Any) -> Array:
        return _converted(value.toarray() if sparse.issparse(value) else value, name, shape, t)

    if isinstance(function, Native) and not as_sparse:
        return function
    return CheckedSparse(function, name, shape) if as_sparse else Checked(function, shape, dense)


def constant_matrix(
    value: Any, name: str, shape: tuple[int, int], as_sparse: bool
) -> MatrixFunction:
    """Return a function that always returns the same matrix; dense ones cannot be written to."""
    matrix = checked_matrix(lambda: value, name, shape, as_sparse)().copy()
    if not as_sparse:
        matrix.flags.writeable = False
    return Constant(matrix)


class Constant:
    """A callback that always returns the same matrix."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix

    def __call__(self, *arguments: Any) -> Matrix:
        """Return the matrix."""
        return self.matrix


class CheckedSparse:
    """A callback that must return a matrix of some shape, which becomes sparse (CSC)."""

    def __init__(self, function: Callable[..., Any], name: str, shape: tuple[int, int]) -> None:
        self.function, self.name, self.shape = function, name, shape
        self.calls = 0

    def __call__(self, *arguments: Any) -> sparse.csc_array:
        """Call the function, and return its result as a matrix of our own."""
        return self._converted(self._of(arguments), arguments, copy=True)

    def now(self, *arguments: Any) -> sparse.csc_array:
        """Return the result without a copy if possible, to be used before the next call."""
        value = self._of(arguments)
        if type(value) is sparse.csc_array and value.shape == self.shape and _is_plain(value):
            return value
        return self._converted(value, arguments, copy=False)

    def _of(self, arguments: tuple[Any, ...]) -> Any:
        self.calls += 1
        return guarded(self.function, arguments)

    def _converted(self, value: Any, arguments: tuple[Any, ...], copy: bool) -> sparse.csc_array:
        t = arguments[0] if arguments else None
        if not sparse.issparse(value):
            value = _converted(value, self.name, self.shape, t)
        if value.shape != self.shape:
            raise _wrong_shape(self.name, value.shape, self.shape, t)
        matrix = sparse.csc_array(value, copy=copy)
        if not _is_plain(matrix):
            data = _numbers(matrix.data, self.name, matrix.data.shape, t)
            indices, indptr = (np.ascontiguousarray(x) for x in (matrix.indices, matrix.indptr))
            matrix = sparse.csc_array((data, indices, indptr), shape=self.shape)
        return matrix


def _is_plain(matrix: sparse.csc_array) -> bool:
    """Tell whether all arrays of a sparse matrix can be read as they lie in memory."""
    data = matrix.data
    return (
        data.dtype == float
        and data.flags.c_contiguous
        and matrix.indices.flags.c_contiguous
        and matrix.indptr.flags.c_contiguous
    )


def now(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results must be used before it is called again, but cost less."""
    return getattr(function, "now", function)


def _converted(value: Any, name: str, shape: tuple[int, ...], t: Any) -> Array:
    """Return what a callback returned as floats of the right shape, or say what is wrong."""
    numbers = _numbers(value, name, shape, t)
    return numbers if numbers.shape == shape else _reshaped(numbers, name, shape, t)


def _numbers(value: Any, name: str, shape: tuple[int, ...], t: Any) -> Array:
    """Return a copy of what a callback returned, as floats."""
    try:
        return real(value)
    except NO_NUMBERS as error:
        raise CallbackError(
            f"{name} returned {shown(value)}{at(t)}; expected numbers of shape {shape} ({error})"
        ) from error


def _reshaped(value: Array, name: str, shape: tuple[int, ...], t: Any) -> Array:
    """Accept a number for one value, and rows or columns for vectors; refuse the rest."""
    wanted = [extent for extent in shape if extent != 1]
    seen = [extent for extent in value.shape if extent != 1]
    if wanted != seen:
        raise _wrong_shape(name, value.shape, shape, t)
    return value.reshape(shape)


def _wrong_shape(
    name: str, seen: tuple[int, ...], wanted: tuple[int, ...], t: Any
) -> CallbackError:
    constraint = name.partition("_")[0]
    as_many = ""
    if constraint != name and constraint in ("holonomic", "nonholonomic"):
        as_many = f", because {constraint} returns {wanted[0]} value{'s' if wanted[0] != 1 else ''}"
    return CallbackError(f"{name} returned shape {seen}{at(t)}; expected {wanted}{as_many}")


def at(t: Any) -> str:
    """Return the time of a call in words; none if the call had no arguments."""
    return "" if t is None else f" at t = {t:.9g}"
