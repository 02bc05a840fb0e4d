"""Constraints of second degree: what they are everywhere is known from one place.

Rods, spheres, joints of points and the norms of Euler parameters are

    g(q) = g_r + G_r d + H(d, d) / 2,      d = q - q_r,

wherever q is. G = G_r + H d, G v and H(v, v) then cost no calls.
"""

from __future__ import annotations

import numpy as np

from genalpha.model.callbacks import Array, VectorFunction
from genalpha.model.differences import EPS, scale

#: How far q is moved, relative to its size: differences of a quadratic are right with any step.
STEP = 0.125
#: Values agree if they differ by no more than this part of what they sum up.
CLOSE = 1e-11
#: Rounding of third differences; g sums up more than it changes by, but not that much more.
NOISE = 512.0 * EPS
#: Second derivatives cost n^2 / 2 calls and n^2 m numbers: not for more coordinates than this.
MOST = 64


class Quadratic:
    """A constraint of second degree, as it is at q_r.

    Parameters
    ----------
    q, g : (n,) and (m,) array
        A point, and the value there.
    G, H : (m, n) and (m, n, n) array
        Derivatives there.
    moving : int, optional
        Coordinates from this one on do not matter, see `genalpha.model.states`.
    """

    def __init__(self, q: Array, g: Array, G: Array, H: Array, moving: int | None) -> None:
        self.q, self.g, self.G, self.H, self.moving = q, g, G, H, moving
        self._allowed = (
            CLOSE * (np.abs(g) + np.abs(G) @ scale(q)),
            CLOSE * np.abs(G).sum(axis=1),
            CLOSE * np.abs(H).sum(axis=(1, 2)),
        )

    def jacobian(self, q: Array) -> Array:
        """Return G."""
        return self.G + self.H @ (q - self.q)

    def fits(self, q: Array, g: Array) -> bool:
        """Tell whether g is the value at q."""
        d = q - self.q
        wrong = np.abs(g - self.g - (self.G + 0.5 * (self.H @ d)) @ d)
        far, (a, b, c) = float(np.abs(d[: self.moving]).max()), self._allowed
        return bool((wrong <= a + far * (b + far * c)).all())  # NaN does not fit


def quadratic_at(
    g: VectorFunction, t: float, q: Array, moving: int | None = None
) -> Quadratic | None:
    """Return what g is if it is quadratic in q and does not know the time, else None.

    Costs n (n + 1) / 2 + n + 6 calls, or 5 if g is something else.
    """
    n, steps, base = q.size, STEP * scale(q), g(t, q)
    if n > MOST or not np.array_equal(g(t + STEP, q), base):
        return None
    d = steps * np.random.default_rng(0).uniform(0.5, 1.0, n)
    line = [g(t, q + s * d) for s in (-1.0, 1.0, 2.0)]
    third = line[2] - 3.0 * line[1] + 3.0 * base - line[0]
    size = np.max(np.abs([base, *line]), axis=0) + np.abs(line[1] - line[0])
    if not (np.abs(third) <= NOISE * size).all():
        return None
    ahead = np.array([g(t, q + move) for move in np.diag(steps)]) - base
    behind = np.array([g(t, q - move) for move in np.diag(steps)]) - base
    both = np.empty((base.size, n, n))
    for i in range(n):
        both[:, i, i] = ahead[i] + behind[i]
        for j in range(i):
            move = np.zeros(n)
            move[[i, j]] = steps[[i, j]]
            both[:, i, j] = both[:, j, i] = g(t, q + move) - base - ahead[i] - ahead[j]
    sums = np.abs(base) + np.abs(ahead).max(axis=0) + np.abs(behind).max(axis=0)
    both[np.abs(both) <= 0.1 * NOISE * sums[:, None, None]] = 0.0
    G = 0.5 * (ahead - behind).T / steps
    found = Quadratic(q.copy(), base, G, both / np.multiply.outer(steps, steps), moving)
    return (
        found
        if all(found.fits(q + s * d, x) for s, x in zip((-1, 1, 2), line, strict=True))
        else None
    )
