"""What of a gradient need not be worked out again: columns that stay, and rows that do not meet.

A column of G that is the same wherever q is belongs to a coordinate in which g is linear. Of the
other columns, those that share no row are differenced together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from genalpha.model.callbacks import Array, VectorFunction
from genalpha.model.differences import Groups, accurate_jacobian, group_columns, scale
from genalpha.model.glance import Glance

#: How far beside the start the structure is looked at, relative to q.
BESIDE = 0.1
#: Accuracy to which differenced columns must stay the same.
SAME = 1e-9


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
        self.g = g
        #: The value that came with the last gradient.
        self.value: Array | None = None
        whole = Whole(g, None)
        found = np.array([whole(*point) for point in beside(t, q)])
        self.structure = Structure.of(found, SAME)
        self._groups = Groups(sparse.csc_array(self.structure.pattern.astype(float)))
        self._groups.columns = self.structure.groups

    @property
    def assumes(self) -> bool:
        """Whether a column is believed to stay, or columns to share no row."""
        return len(self.structure.groups) < self.structure.pattern.shape[1]

    def jacobian(self, t: float, q: Array) -> Array:
        """Return G, and leave g in `value`."""
        self.value = self.g(t, q)
        constant, _, members = self.structure
        if not members:
            return constant.copy()
        moving = accurate_jacobian(
            lambda x: self.g(t, x), q, self._groups, constant, base=self.value
        )
        return np.asarray(constant + moving.toarray())  # type: ignore[union-attr]

    def by_time(self, t: float, q: Array) -> None:
        """Nothing is believed of how g depends on the time."""

    def agrees(self, g: VectorFunction, t: float, q: Array, G: Array) -> bool:
        """Compare the gradient with one of which all columns were differenced."""
        wrong = np.abs(self.jacobian(t, q) - G)
        return bool((wrong <= 10.0 * SAME * np.abs(G).max(axis=1)[:, None]).all())


class Whole:
    """J(t, ..., x) by differences, of all columns or of groups of a sparse pattern.

    The pattern, which may have been found elsewhere, is looked at at every new time; entries that
    it lacks are added.

    Parameters
    ----------
    function : callable(t, ..., x) -> (m,)
        Differenced by its last argument.
    groups : Groups, optional
        Of columns that share no row.
    """

    def __init__(self, function: VectorFunction, groups: Groups | None) -> None:
        self.function, self.groups = function, groups
        #: The value that came with the last gradient.
        self.value: Array | None = None
        self._looked: float | None = None
        self._glance: Glance | None = None

    def __call__(self, t: float, *state: Array) -> Any:
        """Return J, and leave the function's value in `value`."""
        *rest, x = state

        def of(t: float, x: Array) -> Array:
            return self.function(t, *rest, x)

        self.value = of(t, x)
        J = accurate_jacobian(lambda x: of(t, x), x, self.groups, base=self.value)
        if self.groups is not None and t != self._looked:
            self._looked, self._glance = t, self._glance or Glance(x.size)
            if not self._glance.confirms(of, t, x, self.value, J):
                whole = np.asarray(accurate_jacobian(lambda x: of(t, x), x, base=self.value))
                entries = sparse.csc_array((whole != 0.0).astype(float))
                self.groups = Groups(sparse.csc_array(self.groups.pattern + entries))
                J = accurate_jacobian(lambda x: of(t, x), x, self.groups, base=self.value)
        return J
