"""Columns of a residual's iteration matrices that stay what they are from one to the next.

A coordinate with a constant mass, on which no force depends and in which g is linear, has one: the
centre of a rigid body, for instance. Two matrices in a row show which columns these are. From then
on one call that moves all of them tells whether they still are what they were.

Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.kernels import alike_columns, rows_at, slopes

Array = np.ndarray

#: To be believed in, a column may change by this share of what it may change later: one that moves
#: slowly would soon be found to do so.
STRICTER = 0.1
#: Believed in so often, in vain, nothing is believed to stay any more.
TRIALS = 3


class Together:
    """Columns that are differenced together.

    Parameters
    ----------
    members : (k, n) array
        Which columns are moved in each difference: 1, or how far relative to others; or 0.
    colour : (n,) int array, optional
        In which one each column is; None if each has its own.
    pattern : (rows, n) bool array, optional
        Where their derivatives may be nonzero.
    """

    def __init__(
        self, members: Array, colour: Array | None = None, pattern: Array | None = None
    ) -> None:
        self.members, self.colour, self.pattern = members, colour, pattern
        self.count = len(members)

    def placed(self, rows: list[Array], base: Array, sizes: Array) -> Array:
        """Put differences of k rows in their places, and divide by the sizes of moves."""
        D = slopes(rows, base, sizes, self.colour)
        if self.pattern is not None:
            D[~self.pattern] = 0.0
        return D

    def without(self, which: list[int]) -> Together:
        """Return the same with some columns moved in a difference of their own, the last one."""
        n = self.members.shape[1]
        moves = np.ones(n, dtype=bool)
        moves[which] = False
        colour = np.arange(n) if self.colour is None else self.colour
        left, groups = np.unique(colour[moves], return_inverse=True)
        members, own = np.zeros((left.size + 1, n)), np.full(n, left.size)
        members[groups, moves] = 1.0
        own[moves] = groups
        # by amounts that do not cancel
        random = np.random.default_rng(3)
        amounts = random.uniform(0.5, 1.0, n) * np.where(random.random(n) < 0.5, -1.0, 1.0)
        members[-1, which] = amounts[which]
        return Together(members, own, self.pattern)


class Staying:
    """What is known of columns that stay.

    Parameters
    ----------
    rows : int array
        Those of F that are looked at.

    Attributes
    ----------
    together : Together or None
        The columns that change, and all others in one difference; None if that saves nothing.
    """

    def __init__(self, rows: Array) -> None:
        self._rows = rows
        self.together: Together | None = None
        self._last: Array | None = None  # the last matrix
        self._left = TRIALS
        self._which: list[int] = []
        self._where: Any = None
        self._columns: Any = None

    @property
    def learns(self) -> bool:
        """Whether a whole matrix may still tell something."""
        return bool(self._left)

    def forget(self) -> None:
        """Believe in none."""
        self.together = self._last = None

    def learn(
        self, D: Array, units: Array, sizes: Array, doubts: Array, otherwise: Together | None
    ) -> None:
        """Compare a matrix with the one before.

        Parameters
        ----------
        D : (rows, n) array
        units : (rows looked at,) array
            Factors by which rows of all matrices are alike, if they are divided by them.
        sizes : (n,) array
            Of moves of the unknowns.
        doubts : (n,) array
            Moves that would change F as much as differences may be wrong.
        otherwise : Together, optional
            How columns are differenced if none stays; without it, the matrix is only remembered.
        """
        last, self._last = self._last, rows_at(D, self._rows, 1.0, 1.0 / units)
        if last is None or otherwise is None:
            return
        which = alike_columns(self._last, last, sizes, STRICTER * doubts)
        together = otherwise.without(which) if which else otherwise
        if together.count >= otherwise.count:
            self._left = 0
            return
        self._columns, self._last = self._last[:, which], None
        self.together, self._which = together, which
        self._where = np.ix_(self._rows, np.array(which))

    def completed(
        self, rows: list[Array], base: Array, units: Array, sizes: Array, doubts: Array
    ) -> Array | None:
        """Return a matrix of differences as `together` wants them; None if columns have changed."""
        together, which = self.together, self._which
        assert together is not None
        D, known = together.placed(rows, base, sizes), self._columns * units[:, None]
        D[self._where] = known
        expected = known @ (together.members[-1] * sizes)[which]
        wrong = np.abs((rows[-1] - base)[self._rows] - expected)
        if (wrong <= np.abs(D[self._rows]) @ doubts).all():
            return D
        self.forget()
        self._left -= 1
        return None
