"""Steps of GenAlphaSOI2 on a residual, to guess the next one from.

Step sizes change, and some of the unknowns change with them: a1 belongs to t1 + alpha h, and what
a1_t, lam1_t, psi1_t of the position step differ from a1, lam1, psi1 is of order h. So a is
extrapolated at its own instants, and these differences over h: all of that is as smooth as the
motion, whatever the step sizes are.
"""

from __future__ import annotations

import numpy as np

from genalpha.kernels import combined, part, plus, stacked
from genalpha.numerics.prediction import Past

Array = np.ndarray


class PastOfSteps:
    """The past of x = (a1_t, lam1_t, psi1_t) and z = (a1, lam1, psi1).

    Parameters
    ----------
    n, count : int
        How many coordinates there are, and how many unknowns in each of both.
    alpha : float
    relation : tuple of float
        See `Past.predicted`.
    """

    def __init__(self, n: int, count: int, alpha: float, relation: tuple[float, ...]) -> None:
        self._n, self._count, self._alpha, self._relation = n, count, alpha, relation
        self._a, self._multipliers, self._apart = Past(), Past(), Past()
        self._appended = 0

    def append(self, t: float, h: float, unknowns: Array) -> None:
        """Add a step of size h that ends at t with (x, z)."""
        n, count = self._n, self._count
        x, z = part(unknowns, 0, count), part(unknowns, count, 2 * count)
        self._a.append(t + self._alpha * h, part(z, 0, n))
        self._multipliers.append(t, part(z, n, count))
        if self._appended:  # a start has nothing apart
            self._apart.append(t, combined(1.0 / h, x, -1.0 / h, z))
        self._appended += 1

    def guess(self, t: float, h: float) -> tuple[Array, Array]:
        """Return x and z of a step of size h that ends at t."""
        relation = self._relation
        a = self._a.predicted(t + self._alpha * h, relation)
        z = stacked(1.0, a, 1.0, self._multipliers.predicted(t, relation))
        if self._appended < 2:
            return z, z
        return plus(z, h, self._apart.predicted(t, relation)), z
