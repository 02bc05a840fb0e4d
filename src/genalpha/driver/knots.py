"""The steps of an integration, of which accelerations and multipliers are found when needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, overload

import numpy as np

from genalpha.driver.record import Block
from genalpha.driver.stepper import complete
from genalpha.numerics.interpolation import Knot

Array = np.ndarray


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

    def table(self, which: Array) -> Knot | None:
        """Return some steps at once, as a `Knot` of arrays; None where that is not to be had.

        Parameters
        ----------
        which : (k,) int array
            Numbers of the steps, in order.
        """
        first, parts, width = 0, [], self._blocks[0].rows.shape[1]
        for block, end in zip(self._blocks, self._ends, strict=True):
            chosen, n = which[np.searchsorted(which, first) : np.searchsorted(which, end)], block.n
            rows = block.rows[chosen - first]
            if block.reduction.dependent.size or rows.shape[1] != width:
                return None
            found = block.scheme.report_rows(block.reduction.mechanism, rows)
            if found is None or not np.isfinite(found[0]).all():
                return None
            parts.append((rows[:, 0], rows[:, 1 : 1 + n], rows[:, 1 + n : 1 + 2 * n], *found))
            first = end
        columns: list[Any] = [np.concatenate(x) for x in zip(*parts, strict=True)]
        for i in self._found.keys() & set(which.tolist()) if self._found else ():
            for column, x in zip(columns, self._found[i], strict=True):
                column[np.searchsorted(which, i)] = x
        return Knot(*columns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the steps complete, which needs neither the scheme nor the mechanism again."""
        return list, (list(self),)
