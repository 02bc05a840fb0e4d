"""How accurately Newton's iteration must solve: to a fraction of the accelerations, or rounding.

The unknowns of all schemes are accelerations and multipliers. An error e in an acceleration moves
the position by h^2 beta e, and is the most that is tolerated if it is

- a fraction `relative` of the accelerations, or
- what rounding of the position does to it: eps |q| / (h^2 beta).

Multipliers are accelerations in other units: those of mass over constraint gradient.
Norms are Euclidean.

First-order states z have units of their own, each: a pressure of 1e7 beside a velocity of 1 must
not make that one rough. So each is compared with itself (`StateScales`): an error e in z' moves z
by h gamma e, and may be a fraction `relative` of z', or of a hundredth of z / (h gamma), or what
rounding does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from genalpha.kernels import (
    absolute_product,
    correction_size,
    largest,
    norm,
    part,
    plus,
    solution,
    stacked,
)
from genalpha.model import Mechanism
from genalpha.numerics.linear import Solve
from genalpha.numerics.systems import Terms, row_sizes, size_of

Array = np.ndarray

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
#: As well as double precision allows.
FULL = 1e-13
#: Default of `relative` for given steps: constraints then hold almost to rounding, because an error
#: of the acceleration reaches the position times h^2 beta.
DEFAULT = 1e-9
#: Relative rounding error of a rate that is a first difference, with the step that suits it.
RATE_ROUNDING = 4.0 * EPS ** (2.0 / 3.0)
#: A state is taken to change by this part of itself in a step, where its rate says less.
UNCHANGED = 0.01
#: Loosest accuracy that is taken from a tolerance. Judged in docs/pages/residual_calls.md.
LOOSEST = 1e-3


def leading_tolerance(rtol: float, atol: ArrayLike) -> float:
    """Return the tolerance that accuracies follow: the relative one, or else the absolute one."""
    return float(rtol) or float(np.min(np.asarray(atol)))


def for_tolerance(tolerance: float, share: float) -> float:
    """Return the accuracy that goes with a tolerance of local errors.

    With steps that just meet a tolerance, accelerations and multipliers of a second-order scheme
    have errors of about tolerance^(2/3) / 2. What Newton leaves must be a small `share` of
    tolerance^(2/3), because the error estimates differentiate it.
    """
    return min(LOOSEST, max(FULL, share * tolerance ** (2.0 / 3.0)))


@dataclass
class StateScales:
    """What corrections of the states' rates are compared with, beside the rates themselves.

    Attributes
    ----------
    n : int
        The number of coordinates; states come after them.
    size : (s,) array
        What stands for a rate that is zero by chance.
    noise : (s,) array
        What rounding does to rates.
    """

    n: int
    size: Array
    noise: Array


@dataclass
class Scales:
    """What Newton's corrections are compared with; found along with the iteration matrix.

    Attributes
    ----------
    noise : float
        What rounding does to accelerations, times the displacement that they make: through stiff
        forces, and through constraints that are badly conditioned.
    multiplier_noise : float
        The same for multipliers.
    mass_over_gradient : float
        Size of the mass matrix over that of the constraint gradients.
    rounding : float
        Relative error with which constraints are evaluated.
    states : StateScales or None
    units : (n + s + m + l,) array or None
        Where there are states: sizes of accelerations (1), rates (in terms of these), multipliers.
    """

    noise: float
    multiplier_noise: float
    mass_over_gradient: float
    rounding: float
    states: StateScales | None = None
    units: Array | None = None

    def noise_of(self, at: Array, displacement: float) -> float:
        """Return what rounding does to accelerations, `at` and `displacement` as in `size`."""
        return (self.rounding * max(1.0, norm(at)) + self.noise) / abs(displacement)


def scales(
    o: Mechanism,
    inertia: Terms,
    tangent: Terms,
    J: Sequence[Terms],
    q: Array,
    displacement: float,
    solve: Solve,
    multipliers: Array,
) -> Scales:
    """Find the scales from the terms of an iteration matrix, and from what it solves.

    Parameters
    ----------
    inertia, tangent : terms, (n, n)
        The parts of the iteration matrix that come from the mass and from the forces.
    J : sequence of terms
        Constraint gradients.
    q : (n,) array
    displacement : float
        How far the position moves per unit of acceleration: h^2 beta, or h gamma if beta is 0.
    solve : callable
        Solves with the iteration matrix, whose constraints are divided by the displacement.
    multipliers : (m + l,) array
        As they are guessed.

    Notes
    -----
    Forces much stiffer than inertia at this step size are inverted by the iteration matrix, so
    that their noise is never more than that of the position itself.

    How much noise constraints make is seen by solving with their rounding errors: it grows with
    the length of a chain, for example. The errors of a row are those of its own units. Gradients
    that are differenced are rough, and so are reactions, but not the constraints themselves.
    """
    rows = row_sizes(J[0]) if len(J) == 1 else np.concatenate([row_sizes(terms) for terms in J])
    mass, gradient = size_of(inertia), largest(rows)
    if o.n_states:  # whose coordinates mean nothing
        q = plus(q, 0.0, q)
        q[o.n_moving :] = 0.0
    extent = max(1.0, norm(q))
    noise = min(size_of(tangent) / max(mass, TINY), 1.0) * EPS * extent
    rounding = EPS if o.whole is None else o.rounding
    if not gradient:
        return Scales(noise, 0.0, 0.0, rounding)
    n, count = o.n_q, o.n_lam + o.n_psi
    right = stacked(0.0, q, rounding * max(1.0, largest(q)), rows * _signs(count))
    d = solution(solve, right)
    moved, reacted = norm(part(d, 0, o.n_moving)), norm(part(d, n, n + count))
    pushed = o.rounding * absolute_product(rows, multipliers) / max(mass, TINY) * abs(displacement)
    return Scales(max(noise, moved, pushed), reacted, mass / gradient, rounding)


def with_states(
    o: Mechanism, found: Scales, x: Array, v: Array, tangent: Terms, displacement: float
) -> Scales:
    """Return scales that know the states of a mechanism; the same ones if it has none.

    Parameters
    ----------
    o : Mechanism
    found : Scales
    x : (n + s + ...,) array
        Accelerations and rates, as they are guessed.
    v : (n + s,) array
        Velocities and states.
    tangent : terms, (n + s, n + s)
        The part of the iteration matrix that comes from the forces and the rates.
    displacement : float
        How far states move per unit of their rates: h gamma, or with other factors.
    """
    if not o.n_states:
        return found
    n, per = o.n_moving, 1.0 / abs(displacement)
    rates, z = np.abs(x[n : o.n_q]), np.abs(v[n:])
    size = UNCHANGED * per * z
    # rates sum up terms whose rounding errors are no more than those of all velocities
    reach = np.maximum(1.0, np.abs(v)) * per
    terms = sum(abs(c) * (abs(matrix)[n:] @ reach) for c, matrix in tangent)
    # an iteration matrix much larger than 1 divides them by so much
    diagonal = sum(np.abs(c * matrix.diagonal()[n:]) for c, matrix in tangent)
    noise = EPS * (per * np.maximum(1.0, z) + np.asarray(terms) / (1.0 + np.asarray(diagonal)))
    whole = norm(x[:n]) + UNCHANGED * per * max(1.0, norm(v[:n]))
    units = np.ones(o.n_q + o.n_lam + o.n_psi)
    units[n : o.n_q] = (rates + size + noise) / whole
    return replace(found, states=StateScales(n, size, noise), units=units)


@cache
def _signs(count: int) -> Array:
    """Return random signs, always the same."""
    return np.random.default_rng(0).choice([-1.0, 1.0], count)


def of_rates(o: Mechanism, scales: Scales) -> Scales:
    """Return the scales for velocities: rates that nobody gave are differenced.

    Those of a mechanism are sums of gradients, those of a residual without rows for them are first
    differences.
    """
    if o.whole is None:
        if not o.n_lam or {"holonomic_rate", "holonomic_jacobian"} & o.given:
            return scales
        noise = o.rounding / EPS * scales.noise
        return replace(scales, rounding=o.rounding, noise=noise)
    if o.whole.places.rates is not None:
        return scales
    rounding = max(scales.rounding, RATE_ROUNDING)
    # at rest, too, where velocities are no measure
    noise = rounding / scales.rounding * scales.noise
    reacted, ratio = scales.multiplier_noise, scales.mass_over_gradient
    return Scales(noise, reacted, ratio, rounding, scales.states, scales.units)


def size(
    relative: float,
    scales: Scales,
    d: Array,
    x: Array,
    at: Array,
    displacement: float,
    n: int,
    m: int,
) -> float:
    """Return the size of a correction in units of what may remain.

    Parameters
    ----------
    relative : float
        Fraction of the accelerations.
    scales : Scales
    d, x : (n + m + l,) array
        Correction and corrected value of (accelerations, lam, psi).
    at : (n,) array
        Position or velocity, and
    displacement : float
        how far it moves per unit of acceleration: h^2 beta or h gamma.
    """
    if scales.states is not None:
        return _size_with_states(relative, scales, d, x, at, displacement, n, m)
    return _size(relative, scales, d, x, at, displacement, n, m)


def _size(
    relative: float,
    scales: Scales,
    d: Array,
    x: Array,
    at: Array,
    displacement: float,
    n: int,
    m: int,
) -> float:
    per = 1.0 / abs(displacement)
    return correction_size(
        d,
        x,
        at,
        n,
        m,
        relative,
        scales.rounding * per,
        scales.noise * per,
        scales.multiplier_noise * per,
        scales.mass_over_gradient,
    )


def _size_with_states(
    relative: float,
    scales: Scales,
    d: Array,
    x: Array,
    at: Array,
    displacement: float,
    n: int,
    m: int,
) -> float:
    """Return the size of a correction where the last of n accelerations are rates of states."""
    states = scales.states
    assert states is not None
    k = states.n
    change, value = (np.concatenate((y[:k], y[n:])) for y in (d, x))
    found = _size(relative, scales, change, value, at[:k], displacement, k, m)
    allowed = relative * (np.abs(x[k:n]) + states.size) + states.noise
    of_rates = float((np.abs(d[k:n]) / allowed).max())
    return found if found > of_rates or found != found else of_rates  # NaN wins


def larger(a: Array, R: Array) -> Array:
    """Return what corrections are compared with where a holds forces only: a, or a + R.

    Without forces a is 0; with stiff ones a + R is what the constraints leave of a large a.
    """
    whole = plus(a, 1.0, R)
    return whole if norm(whole) > norm(a) else a
