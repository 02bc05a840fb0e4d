"""A matrix that was right a little earlier, and what is known of its age.

Products with matrices of a residual (its mass, the derivatives of its reactions) are calls. Where
only small vectors are multiplied, a matrix of an earlier time will do: what it has missed of the
last product that was asked for is remembered, and how far it was off then tells when to ask again.
"""

from __future__ import annotations

import numpy as np

from genalpha.kernels import combined, norm, plus, product, scalar_product

Array = np.ndarray

NOTHING = np.zeros(0)

#: How far products are taken to be off, relative to them, before one has been asked for, at least
#: (one that was right by chance tells little) and at most.
AT_FIRST, AT_LEAST, AT_MOST = 0.1, 0.002, 1.0
#: What was off once is taken to be off by this share of it, at least, the next time.
FADING = 0.7
#: What was missed is not taken to have grown by more than this.
GROWTH = 4.0


class Learnt:
    """Products with a matrix that ages.

    Attributes
    ----------
    off : float
        How far products are off, relative to them.
    """

    def __init__(self) -> None:
        self.off = AT_FIRST
        self._matrix: Array | None = None
        self._made = 0.0
        # a vector, what the matrix has missed of its product over its square, and how old it was
        self._vector: Array | None = None
        self._missed = NOTHING
        self._then = 0.0

    def renew(self, matrix: Array | None, t: float) -> None:
        """Take another matrix, which is right at t."""
        if matrix is not self._matrix:
            self._matrix, self._made, self._vector = matrix, t, None

    @property
    def is_known(self) -> bool:
        """Whether there is a matrix."""
        return self._matrix is not None

    def __call__(self, x: Array, t: float) -> Array:
        """Return the product with x at t, about."""
        return self.times(x, t)

    def times(self, x: Array, t: float) -> Array:
        """Return the same, without a detour over Python."""
        found, then, growth = product(self._matrix, x), self._then, GROWTH
        if self._vector is None:
            return found
        age = min(abs(t - self._made) / then, growth) if then else 1.0
        return plus(found, age * scalar_product(self._vector, x), self._missed)

    def doubt(self, x: Array, found: Array, age: float) -> float:
        """Return what may be wrong with a product that was `found` for x.

        What is not along the vector that was learnt last is as wrong as the matrix is: by `age`,
        relative to it.
        """
        doubt, vector = self.off * norm(found), self._vector
        if age > self.off:
            if vector is not None:
                c = scalar_product(vector, x) / scalar_product(vector, vector)
                x = plus(x, -c, vector)
            doubt += age * norm(product(self._matrix, x))
        return doubt

    def missed(self, x: Array, true: Array) -> float:
        """Return what the matrix itself misses of a product, relative to it; at most 1."""
        whole = norm(true)
        return min(norm(plus(true, -1.0, product(self._matrix, x))) / whole, 1.0) if whole else 0.0

    def learn(self, x: Array, true: Array, t: float) -> None:
        """Compare with the true product."""
        whole, square = norm(true), scalar_product(x, x)
        if not whole or not square:
            return
        off = norm(plus(true, -1.0, self.times(x, t))) / whole
        self.off = min(max(off, FADING * self.off, AT_LEAST), AT_MOST)
        missed = plus(true, -1.0, product(self._matrix, x))
        # what is all wrong is noise, or has nothing to do with the matrix
        self._vector = x if norm(missed) < whole else None
        self._missed = combined(1.0 / square, missed, 0.0, missed)
        self._then = abs(t - self._made)
