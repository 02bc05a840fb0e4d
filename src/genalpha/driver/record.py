"""What is kept of an integration: every step, as a row of numbers."""

from __future__ import annotations

import numpy as np

from genalpha.driver.march import March
from genalpha.kernels import write_row
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.redundancy import Reduction
from genalpha.schemes import State

Array = np.ndarray

#: Rows of the first block, and of the largest; in between each is as large as all before.
FIRST, LARGEST = 32, 4096


class Block:
    """Steps with the same constraints: rows (t, q, v, a, kept)."""

    def __init__(self, rows: int, state: State, reduction: Reduction) -> None:
        self.n, self.reduction, self.used = state.q.size, reduction, 0
        self.rows = np.empty((rows, 1 + 3 * self.n + state.kept.size))

    def row(self, i: int) -> tuple[float, Array, Array, Array]:
        """Return t, q, v, kept of a step."""
        row, n = self.rows[i], self.n
        return float(row[0]), row[1 : 1 + n], row[1 + n : 1 + 2 * n], row[1 + 3 * n :]


class Record:
    """Takes the steps of a march, and keeps them.

    Parameters
    ----------
    march : March
    complete : bool
        Whether acceleration and multipliers of every step are worked out at once.

    Attributes
    ----------
    blocks : list of Block
        All steps so far, the start included.
    knots : list of Knot
        The same with accelerations and multipliers, if these are worked out.
    """

    def __init__(self, march: March, complete: bool) -> None:
        self._march, self._complete = march, complete
        self.blocks: list[Block] = []
        self.knots: list[Knot] = []
        self._block: Block | None = None

    def run(self, t_final: float) -> None:
        """March from the start, which is kept too, to `t_final`."""
        march = self._march
        self.keep()
        while march.t != t_final:
            march.step(t_final)
            self.keep()

    def keep(self) -> None:
        """Keep the present state."""
        march = self._march
        stepper = march.stepper
        state, block = stepper.state, self._block
        if self._complete:
            self.knots.append(stepper.knot())
        if (
            block is None
            or block.used == block.rows.shape[0]
            or block.reduction is not stepper.reduction
        ):
            self._block = block = Block(self._next_size(), state, stepper.reduction)
            self.blocks.append(block)
        write_row(block.rows, block.used, march.t, state.q, state.v, state.a, state.kept)
        block.used += 1

    def _next_size(self) -> int:
        return min(LARGEST, max(FIRST, sum(block.used for block in self.blocks)))

    @property
    def times(self) -> Array:
        """Times of all steps."""
        return np.concatenate([block.rows[: block.used, 0] for block in self.blocks])

    @property
    def a(self) -> Array:
        """The scheme's acceleration-like variable at all steps, shape (s, n)."""
        n = self.blocks[0].n
        return np.concatenate([b.rows[: b.used, 1 + 2 * n : 1 + 3 * n] for b in self.blocks])
