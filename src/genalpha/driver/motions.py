"""The motions of many runs, in arrays that every run writes its own part of."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

import numpy as np

from genalpha.errors import InvalidOptionError
from genalpha.model import Mechanism

Array = np.ndarray
Shape = tuple[int, ...]

#: What is kept of a run, in this order.
MOTION = ("q", "v", "vdot", "lam", "psi", "z")
#: Shared memory below this size (in bytes) is copied in the end: it costs next to nothing, and
#: memory that stays shared costs an open file.
LITTLE = 8_000_000


class Motions:
    """Arrays (k, s, ...) for k runs and s times, which are filled run by run.

    Parameters
    ----------
    count : int
        Number of runs.
    times : int
        Number of times.
    first : Mechanism
        Says how many coordinates and constraints all of them have.
    shared : bool
        Whether forked processes are to write into them, too.
    """

    def __init__(self, count: int, times: int, first: Mechanism, shared: bool) -> None:
        n = first.n_q
        widths = (n, n, n, first.n_lam, first.n_psi, first.n_z)
        shapes = [(count, times, width) for width in widths]
        self._shared = SharedArrays(shapes) if shared else None
        self._arrays = self._shared.arrays if self._shared else [np.empty(x) for x in shapes]

    def put(self, i: int, motion: Sequence[Array] | None) -> None:
        """Write what came out of run `i`; what it has not reached is NaN.

        Raises
        ------
        InvalidOptionError
            It has another number of coordinates or constraints.
        """
        if motion is None:
            motion = [np.empty((0, to.shape[2])) for to in self._arrays]
        for to, x in zip(self._arrays, motion, strict=True):
            if x.shape[1] != to.shape[2]:
                fault = (
                    f"run {i} has {x.shape[1]} of what run 0 has {to.shape[2]} of; all "
                    "mechanisms must have the same numbers of coordinates and constraints"
                )
                raise InvalidOptionError("sweep", [fault])
            to[i, : len(x)], to[i, len(x) :] = x, np.nan

    def filled(self) -> list[Array]:
        """Return the arrays, once each run has been put in."""
        return self._shared.filled() if self._shared else self._arrays


class SharedArrays:
    """Arrays in memory that forked processes share with this one.

    What they write is here at once: nothing is pickled, sent or copied. The memory has no name
    in the file system, so that the system takes it back even if all processes are killed.

    Attributes
    ----------
    arrays : list of array
        To be written into.
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes
        # one number more than needed: an empty mapping is refused, and so is a view from its end
        self._size = 8 * (sum(int(np.prod(x)) for x in shapes) + 1)
        self._file = _nameless(self._size)
        self.arrays = self._views(mmap.mmap(self._file, self._size))

    def _views(self, memory: mmap.mmap) -> list[Array]:
        found: list[Array] = []
        offset = 0
        for shape in self._shapes:
            found.append(np.ndarray(shape, dtype=float, buffer=memory, offset=offset))
            offset += found[-1].nbytes
        return found

    def filled(self) -> list[Array]:
        """Return arrays with what was written: from now on only this process sees changes.

        They are the same memory, of which the system copies a page when it is changed. Without
        this, a process that the user forks later would change the results of this one.
        """
        if self._file < 0 or self._size < LITTLE:
            return [x.copy() for x in self.arrays]
        return self._views(mmap.mmap(self._file, self._size, access=mmap.ACCESS_COPY))

    def __del__(self) -> None:
        if getattr(self, "_file", -1) >= 0:
            os.close(self._file)  # mappings have their own


def _nameless(size: int) -> int:
    """Return a file in memory without a name, or -1 where there are none."""
    try:
        file = os.memfd_create("genalpha-sweep")
    except (AttributeError, OSError):  # not Linux, or an old or guarded one
        return -1
    os.ftruncate(file, size)
    return file
