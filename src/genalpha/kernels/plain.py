"""Operations on short vectors and small matrices, with NumPy.

This is what the operations mean; `compiled` has the same ones, which do in one call what takes
NumPy several. All return new arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array
TINY = float(np.finfo(float).tiny)
#: Of a direction, this share must be new for `secant` to learn from it.
NEW = 0.05
#: What a matrix misses is taken to have grown with its age by no more than this factor. It has
#: other causes, too: another step size, or a force that has jumped.
OLDER = 4.0
#: What is known may change a correction by no more than this share of it: one that is taken away
#: would end the iteration.
CHANGED = 0.7


def norm(x: Array) -> float:
    """Return the Euclidean norm of a vector."""
    return sqrt(x.dot(x))


def part(x: Array, first: int, last: int) -> Array:
    """Return a copy of the entries from `first` to before `last`."""
    return x[first:last].copy()


def plus(x: Array, c: float, y: Array) -> Array:
    """Return x + c y; of a longer y, the first entries count."""
    return x + c * y[: x.size]


def summed(a: float, A: Array, b: float, B: Array) -> Array:
    """Return a A + b B, matrices in C order."""
    return np.ascontiguousarray(a * A + b * B)


def rows_at(A: Array, places: Array, c: float, factors: Array | None = None) -> Array:
    """Return some rows of a matrix, divided by c, and each times a factor."""
    rows = A[places] / c
    return rows if factors is None else factors[: places.size, None] * rows


def alike_columns(A: Array, B: Array, sizes: Array, doubts: Array) -> list[int]:
    """Return the columns in which no |a_ij - b_ij| sizes_j is above |A| doubts in its row."""
    wrong = np.abs(A - B) * sizes > (np.abs(A) @ doubts)[:, None]
    return [int(j) for j in np.flatnonzero(~wrong.any(axis=0))]


def row_times(A: Array, i: int, x: Array) -> Array:
    """Return row i of a matrix times x, entry by entry."""
    return np.asarray(A[i] * x)


def largest_change(A: Array, B: Array) -> float:
    """Return the largest |a_ij - b_ij| of two matrices of the same shape, or 0; NaN wins."""
    return float(np.max(np.abs(A - B), initial=0.0))


def combined(
    a: float, x: Array, b: float, y: Array, c: float = 0.0, z: Array | None = None
) -> Array:
    """Return a x + b y + c z; of longer y and z, the first entries count."""
    result = a * x + b * y[: x.size]
    return result if z is None else result + c * z[: x.size]


def stacked(
    a: float, x: Array, b: float, y: Array, c: float = 0.0, z: Array | None = None
) -> Array:
    """Return the vector (a x, b y, c z)."""
    return np.concatenate([a * x, b * y] if z is None else [a * x, b * y, c * z])


def write_at(r: Array, places: Array, x: Array, first: int = 0) -> None:
    """Write values of x, from the first one on, into r at their places."""
    r[places] = x[first : first + places.size]


def taken(x: Array, places: Array, factors: Array | None = None) -> Array:
    """Return the values of x at some places, times factors."""
    return x[places] if factors is None else x[places] * factors[: places.size]


def add_taken(
    r: Array, first: int, c: float, x: Array, places: Array, factors: Array | None = None
) -> None:
    """Add c times the values of x at some places, times factors, to r from an entry on."""
    r[first : first + places.size] += c * taken(x, places, factors)


def largest_ratio(x: Array, y: Array) -> float:
    """Return the largest |x_i| / max(1, |y_i|), or 0; of a longer y, the first entries count."""
    return float(np.fmax.reduce(np.abs(x) / np.fmax(1.0, np.abs(y[: x.size])), initial=0.0))


def scalar_product(x: Array, y: Array) -> float:
    """Return the sum of x_i y_i."""
    return float(x.dot(y))


def increments(
    q: Array, v: Array, cq: float, cv: float, size: float, least: float, tiny: float
) -> Array:
    """Return size times the largest moves d for which neither cq d nor cv d leaves its scale.

    The scale is max(1, |q|) or max(1, |v|). With `least`, they are not smaller than this share of
    what q alone allows. `tiny` stands for a factor that is 0.
    """
    by_q = np.maximum(1.0, np.abs(q)) / max(abs(cq), tiny)
    by_v = np.maximum(1.0, np.abs(v)) / max(abs(cv), tiny)
    return np.asarray(size * np.maximum(np.minimum(by_q, by_v), least * by_q))


def slopes(rows: list[Array], base: Array, sizes: Array, which: Array | None = None) -> Array:
    """Return the matrix of columns (rows[j] - base) / sizes[j], or of rows[which[j]]."""
    found = np.array(rows).reshape(len(rows), base.size) - base
    return np.divide((found if which is None else found[which]).T, sizes, order="C")


def jumps(values: Array, share: float, rounding: float) -> list[int]:
    """Return the rows after which a component changes at once by more than a share of its range.

    Ranges below `rounding` times the largest value do not count.
    """
    changes = np.abs(values[1:] - values[:-1])
    span = values.max(axis=0, initial=-np.inf) - values.min(axis=0, initial=np.inf)
    seen = span > rounding * np.abs(values).max(initial=0.0)
    return [int(i) for i in np.flatnonzero((seen & (changes > share * span)).any(axis=1))]


def absolute_product(x: Array, y: Array) -> float:
    """Return the sum of |x_i y_i|."""
    return float(np.abs(x) @ np.abs(y))


def error_weights(atol: Array, rtol: float, x: Array, x_new: Array) -> Array:
    """Return atol + rtol max(|x|, |x_new|), component by component."""
    return np.asarray(atol + rtol * np.maximum(np.abs(x), np.abs(x_new)))


def weighted_norm(error: Array, weight: Array) -> float:
    """Return the root mean square of error / weight, as IDA and RADAU5 take it; 0 if empty."""
    return norm(error / weight) / sqrt(error.size) if error.size else 0.0


def weighted_cosine(x: Array, y: Array, weight: Array) -> float:
    """Return the cosine of the angle between x / weight and y / weight; 0 if one vanishes."""
    x, y = x / weight, y / weight
    length = norm(x) * norm(y)
    return float(x.dot(y)) / length if length > 0.0 else 0.0


def remember(values: Array, times: Array, row: int, t: float, x: Array) -> None:
    """Write a time and a vector into a row of a table and of its times."""
    values[row], times[row] = x, t


def write_row(table: Array, row: int, t: float, q: Array, v: Array, a: Array, kept: Array) -> None:
    """Write a time and four vectors beside each other into a row of a table."""
    table[row] = np.concatenate([[t], q, v, a, kept])


def extrapolated(
    values: Array,
    times: Array,
    newest: int,
    known: int,
    t: float,
    relation: tuple[float, ...] = (),
) -> Array:
    """Return the value at `t`, by the highest order that is still an improvement.

    The polynomials through the newest one, two, ... of the known rows are compared: as long as
    they come nearer and nearer to each other, the higher one is taken.

    With a `relation` (c_1, c_2, ...), the values x_k of equal steps may hold, beside the
    polynomial, what satisfies x_k + c_1 x_{k-1} + c_2 x_{k-2} + ... = 0: that sum is extrapolated
    instead. It takes as many more rows.

    Parameters
    ----------
    values, times : (k, n), (k,) array
        Rows were written in turn, see `remember`: the one before row 0 is the last one.
    newest, known : int
        Which row was written last, and how many count.
    """
    rows = [(newest - i) % len(times) for i in range(known)]
    at, past = [float(times[i]) for i in rows], [values[i] for i in rows]
    sums = past[: known - len(relation)]
    for i, c in enumerate(relation, 1):
        sums = [z + c * x for z, x in zip(sums, past[i:], strict=False)]
    guess, last = sums[0].copy(), np.inf
    for order in range(1, len(sums)):
        better = np.zeros_like(guess)
        for i in range(order + 1):
            others = at[:i] + at[i + 1 : order + 1]
            better += prod((t - other) / (at[i] - other) for other in others) * sums[i]
        change = norm(better - guess)
        if order > 1 and not change < last:
            break
        guess, last = better, change
    for c, x in zip(relation, past, strict=False):
        guess = guess - c * x
    return guess


def assembled(size: int, blocks: Sequence[tuple[int, int, float, Array]]) -> Array:
    """Return a square matrix in Fortran order, the sum of (row, column, coefficient, block)."""
    whole = np.zeros((size, size), order="F")
    for row, column, c, block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] += c * block
    return whole


def same(x: Array, y: Array) -> bool:
    """Tell whether two arrays of whole numbers are equal."""
    return x is y or bool(np.array_equal(x, y))


def scattered(size: int, places: Array, terms: Sequence[tuple[float, Array]]) -> Array:
    """Return a vector into which all values, times their coefficients, are added at their places.

    `places` has one index for each value of all terms, in order.
    """
    values = np.concatenate([c * x for c, x in terms])
    return np.bincount(places, values, size)


def largest(A: Matrix) -> float:
    """Return the largest absolute value in a dense or sparse matrix, 0 if there is none."""
    values = A if isinstance(A, np.ndarray) else A.data
    return float(np.max(np.abs(values), initial=0.0))


def largest_of_rows(A: Matrix) -> Array:
    """Return the largest absolute value in each row of a dense or sparse (CSC) matrix."""
    if isinstance(A, np.ndarray):
        return np.abs(A).max(axis=1, initial=0.0)
    found = np.zeros(A.shape[0])
    np.maximum.at(found, A.indices, np.abs(A.data))
    return found


def snapshot(A: Matrix) -> Matrix:
    """Return a copy of a dense or sparse matrix, for products only."""
    return A.copy()


def zeros(n: int) -> Array:
    """Return a vector of zeros."""
    return np.zeros(n)


def add(r: Array, first: int, c: float, y: Array) -> None:
    """Add c y to r, from its entry `first` on, in place."""
    r[first : first + y.size] += c * y


def add_product(r: Array, c: float, A: Matrix, x: Array, first: int) -> None:
    """Add c A x to the first entries of r, in place; x begins at its entry `first`."""
    n, m = A.shape
    r[:n] += c * (A @ x[first : first + m])


def add_transposed_product(r: Array, c: float, A: Matrix, x: Array, first: int) -> None:
    """Add c A^T x to the first entries of r, in place; x begins at its entry `first`."""
    m, n = A.shape
    r[:n] += c * (A.T @ x[first : first + m])


def product(A: Matrix, x: Array) -> Array:
    """Return A x, for a dense or sparse A."""
    return np.asarray(A @ x)


def transposed_product(c: float, A: Matrix, x: Array) -> Array:
    """Return c A^T x, for a dense or sparse A."""
    return np.asarray(c * (A.T @ x))


def correction_size(
    d: Array,
    x: Array,
    at: Array,
    n: int,
    m: int,
    relative: float,
    rounding: float,
    noise: float,
    multiplier_noise: float,
    mass_over_gradient: float,
) -> float:
    """Return the size of Newton's correction, as `genalpha.numerics.accuracy` defines it.

    Parameters
    ----------
    d, x : (n + m + l,) array
        Correction and value of (accelerations, lam, psi).
    at : (n,) array
        Position or velocity.
    n, m : int
    relative, rounding, noise, multiplier_noise, mass_over_gradient : float
        An acceleration may be wrong by relative |a| + rounding max(1, |at|) + noise, a multiplier
        by mass_over_gradient times that plus relative |lam| + multiplier_noise.
    """
    allowed = relative * norm(x[:n]) + rounding * max(1.0, norm(at)) + noise
    sizes = [norm(d[:n]) / allowed]
    for block in (slice(n, n + m), slice(n + m, None)):
        if d[block].size:
            scale = mass_over_gradient * allowed + relative * norm(x[block])
            sizes.append(norm(d[block]) / (scale + multiplier_noise + TINY))
    return float(np.max(sizes))  # NaN wins


def broyden(moves: list[Array], d: Array, n: int, weight: float) -> Array:
    """Return a quasi-Newton correction: `d` with Broyden's updates; `d` is overwritten.

    Parameters
    ----------
    moves : list of (k,) array
        The corrections that were made before in the same iteration.
    d : (k,) array
        What the iteration matrix gives.
    n, weight : int, float
        Entries from n on count `weight` times in scalar products.

    Notes
    -----
    C. T. Kelley, Iterative Methods for Linear and Nonlinear Equations (1995), algorithm brsol: no
    matrix is stored. An update that would more than double the correction is left out.
    """
    z = d
    weights = np.where(np.arange(d.size) < n, 1.0, weight)
    for j, s in enumerate(moves):
        squared = (weights * s).dot(s)
        if squared == 0.0:
            return z
        c = (weights * s).dot(z) / squared
        if j < len(moves) - 1:
            z += c * moves[j + 1]
        elif c < 0.5:
            z /= 1.0 - c
    return z


def secant(
    pairs: list[tuple[Array, Array, float]], d: Array, n: int, weight: float, age: float
) -> Array:
    """Return a quasi-Newton correction: `d`, made up for the age of the matrix; overwrites `d`.

    Parameters
    ----------
    pairs : list of ((k,) array, (k,) array, float)
        Corrections that were made with the same matrix A, what was wrong with each of them,
        (I - A^-1 A_now) times it, and how old the matrix was; the last ones count first.
    d : (k,) array
        What the iteration matrix gives.
    n, weight : int, float
        Entries from n on count `weight` times in scalar products.
    age : float
        How old the matrix is now: what is wrong with it grows as its age, up to `OLDER` times.

    Notes
    -----
    The part of `d` that lies in the space of A^-1 A_now times the known corrections is replaced by
    what leads there (the secant condition of Broyden and of Anderson for all pairs at once).
    Together, these may not change `d` by more than a share `CHANGED` of itself.
    """
    weights = np.where(np.arange(d.size) < n, 1.0, weight)
    known: list[tuple[Array, Array]] = []
    for s, wrong, then in reversed(pairs):
        e = wrong * (min(age / then, OLDER) if then > 0.0 else 1.0)
        y = s - e
        whole = (weights * y).dot(y)
        for direction, error in known:
            c = (weights * direction).dot(y)
            y, e = y - c * direction, e - c * error
        left = (weights * y).dot(y)
        if left > NEW**2 * whole:
            known.append((y / np.sqrt(left), e / np.sqrt(left)))
    x, rest = np.zeros(d.size), d.copy()
    for direction, error in known:
        c = (weights * direction).dot(rest)
        rest -= c * direction
        x += c * error
    if (weights * x).dot(x) <= CHANGED**2 * (weights * d).dot(d):
        d += x
    return d


class DenseLU:
    """LU factorization of a dense matrix (in place if in Fortran order); call it to solve.

    Attributes
    ----------
    smallest, largest : float
        Absolute values of the pivots; NaN if there is one.
    """

    def __init__(self, matrix: Array) -> None:
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"a matrix of shape {matrix.shape} has no LU factorization here")
        self.smallest, self.largest = np.inf, 0.0
        self._size = matrix.shape[0]
        if self._size:
            self._lu, self._pivots, _ = dgetrf(matrix, overwrite_a=True)
            pivots = np.abs(self._lu.diagonal())
            self.smallest, self.largest = float(pivots.min()), float(pivots.max())

    def __call__(self, right: Array) -> Array:
        """Return the solution for one right-hand side (n,) or several (n, k)."""
        if right.shape[0] != self._size:
            raise ValueError(
                f"right-hand side of shape {right.shape} for a matrix of size {self._size}"
            )
        return dgetrs(self._lu, self._pivots, right)[0] if right.size else right.copy()


def solution(solve: Callable[[Array], Array], right: Array) -> Array:
    """Return the solution of a system; `right` may be overwritten by it."""
    return solve(right)


class Checked:
    """A callback whose result is copied, or handed to `otherwise` if it is not as expected.

    Parameters
    ----------
    function : callable
    shape : (n,) or (n, m)
        Expected are doubles of this shape.
    otherwise : callable(value, t) -> array
        Converts what can be converted, and raises an error about the rest; t is the first argument
        of the call, None if it had none.

    Attributes
    ----------
    calls : int
        How often the function was called.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        shape: tuple[int, ...],
        otherwise: Callable[[Any, Any], Array],
    ) -> None:
        self.function, self.shape, self.otherwise = function, shape, otherwise
        self.calls = 0

    def __call__(self, *arguments: Any) -> Array:
        """Call the function, and return its result as an array of our own."""
        value = self._of(arguments)
        return (
            value.copy()
            if self._is_expected(value)
            else self.otherwise(value, *arguments[:1] or [None])
        )

    def now(self, *arguments: Any) -> Array:
        """Return the result without a copy, to be used before the next call."""
        value = self._of(arguments)
        if self._is_expected(value) and value.flags.c_contiguous:
            return np.asarray(value)
        return self.otherwise(value, *arguments[:1] or [None])

    def _of(self, arguments: tuple[Any, ...]) -> Any:
        self.calls += 1
        return guarded(self.function, arguments)

    def _is_expected(self, value: Any) -> bool:
        return (
            type(value) is np.ndarray
            and value.shape == self.shape
            and value.dtype == float
            and value.flags.aligned
        )


class Native:
    """A C function as a callback: no Python is run when it is called.

    Parameters
    ----------
    address : int
        Of a function of t, one pointer for each vector, the pointer to the result, and `data`.
    data : int
        A pointer that it gets last; 0 for none.
    inputs : tuple of 1, 2, 4 or 5 int
        Sizes of the vectors that it takes: q | q, v | q, v, lam, psi | q, v, vdot, lam, psi.
    shape : tuple of int
        Of what it writes, in C order.
    kept : object, optional
        Something that must live as long as the function.

    Attributes
    ----------
    calls : int
        How often the function was called.
    """

    def __init__(
        self,
        address: int,
        data: int,
        inputs: tuple[int, ...],
        shape: tuple[int, ...],
        kept: Any = None,
    ) -> None:
        if len(inputs) not in (1, 2, 4, 5) or not address:
            raise ValueError(f"no function of {len(inputs)} vectors at address {address}")
        self.address, self.data, self.inputs, self.shape = address, data, inputs, shape
        self.calls = 0
        self._kept = kept
        pointers = [ctypes.c_void_p] * (len(inputs) + 2)
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_double, *pointers)(address)

    def __call__(self, t: float, *arguments: Any) -> Array:
        """Return the result in an array that nobody else holds."""
        result = np.empty(self.shape)
        self.write(t, arguments, result)
        return result

    now = __call__

    def write(self, t: float, arguments: tuple[Any, ...], out: Array) -> None:
        """Write the result to the beginning of an array, which may be longer."""
        if len(arguments) != len(self.inputs):
            raise TypeError(f"expected t and {len(self.inputs)} vectors, got {len(arguments)}")
        if out.size < prod(self.shape):
            raise ValueError(f"{out.size} places for a result of shape {self.shape}")
        given = [np.ascontiguousarray(x, dtype=float) for x in arguments]
        for x, size in zip(given, self.inputs, strict=True):
            if x.size != size:
                raise ValueError(f"an argument has {x.size} entries; expected {size}")
        self.calls += 1
        self._function(t, *[x.ctypes.data for x in given], out.ctypes.data, self.data)


def guarded(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function of the user with arrays that it cannot change."""
    free = [x for x in arguments if isinstance(x, np.ndarray) and x.flags.writeable]
    for x in free:
        x.flags.writeable = False
    try:
        return function(*arguments)
    finally:
        for x in free:
            x.flags.writeable = True


def called(function: Callable[..., Any], t: float, q: Array, v: Array | None = None) -> Any:
    """Return function(t, q) or function(t, q, v), to be used before the next call."""
    function = getattr(function, "now", function)
    return function(t, q) if v is None else function(t, q, v)
