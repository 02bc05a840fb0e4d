"""The user's callbacks, wrapped once so that what comes out of them can be trusted.

A wrapped callback always returns float64 of the right shape, in fresh memory (a user may return
the same buffer every time): vectors as arrays, matrices dense or sparse as the mechanism is.
Anything else is a `CallbackError` that names the callback, the shape wanted and the shape seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from genalpha.errors import CallbackError

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array
VectorFunction = Callable[..., Array]
MatrixFunction = Callable[..., Matrix]


def checked_vector(function: Callable[..., Any], name: str, size: int) -> VectorFunction:
    """Wrap a callback that must return `size` numbers."""
    shape = (size,)

    def call(*arguments: Any) -> Array:
        value = _numbers(function(*arguments), name, shape)
        return value if value.shape == shape else _reshaped(value, name, shape)

    return call


def checked_matrix(
    function: Callable[..., Any], name: str, shape: tuple[int, int], as_sparse: bool
) -> MatrixFunction:
    """Wrap a callback that must return a matrix of `shape`, dense or sparse."""

    def call_dense(*arguments: Any) -> Array:
        value = function(*arguments)
        if sparse.issparse(value):
            value = value.toarray()
        value = _numbers(value, name, shape)
        return value if value.shape == shape else _reshaped(value, name, shape)

    def call_sparse(*arguments: Any) -> sparse.csc_array:
        value = function(*arguments)
        if not sparse.issparse(value):
            value = _reshaped(_numbers(value, name, shape), name, shape)
        if value.shape != shape:
            raise _wrong_shape(name, value.shape, shape)
        return sparse.csc_array(value, dtype=float, copy=True)

    return call_sparse if as_sparse else call_dense


def _numbers(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Return a copy of what a callback returned, as floats."""
    try:
        if value is None:  # which NumPy takes for NaN
            raise TypeError("nothing")
        return np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise CallbackError(
            f"{name} returned {value!r:.60}; expected numbers of shape {shape}"
        ) from error


def _reshaped(value: Array, name: str, shape: tuple[int, ...]) -> Array:
    """Accept a number for one value, and rows or columns for vectors; refuse the rest."""
    wanted = [extent for extent in shape if extent != 1]
    seen = [extent for extent in value.shape if extent != 1]
    if wanted != seen:
        raise _wrong_shape(name, value.shape, shape)
    return value.reshape(shape)


def _wrong_shape(name: str, seen: tuple[int, ...], wanted: tuple[int, ...]) -> CallbackError:
    return CallbackError(f"{name} returned shape {seen}; expected {wanted}")
