"""The user's callbacks, wrapped once so that what comes out of them can be trusted.

A wrapped callback always returns float64 of the right shape: vectors as fresh arrays (a user may
return the same buffer every time), matrices dense or sparse as the mechanism is. Anything else is
a `CallbackError` that names the callback, the shape wanted and the shape seen.
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
        value = np.array(function(*arguments), dtype=float)
        if value.shape == shape:
            return value
        return _reshaped(value, name, shape)

    return call


def checked_matrix(
    function: Callable[..., Any], name: str, shape: tuple[int, int], as_sparse: bool
) -> MatrixFunction:
    """Wrap a callback that must return a matrix of `shape`, dense or sparse.

    Matrices are not copied: they are used at once and never kept from one call to the next.
    """

    def call_dense(*arguments: Any) -> Array:
        value = function(*arguments)
        if sparse.issparse(value):
            value = value.toarray()
        value = np.asarray(value, dtype=float)
        return value if value.shape == shape else _reshaped(value, name, shape)

    def call_sparse(*arguments: Any) -> sparse.csc_array:
        value = sparse.csc_array(function(*arguments), dtype=float)
        if value.shape != shape:
            raise _wrong_shape(name, value.shape, shape)
        return value

    return call_sparse if as_sparse else call_dense


def _reshaped(value: Array, name: str, shape: tuple[int, ...]) -> Array:
    """Accept a number for one value, and rows or columns for vectors; refuse the rest."""
    wanted = [extent for extent in shape if extent != 1]
    seen = [extent for extent in value.shape if extent != 1]
    if wanted != seen:
        raise _wrong_shape(name, value.shape, shape)
    return value.reshape(shape)


def _wrong_shape(name: str, seen: tuple[int, ...], wanted: tuple[int, ...]) -> CallbackError:
    return CallbackError(f"{name} returned shape {seen}; expected {wanted}")
