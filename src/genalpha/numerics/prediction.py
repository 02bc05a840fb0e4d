"""A first guess of a step's unknowns, extrapolated from those of the last steps.

Every order of the extrapolation saves Newton's iteration a part of a correction, as long as the
motion is smooth. Where it has a kink, or the unknowns are noise, higher orders come to nothing:
`genalpha.kernels.extrapolated` takes the highest order that is still an improvement.

Generalized-alpha schemes answer every start and every change of the step size with an oscillation
of accelerations and multipliers, which dies out as (-rho)^k, k (-rho)^k, ..., where rho is the
spectral radius at infinity. A polynomial of degree p makes it 2^(p+1) times as large; so it is
extrapolated as what it is, where the steps are equal.
"""

from __future__ import annotations

import numpy as np

from genalpha.kernels import extrapolated, part, remember, stacked

Array = np.ndarray

#: Steps that a polynomial goes through: one of degree 5 needs six.
SMOOTH = 6
#: Steps that are remembered: three more for the oscillation.
LENGTH = SMOOTH + 3
#: Steps are equal if they differ by no more than this part.
EQUAL = 1e-6


class Past:
    """Times and unknowns of the last steps, of which there must be one to predict from."""

    def __init__(self) -> None:
        # rows are written in turn
        self._times, self._values = np.zeros(LENGTH), np.zeros((LENGTH, 0))
        self._newest = self._known = 0
        # time and size of the last step, and how many in a row were of that size
        self._t = self._h = 0.0
        self._equal = 0

    def append(self, t: float, x: Array) -> None:
        """Add a step, which ends at `t` with the unknowns x; the oldest one is forgotten.

        Unknowns of another number have another past.
        """
        if x.shape[0] != self._values.shape[1]:
            self._values, self._known, self._equal = np.zeros((LENGTH, x.shape[0])), 0, 0
        if self._known:
            h, part = t - self._t, EQUAL
            self._equal = self._equal + 1 if abs(h - self._h) <= part * abs(h) else 1
            self._h = h
        self._t = t
        length = LENGTH
        self._newest = (self._newest + 1) % length
        self._known = min(self._known + 1, length)
        remember(self._values, self._times, self._newest, t, x)

    def predicted(self, t: float, relation: tuple[float, ...] = ()) -> Array:
        """Return a guess of the unknowns at `t`.

        They may hold an oscillation with x_k + c_1 x_{k-1} + c_2 x_{k-2} + ... = 0, where
        `relation` is (c_1, c_2, ...).
        """
        known, smooth = self._known, SMOOTH
        if not (relation and known >= smooth and self._is_one_more(t)):
            relation, known = (), min(known, smooth)
        return extrapolated(self._values, self._times, self._newest, known, t, relation)

    @property
    def is_full(self) -> bool:
        """Whether there are enough steps for a polynomial of the highest degree."""
        return self._known >= SMOOTH

    def equal_rows(self, h: float) -> Array | None:
        """Return the unknowns of all steps, the newest last; None if not all have the size h."""
        known = self._known
        if not known or (known > 1 and not self._is_one_more(self._t + h)):
            return None
        return self._values[(self._newest - np.arange(known - 1, -1, -1)) % LENGTH]

    def replace(self, t: float, h: float, rows: Array) -> None:
        """Remember other steps instead, of equal size up to `t`; the newest last."""
        known = self._known = min(len(rows), LENGTH)
        self._values = np.zeros((LENGTH, rows.shape[1]))
        self._values[:known] = rows[-known:]
        self._times = np.zeros(LENGTH)
        self._times[:known] = t - h * np.arange(known - 1, -1, -1)
        self._newest, self._equal, self._t, self._h = known - 1, known, t, h

    def _is_one_more(self, t: float) -> bool:
        """Tell whether all steps up to `t` have the same size."""
        part = EQUAL
        return self._equal >= self._known - 1 and abs(t - self._t - self._h) <= part * abs(self._h)


class Pasts(Past):
    """The past of (x, y), whose parts are extrapolated each by itself; a start knows no y.

    Parameters
    ----------
    n : int
        How many entries x has.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self._n, self._appended, self._size, self._of_y = n, 0, n, Past()

    def append(self, t: float, x: Array) -> None:
        """See `Past`."""
        n, size = self._n, x.shape[0]
        Past.append(self, t, part(x, 0, n))
        if self._appended:
            self._of_y.append(t, part(x, n, size))
        self._appended, self._size = self._appended + 1, size

    def predicted(self, t: float, relation: tuple[float, ...] = ()) -> Array:
        """See `Past`."""
        x = Past.predicted(self, t, relation)
        if self._appended > 1:
            return stacked(1.0, x, 1.0, self._of_y.predicted(t, relation))
        return stacked(1.0, x, 0.0, np.zeros(self._size - self._n))
