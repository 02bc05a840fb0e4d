"""The innermost loops: short vectors, small matrices, LU.

They are compiled (`compiled`, Cython) where a compiler was there at installation; otherwise the
same operations come from NumPy (`plain`), see `genalpha.imports`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genalpha.imports import COMPILED
from genalpha.kernels import plain

__all__ = [
    "Checked",
    "DenseLU",
    "add",
    "add_product",
    "add_transposed_product",
    "assembled",
    "broyden",
    "called",
    "combined",
    "correction_size",
    "extrapolated",
    "largest",
    "norm",
    "part",
    "plus",
    "product",
    "same",
    "scattered",
    "snapshot",
    "solution",
    "stacked",
    "transposed_product",
    "zeros",
]

if COMPILED and not TYPE_CHECKING:
    from genalpha.kernels import compiled as chosen
else:
    chosen = plain

Checked = chosen.Checked
DenseLU = chosen.DenseLU
add = chosen.add
add_product = chosen.add_product
add_transposed_product = chosen.add_transposed_product
assembled = chosen.assembled
broyden = chosen.broyden
called = chosen.called
combined = chosen.combined
correction_size = chosen.correction_size
extrapolated = chosen.extrapolated
largest = chosen.largest
norm = chosen.norm
part = chosen.part
plus = chosen.plus
product = chosen.product
same = chosen.same
scattered = chosen.scattered
snapshot = chosen.snapshot
solution = chosen.solution
stacked = chosen.stacked
transposed_product = chosen.transposed_product
zeros = chosen.zeros
