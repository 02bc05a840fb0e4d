"""What is kept of an integration: every step, as a row of numbers."""

from __future__ import annotations

import numpy as np

from genalpha.driver.integration import Keeper
from genalpha.driver.march import March
from genalpha.driver.stepper import Stepper
from genalpha.kernels import write_row
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: Rows of the first block, and of the largest; in between each is as large as all before.
FIRST, LARGEST = 32, 4096


class Block:
    """Steps with the same constraints: rows (t, q, v, a, kept)."""

    def __init__(self, rows: int, stepper: Stepper) -> None:
        state = stepper.state
        self.scheme, self.reduction = stepper.scheme, stepper.reduction
        self.n, self.used = state.q.size, 0
        self.rows = np.empty((rows, 1 + 3 * self.n + state.kept.size))

    def row(self, i: int) -> tuple[float, Array, Array, Array]:
        """Return t, q, v, kept of a step."""
        row, n = self.rows[i], self.n
        return float(row[0]), row[1 : 1 + n], row[1 + n : 1 + 2 * n], row[1 + 3 * n :]


class Record(Keeper):
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
    knots : dict of int to Knot
        Steps whose accelerations and multipliers are worked out, by their numbers.
    length : int
        The number of steps.
    """

    def __init__(self, march: March, complete: bool) -> None:
        self._march, self._complete = march, complete
        self.blocks: list[Block] = []
        self.knots: dict[int, Knot] = {}
        self.length = 0
        self._block: Block | None = None

    def keep(self) -> bool:
        """Keep the present state."""
        stepper = self._march.stepper
        state, block = stepper.state, self._block_with_room()
        if self._complete:
            self.knots[self.length] = stepper.knot()
        write_row(block.rows, block.used, self._march.t, state.q, state.v, state.a, state.kept)
        block.used += 1
        self.length += 1
        return False

    @property
    def leaps(self) -> bool:
        """See `Keeper`."""
        return self._march.leaps

    def leap(self, t_end: float) -> bool:
        """See `Keeper`; accelerations and multipliers are worked out when they are asked for."""
        block = self._block_with_room()
        taken = self._march.leap(t_end, block.rows[block.used :])
        block.used += taken
        self.length += taken
        return taken > 0

    def keep_event(self, knot: Knot) -> None:
        """Keep the motion at an event in the place of the state, which is beyond it."""
        self.keep()
        block = self._block
        assert block is not None
        block.rows[block.used - 1, : 1 + 2 * block.n] = np.concatenate([[knot.t], knot.q, knot.v])
        self.knots[self.length - 1] = knot

    def _block_with_room(self) -> Block:
        block = self._block
        if (
            block is None
            or block.used == block.rows.shape[0]
            or block.reduction is not self._march.stepper.reduction
        ):
            block = self._next_block()
        return block

    def _next_block(self) -> Block:
        size = min(LARGEST, max(FIRST, self.length))
        self._block = block = Block(size, self._march.stepper)
        self.blocks.append(block)
        return block

    @property
    def mechanisms(self) -> list[tuple[int, Mechanism]]:
        """The mechanisms that have moved, each with the number of its first step."""
        found: list[tuple[int, Mechanism]] = []
        first = 0
        for block in self.blocks:
            o = block.reduction.full
            if not found or o is not found[-1][1]:
                found.append((first, o))
            first += block.used
        return found

    @property
    def times(self) -> Array:
        """Times of all steps."""
        return np.concatenate([block.rows[: block.used, 0] for block in self.blocks])

    @property
    def a(self) -> Array:
        """The scheme's acceleration-like variable at all steps, shape (s, n)."""
        n = self.blocks[0].n
        return np.concatenate([b.rows[: b.used, 1 + 2 * n : 1 + 3 * n] for b in self.blocks])
