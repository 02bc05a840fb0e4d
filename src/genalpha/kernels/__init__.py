"""The innermost loops: short vectors, small matrices, LU.

They are compiled (`compiled`, Cython) where a compiler was there at installation; otherwise the
same operations come from NumPy (`plain`), several times slower for small mechanisms. `COMPILED`
tells which; the environment variable GENALPHA_PLAIN forces NumPy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from genalpha.kernels import plain

__all__ = [
    "COMPILED",
    "Checked",
    "DenseLU",
    "assembled",
    "broyden",
    "combined",
    "correction_size",
    "extrapolated",
    "largest",
    "norm",
    "plus",
    "product",
    "same",
    "scattered",
    "stacked",
    "transposed_product",
]

COMPILED = False
if TYPE_CHECKING or os.environ.get("GENALPHA_PLAIN"):
    chosen = plain
else:
    try:
        from genalpha.kernels import compiled as chosen

        COMPILED = True
    except ImportError:
        chosen = plain

Checked = chosen.Checked
DenseLU = chosen.DenseLU
assembled = chosen.assembled
broyden = chosen.broyden
combined = chosen.combined
correction_size = chosen.correction_size
extrapolated = chosen.extrapolated
largest = chosen.largest
norm = chosen.norm
plus = chosen.plus
product = chosen.product
same = chosen.same
scattered = chosen.scattered
stacked = chosen.stacked
transposed_product = chosen.transposed_product
