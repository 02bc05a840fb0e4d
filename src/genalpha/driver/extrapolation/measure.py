"""What errors are compared with: the largest values of positions, velocities, states, multipliers.

First-order states z are velocities of coordinates that nothing depends on, see
`genalpha.model.states`. They have units of their own, so they are measured apart from the
velocities, and those coordinates are not measured at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Array = np.ndarray
Pair = tuple[Array, Array]

#: What has a size and an error of its own.
KINDS = ("q", "v", "z", "lam", "psi")


def by_kind(pair: Pair, n: int) -> dict[str, Array]:
    """Return the parts of q and v that are measured apart; `n` is the number of coordinates."""
    q, v = pair
    parts = {"q": q[..., :n], "v": v[..., :n]}
    if v.shape[-1] > n:
        parts["z"] = v[..., n:]
    return parts


def joined(parts: Mapping[str, Array], width: int) -> Pair:
    """Return q and v of their parts; what is not measured is 0."""
    q, v = parts["q"], parts["v"]
    more = width - q.shape[-1]
    if not more:
        return q, v
    nothing = np.zeros((*q.shape[:-1], more))
    return np.concatenate([q, nothing], axis=-1), np.concatenate([v, parts["z"]], axis=-1)


class Sizes(dict[str, float]):
    """The largest values of all kinds; 0 where there is nothing to compare with.

    Parameters
    ----------
    n : int
        The number of coordinates, without those that belong to states.
    """

    def __init__(self, n: int) -> None:
        super().__init__(dict.fromkeys(KINDS, 0.0))
        self.n = n

    def include(self, others: Mapping[str, float]) -> None:
        """Raise the sizes to those of another motion, where these are larger."""
        for kind, size in others.items():
            self[kind] = max(self[kind], size)

    def absolute(self, wanted: Mapping[str, float]) -> dict[str, float]:
        """Return absolute errors of relative ones."""
        return {kind: x * self[kind] for kind, x in wanted.items() if self[kind]}

    def relative(self, pair: Pair) -> Array:
        """Return the largest component of each row of q and v, relative to the sizes."""
        parts = by_kind(pair, self.n)
        each = [np.abs(x).max(axis=-1) / (self[k] or 1.0) for k, x in parts.items()]
        return np.max(each, axis=0)

    def product(self, one: Pair, other: Pair) -> float:
        """Return the inner product of two errors, each component relative to the sizes."""
        x, y = by_kind(one, self.n), by_kind(other, self.n)
        return sum(float(x[k] @ y[k]) / (self[k] or 1.0) ** 2 for k in x)
