"""What of a gradient need not be worked out again: columns that stay, and rows that do not meet.

A column of G that is the same wherever q is belongs to a coordinate in which g is linear. Of the
other columns, those that share no row are differenced together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from genalpha.model.callbacks import Array, VectorFunction
from genalpha.model.differences import Groups, accurate_jacobian, group_columns, scale

#: How far beside the start the structure is looked at, relative to q.
BESIDE = 0.1
#: Accuracy to which differenced columns must stay the same.
SAME = 1e-9
#: After so many gradients, one is worked out as a whole and compared.
PERIOD = 64


def beside(t: float, q: Array) -> list[tuple[float, Array]]:
    """Return a point and two others beside it, of no special values."""
    random = np.random.default_rng(1)
    moved = [
        (t + BESIDE * x, q + BESIDE * scale(q) * random.uniform(-1.0, 1.0, q.size))
        for x in random.uniform(0.1, 1.0, 2)
    ]
    return [(t, q), *moved]


class Structure(NamedTuple):
    """Columns that stay, shape (m, n); where the others are not 0; these in groups."""

    constant: Array
    pattern: Array
    groups: list[Array]

    @classmethod
    def unknown(cls, m: int, n: int) -> Structure:
        """Return the structure of a matrix of which nothing is known."""
        full = np.ones((m, n), dtype=bool)
        return cls(np.zeros((m, n)), full, [np.array([j]) for j in range(n)])

    @classmethod
    def of(cls, found: Array, same: float) -> Structure:
        """Return the structure of gradients, shape (k, m, n), that are known to an accuracy."""
        if not np.isfinite(found).all():
            raise ValueError("not finite beside the start")
        size = np.abs(found).max(axis=(0, 2))[:, None]
        varies = (np.abs(found - found[0]) > same * size).any(axis=(0, 1))
        pattern = (found != 0.0).any(axis=0) & varies
        groups = group_columns(sparse.csc_array(pattern.astype(float)))
        members = [x for group in groups if (x := group[varies[group]]).size]
        return cls(np.where(varies, 0.0, found[0]), pattern, members)


class Differenced:
    """G(t, q) by differences of what may change.

    Parameters
    ----------
    g : callable(t, q) -> (m,)
    t, q : float, (n,) array
        Where its structure is looked at.
    """

    def __init__(self, g: VectorFunction, t: float, q: Array) -> None:
        self.g, self._requests = g, 0
        found = np.array([self.whole(*point) for point in beside(t, q)])
        self.structure = Structure.of(found, SAME)
        self._groups = Groups(sparse.csc_array(self.structure.pattern.astype(float)))
        self._groups.columns = self.structure.groups

    def whole(self, t: float, q: Array) -> Array:
        """Return G, every column differenced."""
        return np.asarray(accurate_jacobian(lambda x: self.g(t, x), q))

    def jacobian(self, t: float, q: Array) -> Array | None:
        """Return G; None if what should stay does not."""
        self._requests += 1
        constant, _, members = self.structure
        if not members:
            G = constant.copy()
        else:
            moving = accurate_jacobian(lambda x: self.g(t, x), q, self._groups, constant)
            G = constant + moving.toarray()  # type: ignore[union-attr]
        if self._requests % PERIOD == 0:
            right = self.whole(t, q)
            if not (np.abs(G - right) <= 10.0 * SAME * np.abs(right).max(axis=1)[:, None]).all():
                return None
        return G
