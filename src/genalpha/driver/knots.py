"""The steps of an integration, of which accelerations and multipliers are found when needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import overload

import numpy as np

from genalpha.driver.record import Block
from genalpha.driver.stepper import complete
from genalpha.numerics.interpolation import Knot
from genalpha.schemes import Scheme


class Knots(Sequence[Knot]):
    """Steps in order; each is completed when it is first looked at."""

    def __init__(self, scheme: type[Scheme], blocks: list[Block]) -> None:
        self._scheme, self._blocks = scheme, blocks
        self._ends = list(accumulate(block.used for block in blocks))
        self._found: dict[int, Knot] = {}

    def __len__(self) -> int:
        return self._ends[-1]

    def __iter__(self) -> Iterator[Knot]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Knot: ...
    @overload
    def __getitem__(self, index: slice) -> list[Knot]: ...
    def __getitem__(self, index: int | slice) -> Knot | list[Knot]:
        """Return a step, complete."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        if i not in self._found:
            which = int(np.searchsorted(self._ends, i, side="right"))
            block = self._blocks[which]
            row = block.row(i - self._ends[which] + block.used)
            self._found[i] = complete(self._scheme, block.reduction, *row)
        return self._found[i]
