"""Derivatives by differences, for what the user leaves out.

Two needs, two accuracies.

- What enters the *equations* (G, K, the rate and the second derivative of g) must be almost as
  good as an analytic formula: central and fourth-order differences that check themselves, see
  `accurate_jacobian`, `directional_derivative` and `second_directional_derivative`.
- What only enters Newton's *iteration matrix* (stiffness, damping) may be rough:
  forward differences, see `forward_jacobian`.

All functions take ``phi(s)``, a function of one scaled real variable, or columns of a function of
a vector; sparse functions are differenced in groups of columns that share no row
(`group_columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from genalpha.kernels import largest_ratio

Array = np.ndarray

EPS = float(np.finfo(float).eps)
#: Relative error of the accurate differences.
DIFFERENCED = 1e-12
TINY = 1e-300
#: Step of the fourth-order first difference: balances rounding, eps / s, and truncation, s^4.
FIRST_STEP = EPS ** (1 / 5)
#: Step of the second-order first difference: balances eps / s and s^2.
CENTRAL_STEP = EPS ** (1 / 3)
#: A slope that changes more than this within a step of that size needs a shorter one.
FASTEST = 3e-5
#: Step of the fourth-order second difference: balances eps / s^2 and s^4.
SECOND_STEP = EPS ** (1 / 6)
#: Estimates with steps s and 2 s may differ by this much, relatively, before s is cut.
AGREEMENT = 1e-5
#: A relative difference below this is due to truncation or rounding, and no longer to a step so
#: large that the function is another one there.
NEARLY = 0.01
#: Rounding error of a central difference with step 1, relative to the terms of the function.
ROUNDING = 8.0 * EPS
#: Nothing varies that fast.
SMALLEST_STEP = 1e-13


def scale(x: Array) -> Array:
    """Size of the differencing interval of each component: |x_i|, but at least 1."""
    return np.maximum(1.0, np.abs(x))


def time_scale(q: Array, v: Array) -> float:
    """Return the time in which no coordinate moves by more than its `scale`, at most 1."""
    v, q = (np.ascontiguousarray(x, dtype=float) for x in (v, q))
    return 1.0 / max(1.0, largest_ratio(v, q))


def directional_derivative(phi: Callable[[float], Array], terms: ArrayLike = 0.0) -> Array:
    """Return d phi / ds at s = 0 to about 13 digits of the larger of the result and `terms`.

    Parameters
    ----------
    phi : callable(s) -> array
        Scaled such that it varies smoothly over s of order 1. Where it varies faster, the
        estimates with steps s and 2 s disagree and the step is cut.
    terms : array_like
        The size of what is summed up in each component of phi. A constraint is 0 where it is
        differenced, and its rounding errors are those of its terms, not of its value: estimates
        that differ by no more than these errors agree.
    """

    def estimate(s: float) -> tuple[Array, Array]:
        ahead, behind = phi(s), phi(-s)
        return (ahead - behind) / (2.0 * s), ahead

    return _richardson(
        estimate, FIRST_STEP, lambda s: ROUNDING / s * np.asarray(terms), terms, True
    )


def second_directional_derivative(phi: Callable[[float], Array], terms: ArrayLike = 0.0) -> Array:
    """Return d^2 phi / ds^2 at s = 0 to about 10 digits; see `directional_derivative`."""
    twice = 2.0 * phi(0.0)

    def estimate(s: float) -> tuple[Array, Array]:
        ahead, behind = phi(s), phi(-s)
        return (ahead - twice + behind) / s**2, ahead

    def rounding(s: float) -> Array:
        return 4.0 * ROUNDING / s**2 * np.asarray(terms)

    return _richardson(estimate, SECOND_STEP, rounding, terms, False)


def _richardson(
    estimate: Callable[[float], tuple[Array, Array]],
    step: float,
    rounding: Callable[[float], Array],
    terms: ArrayLike,
    vanishes: bool,
) -> Array:
    """Extrapolate a second-order `estimate`, cutting the step until two estimates agree.

    `estimate` returns with the derivative a value of the function. Differences of derivatives are
    compared with both and, where the derivative `vanishes` along a motion on the constraints, with
    `terms`; each row by itself, as far as its own terms are known. What is below `rounding`, the
    error of an estimate with a step, does not count.
    Where rounding prevents agreement all the same, cutting makes the difference of the estimates
    larger instead of smaller: the step before was the best.
    """
    best, least = np.zeros(0), np.inf
    while True:
        near, value = estimate(step)
        if not best.size and not near.any():  # does not depend on s at all: a common case
            return near
        far, _ = estimate(2.0 * step)
        whole = max(_largest(near), _largest(value), _largest(terms) if vanishes else 0.0)
        if whole == 0.0:  # lost in rounding: it was the larger step that saw something
            return best
        change = np.abs(near - far)
        difference = _difference(change, near, value, terms, whole)
        if difference < least:
            best, least = near + (near - far) / 3.0, difference
        elif not best.size:  # NaN or infinity
            return near
        elif least < NEARLY:  # the difference has been small and grows: rounding
            return best
        if least <= AGREEMENT or step < SMALLEST_STEP:
            return best
        noise = rounding(step)
        if (change <= noise).all():
            return best
        if not (noise < np.inf).all():  # where gradients are not finite, nothing can be told
            return np.full(near.shape, np.nan)
        step *= min(0.5, max(0.125, 0.7 * sqrt(AGREEMENT / difference)))


def _difference(change: Array, near: Array, value: Array, terms: ArrayLike, whole: float) -> float:
    """Return the largest relative change of a row: a small one must not hide beside large ones.

    Of a row without terms it is not known what its rounding is; it is compared with the `whole`.
    """
    if not whole < np.inf:
        return np.nan
    rows = np.maximum(np.maximum(np.abs(near), np.abs(value)), terms)
    rows = np.where(np.asarray(terms) > 0.0, np.minimum(rows, whole), whole)
    return _largest(change / rows)


def _largest(values: ArrayLike) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def accurate_jacobian(
    function: Callable[[Array], Array],
    x: Array,
    groups: Groups | None = None,
    known: Array | None = None,
    base: Array | None = None,
) -> Array | sparse.csc_array:
    """Return d function / dx, shape (rows, x.size), to about 10 digits.

    Central differences, 2 evaluations per column. The second difference, which costs nothing
    more, tells where the function varies so fast that a shorter step is needed; it is looked at
    only where it is more than the rounding error of what each row sums up. Sparse when `groups`
    (the pattern's column groups) are given; `known` are columns that are in none of them. `base` is
    ``function(x)``, if it is at hand.
    """
    base, sizes = function(x) if base is None else base, scale(x)
    directions = _directions(sizes, groups)
    found = [_central(function, x, base, direction, CENTRAL_STEP) for direction in directions]
    slopes = np.array([slope for slope, _ in found]).reshape(len(found), base.size)
    whole = np.max(np.abs(slopes), axis=0, initial=0.0)
    share = np.array([np.max(np.abs(x) * (d != 0.0) / sizes) for d in directions])
    rounding = ROUNDING * (np.abs(base) + np.abs(slopes).T @ share)
    if known is not None:
        whole = np.maximum(whole, np.abs(known).max(axis=1))
        rounding = rounding + ROUNDING * np.abs(known) @ np.abs(x)
    for i, direction in enumerate(directions):
        bend, step = found[i][1], CENTRAL_STEP
        while (fast := _curvature(bend, step, whole, rounding)) > FASTEST and step > SMALLEST_STEP:
            step *= min(0.5, max(1e-3, CENTRAL_STEP / fast))
            slopes[i], bend = _central(function, x, base, direction, step)
            whole = np.maximum(whole, np.abs(slopes[i])) if fast < 1.0 else np.abs(slopes[i])
    return _placed(slopes, sizes, groups)


def _central(
    function: Callable[[Array], Array], x: Array, base: Array, direction: Array, step: float
) -> tuple[Array, Array]:
    """Return the slope along a direction and the second difference."""
    ahead, behind = function(x + step * direction), function(x - step * direction)
    return (ahead - behind) / (2.0 * step), ahead - 2.0 * base + behind


def _curvature(bend: Array, step: float, whole: Array, rounding: Array) -> float:
    """Return how much slopes change within a step, relative to the row's largest slope."""
    real = np.abs(bend) > rounding
    return float(np.max(np.abs(bend[real]) / (2.0 * step * whole[real] + TINY), initial=0.0))


def forward_jacobian(
    function: Callable[[Array], Array],
    x: Array,
    base: Array,
    groups: Groups | None = None,
    sizes: Array | None = None,
) -> Array | sparse.csc_array:
    """Return d function / dx by forward differences, to about 7 digits.

    `base` is ``function(x)``; `sizes` are the components' `scale` unless given.
    """
    sizes = np.sqrt(EPS) * (scale(x) if sizes is None else sizes)
    slopes = [function(x + direction) - base for direction in _directions(sizes, groups)]
    return _placed(np.array(slopes).reshape(len(slopes), base.size), sizes, groups)


def _directions(sizes: Array, groups: Groups | None) -> list[Array]:
    """Return directions to difference along: one per column (dense) or per group (sparse)."""
    if groups is None:
        return list(np.diag(sizes))
    inside = [np.isin(np.arange(sizes.size), members) for members in groups.columns]
    return [np.where(members, sizes, 0.0) for members in inside]


def _placed(slopes: Array, sizes: Array, groups: Groups | None) -> Array | sparse.csc_array:
    """Return the Jacobian of slopes along all directions."""
    return slopes.T / sizes if groups is None else groups.placed(slopes, sizes)


class Groups:
    """Columns of a sparse pattern in groups that share no row, so that one difference serves all.

    Parameters
    ----------
    pattern : sparse array, shape (rows, columns)
        Its nonzeros are where the derivative may be nonzero.
    """

    def __init__(self, pattern: sparse.sparray) -> None:
        self.pattern = sparse.csc_array(pattern, dtype=float)
        self.pattern.sort_indices()
        self.columns = group_columns(self.pattern)
        indptr = self.pattern.indptr
        owner = np.repeat(np.arange(self.pattern.shape[1]), np.diff(indptr))
        membership = np.empty(self.pattern.shape[1], dtype=int)
        for number, members in enumerate(self.columns):
            membership[members] = number
        #: For every stored entry: the row it is read from, the group whose difference holds it.
        self._rows, self._owner = self.pattern.indices, owner
        self._group = membership[owner]

    def dense(self, slopes: Array, sizes: Array) -> Array:
        """Put differences, shape (groups, rows), in their places of a dense matrix."""
        matrix = np.zeros(self.pattern.shape)
        matrix[self._rows, self._owner] = slopes[self._group, self._rows] / sizes[self._owner]
        return matrix

    def placed(self, slopes: Array, sizes: Array) -> sparse.csc_array:
        """Put differences, shape (groups, rows), in their places."""
        values = slopes[self._group, self._rows] / sizes[self._owner]
        return sparse.csc_array(
            (values, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape
        )


def group_columns(pattern: sparse.csc_array) -> list[Array]:
    """Colour columns greedily (Curtis, Powell, Reid 1974): columns of a group share no row.

    SciPy has such a function, but not in its public interface.
    """
    rows = pattern.tocsr()
    colour = np.full(pattern.shape[1], -1)
    for j in range(pattern.shape[1]):
        mine = pattern.indices[pattern.indptr[j] : pattern.indptr[j + 1]]
        neighbours = [rows.indices[rows.indptr[i] : rows.indptr[i + 1]] for i in mine]
        taken = set(colour[np.concatenate(neighbours)]) if neighbours else set()
        free = 0
        while free in taken:
            free += 1
        colour[j] = free
    return [np.flatnonzero(colour == number) for number in range(int(colour.max(initial=-1)) + 1)]


def find_pattern(
    functions: Sequence[Callable[[Array], Array]], x: Array, random: np.random.Generator
) -> sparse.csc_array:
    """Find where the derivative of any of the `functions` is nonzero, by probing each column.

    Costs x.size evaluations at each of two random points near `x`, once; a large problem should
    give its pattern instead. What does not depend on a component does not change at all when it
    moves, so the moves may be large, and rounding hides no weak dependence.
    """
    sizes = 1e-3 / np.sqrt(EPS) * scale(x)
    found = None
    for function in functions:
        for _ in range(2):
            point = x + 1e-3 * scale(x) * random.uniform(-1.0, 1.0, x.size)
            jacobian = forward_jacobian(function, point, function(point), None, sizes)
            mask = sparse.csc_array(jacobian != 0.0)  # NaN may be anything, so it counts
            found = mask if found is None else found + mask
    return sparse.csc_array(found, dtype=float)
