"""What is kept of an integration: every step, as a row of numbers.

Where the motion is wanted at certain times only (`t_eval`), memory must not grow with the number of
steps: beyond some size the oldest ones are let go, but for those next to a wanted time.
"""

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
#: Rows are let go if there are more than this many, and more than this many bytes of them.
ROWS, BYTES = 20_000, 2**25


class Block:
    """Steps with the same constraints: rows (t, q, v, a, kept).

    Attributes
    ----------
    gaps : set of int
        The rows before which steps have been let go.
    """

    def __init__(self, rows: int, stepper: Stepper) -> None:
        state = stepper.state
        self.scheme, self.reduction = stepper.scheme, stepper.reduction
        self.n, self.used = state.q.size, 0
        self.rows = np.empty((rows, 1 + 3 * self.n + state.kept.size))
        self.gaps: set[int] = set()

    def thin_out(self, wanted: Array) -> None:
        """Keep only the rows whose numbers are given, in order."""
        rows = wanted.tolist()
        jumps = {i for i, row in enumerate(rows) if row != (rows[i - 1] + 1 if i else 0)}
        self.gaps = jumps | ({0} if 0 in self.gaps else set())
        self.rows, self.used = self.rows[wanted].copy(), len(rows)

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
    wanted : (k,) array, optional
        The times at which the motion is wanted, if other steps may be let go.

    Attributes
    ----------
    blocks : list of Block
        All steps so far that are kept, the start included.
    knots : dict of int to Knot
        Steps whose accelerations and multipliers are worked out, by their numbers.
    length : int
        The number of steps that are kept.
    """

    def __init__(self, march: March, complete: bool, wanted: Array | None = None) -> None:
        self._march, self._complete = march, complete
        self._wanted = wanted
        self._thin = 0  # so many blocks are thinned out
        self.blocks: list[Block] = []
        self.knots: dict[int, Knot] = {}
        self.length = 0
        self._block: Block | None = None

    def keep(self) -> bool:
        """Keep the present state."""
        march = self._march
        state, block = march.state, self._block_with_room()
        if self._complete:
            self.knots[self.length] = march.knot()
        write_row(block.rows, block.used, march.t, state.q, state.v, state.a, state.kept)
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
            or block.reduction is not self._march.reduction
        ):
            block = self._next_block()
        return block

    def _next_block(self) -> Block:
        if self._wanted is not None:
            self._let_go()
        size = min(LARGEST, max(FIRST, self.length))
        self._block = block = Block(size, self._march)
        self.blocks.append(block)
        return block

    def _let_go(self) -> None:
        """Thin out the oldest blocks, until the others are few enough; the last one stays."""
        while self.length > ROWS and self._thin < len(self.blocks) - 1:
            blocks, k = self.blocks, self._thin
            if sum(block.rows.nbytes for block in blocks[k:]) <= BYTES:
                return
            block, first = blocks[k], sum(block.used for block in blocks[:k])
            kept = self._next_to_wanted(k)
            knots, new = {}, {row: i for i, row in enumerate(kept.tolist())}
            for i, knot in self.knots.items():
                if i < first:
                    knots[i] = knot
                elif i >= first + block.used:
                    knots[i - block.used + kept.size] = knot
                elif i - first in new:
                    knots[first + new[i - first]] = knot
            self.knots, self.length = knots, self.length - block.used + kept.size
            if not kept.size or kept[-1] != block.used - 1:
                blocks[k + 1].gaps.add(0)
            block.thin_out(kept)
            if kept.size:
                self._thin += 1
            else:
                del blocks[k]

    def _next_to_wanted(self, k: int) -> Array:
        """Return the rows of a block that are at a wanted time, before or behind one."""
        block = self.blocks[k]
        before = [self.blocks[k - 1].rows[self.blocks[k - 1].used - 1, 0]] if k else []
        times = [*before, *block.rows[: block.used, 0], self.blocks[k + 1].rows[0, 0]]
        sign = -1.0 if self._march.t < self.blocks[0].rows[0, 0] else 1.0
        along, wanted = sign * np.array(times), sign * np.asarray(self._wanted)
        wanted = wanted[(along[0] <= wanted) & (wanted <= along[-1])]
        kept = set() if k else {0}
        for low, high in zip(
            np.searchsorted(along, wanted), np.searchsorted(along, wanted, "right"), strict=True
        ):
            kept.update(range(int(low) - 1 - len(before), int(high) + 1 - len(before)))
        return np.array(sorted(i for i in kept if 0 <= i < block.used), dtype=int)

    @property
    def gaps(self) -> frozenset[int]:
        """The numbers of the steps before which others have been let go."""
        ends = np.cumsum([0, *(block.used for block in self.blocks)]).tolist()
        return frozenset(
            first + i for first, block in zip(ends, self.blocks, strict=False) for i in block.gaps
        )

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
