"""The innermost loops: short vectors, small matrices, LU, callbacks.

They are compiled (`vectors`, `matrices`, `callbacks`: Cython) where a compiler was there at
installation; otherwise the same operations come from NumPy (`plain`), see `genalpha.imports`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genalpha.imports import COMPILED
from genalpha.kernels.plain import (
    Checked,
    DenseLU,
    Native,
    absolute_product,
    add,
    add_product,
    add_taken,
    add_transposed_product,
    alike_columns,
    assembled,
    broyden,
    called,
    combined,
    correction_size,
    error_weights,
    extrapolated,
    guarded,
    increments,
    jumps,
    largest,
    largest_change,
    largest_of_rows,
    largest_ratio,
    norm,
    part,
    plus,
    product,
    remember,
    row_times,
    rows_at,
    same,
    scalar_product,
    scattered,
    secant,
    slopes,
    snapshot,
    solution,
    stacked,
    summed,
    taken,
    transposed_product,
    weighted_cosine,
    weighted_norm,
    write_at,
    write_row,
    zeros,
)

__all__ = [
    "Checked",
    "DenseLU",
    "Native",
    "absolute_product",
    "add",
    "add_product",
    "add_taken",
    "add_transposed_product",
    "alike_columns",
    "assembled",
    "broyden",
    "called",
    "combined",
    "correction_size",
    "error_weights",
    "extrapolated",
    "guarded",
    "increments",
    "jumps",
    "largest",
    "largest_change",
    "largest_of_rows",
    "largest_ratio",
    "norm",
    "part",
    "plus",
    "product",
    "remember",
    "row_times",
    "rows_at",
    "same",
    "scalar_product",
    "scattered",
    "secant",
    "slopes",
    "snapshot",
    "solution",
    "stacked",
    "summed",
    "taken",
    "transposed_product",
    "weighted_cosine",
    "weighted_norm",
    "write_at",
    "write_row",
    "zeros",
]

if COMPILED and not TYPE_CHECKING:
    from genalpha.kernels import callbacks, matrices, native, vectors

    for module in (callbacks, matrices, native, vectors):
        globals().update({key: getattr(module, key) for key in __all__ if hasattr(module, key)})
