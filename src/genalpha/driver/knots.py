"""The steps of an integration, of which accelerations and multipliers are found when needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, overload

import numpy as np

from genalpha.driver.record import Block
from genalpha.driver.stepper import complete
from genalpha.numerics.interpolation import Knot


class Knots(Sequence[Knot]):
    """Steps in order; each is completed when it is first looked at.

    Parameters
    ----------
    blocks : list of Block
    known : dict of int to Knot
        Those that are complete already.
    """

    def __init__(self, blocks: list[Block], known: dict[int, Knot]) -> None:
        self._blocks = blocks
        self._ends = list(accumulate(block.used for block in blocks))
        self._found = dict(known)

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
            self._found[i] = complete(block.scheme, block.reduction, *row)
        return self._found[i]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the steps complete, which needs neither the scheme nor the mechanism again."""
        return list, (list(self),)
