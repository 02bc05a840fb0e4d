"""The drift of GenAlphaI3's velocity from the constraints: found, taken away, put on.

The scheme makes a local error C h^3 v'' in q, see `genalpha.numerics.local_error`, which (2) of
Arnold and Brüls allows in the directions of the constraints only if the velocity makes up for it:
after some steps of size h, g_t + G v = -C h^2 G v''. The paper starts without it and has constant
steps; what is done about it here is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.kernels import (
    combined,
    largest,
    norm,
    plus,
    product,
    solution,
    stacked,
    transposed_product,
)
from genalpha.model import Mechanism
from genalpha.model.differences import EPS, directional_derivative, time_scale
from genalpha.numerics.linear import factorize, saddle, stack
from genalpha.numerics.newton import Newton
from genalpha.numerics.prediction import Past

Array = np.ndarray
#: Most solutions with an old matrix, and the best relative accuracy that rounding lets them reach.
REPEATS, ROUNDING = 12, 1e-13
#: The drift of a residual is seen so far ahead, in steps: what Newton's iteration has left in g,
#: over this time, is small against it, and so is what a swing of vdot moves in it.
AHEAD = 0.02
#: Positions tell the drift of a residual if the square of how far G has turned since the last
#: matrix, and what their polynomial may be wrong by, times the share by which the drift is to
#: change, are no more than the second.
OF_PLACES, KNOWN = 0.01, 0.003
#: Where G has turned by more than this, times the same share, a call tells whether the drift has
#: changed as it should.
SURE = 0.1


def jerk(o: Mechanism, newton: Newton, state: Any, vdot1: Array, h: float) -> Array:
    """Return G v'', from the derivative of 0 = G vdot + (g_tt + 2 g_tq v + g_qq(v, v)).

    Of a residual, where that would cost calls, and where G is differenced, so that its derivatives
    would be noise, from the acceleration after a step of size h.
    """
    t, q, v, vdot = state.t, state.q, state.v, state.vdot
    if o.whole is not None or "holonomic_jacobian" not in o.given:
        G = o.holonomic_jacobian(t, q) if o.whole is None else newton.last_solvers.G
        return product(G, (vdot1 - vdot) / h)
    T = time_scale(q[: o.n_moving], v[: o.n_moving])

    def acceleration_level(s: float) -> Array:
        t_s, q_s, v_s = t + s * T, q + s * T * v, v + s * T * vdot
        return o.holonomic_jacobian(t_s, q_s) @ vdot + o.holonomic_acceleration(t_s, q_s, v_s)

    return -directional_derivative(acceleration_level) / T


def present_drift(o: Mechanism, state: Any, constant: float, ratio: float, places: Past) -> Array:
    """Return g_t + G v, before a step `ratio` times as large as the last one.

    Of a residual by its own rows, where the last correction has seen them. Otherwise, before
    growing steps, it is taken as -C h^2 G v'', where `constant` is -C, by the last change of a: the
    swing in that cancels as the drift's own does, with the drift before. Before others, the
    positions of the last steps tell: their polynomial keeps to the constraints, so that its
    velocity has no drift. Where that is too rough, one call a little ahead in the motion tells. In
    steps so short that -C h^2 G v'' is nothing but rounding there, the drift is taken as 0: nothing
    is to be changed.
    """
    whole = o.whole
    if whole is None:
        return o.holonomic_rate(state.t, state.q, state.v)
    if state.rate is not None:
        return state.rate
    t, h, change = state.t, state.h, plus(state.a, -1.0, state.a_old)
    if whole.latest is not None and not whole.has_rates:
        G, turned = whole.latest.G, whole.derivatives.turned(t)
        first = _times(constant * h, product(G, change))
        if AHEAD * abs(h) * norm(first) <= EPS * max(1.0, largest(state.q)) * largest(G):
            return _times(0.0, first)
        if places.is_full and ratio > 1.0 and state.unit_drift_before is not None:
            return product(whole.derivatives.gradient(t), _times(constant * h, change))
        if places.is_full and (turned**2 + OF_PLACES) * abs(ratio**2 - 1.0) <= KNOWN:
            G = whole.derivatives.gradient(t)
            return product(G, plus(state.v, -1.0, _speed(places, t, AHEAD * h)))
    third = _times(1.0 / h, change)
    state.rate = whole.rate_ahead(t, state.q, state.v, state.vdot, third, AHEAD * h)
    return state.rate


def _speed(places: Past, t: float, s: float) -> Array:
    """Return the velocity with which positions move through `t`, over a time s before and after."""
    return combined(0.5 / s, places.predicted(t + s), -0.5 / s, places.predicted(t - s))


def drifted(o: Mechanism, newton: Newton, state: Any, drift: Array, relative: float) -> Array:
    """Return the same as `with_drift`, without a new factorization.

    The iteration matrix of the last step is near enough to the one that is wanted: its solution is
    corrected until it is right, to the `relative` accuracy of Newton's iteration. Of a residual,
    where M and G would cost calls, the matrix is taken as the last corrections have improved it.
    """
    if o.whole is not None and newton.last_solvers is not None:
        v = plus(state.v, 1.0, _by_the_last_matrix(o, newton, state, drift))
        if state.rate is not None and _is_unsure(o.whole, state, drift):
            third = combined(1.0 / state.h, state.a, -1.0 / state.h, state.a_old)
            t, q, vdot = state.t, state.q, state.vdot
            there = o.whole.rate_ahead(t, q, v, vdot, third, AHEAD * state.h)
            left = combined(1.0, drift, -1.0, there, 1.0, state.rate)
            v = plus(v, 1.0, _by_the_last_matrix(o, newton, state, left))
        return v
    if o.n_psi or not o.is_ideal or newton.last_solvers is None:
        return with_drift(o, state, drift)
    t, q, n = state.t, state.q, o.n_q
    M, G = o.mass(t, q), o.holonomic_jacobian(t, q)
    x, right = np.zeros(n + o.n_lam), stacked(0.0, q, 1.0, drift)
    relative = max(relative, ROUNDING)
    for _ in range(REPEATS):
        x = plus(x, 1.0, solution(newton.last_solvers.solve, right))
        inertia, reached = product(M, x[:n]), product(G, x[:n])
        r = combined(-1.0, inertia, -1.0, transposed_product(1.0, G, x[n:]))
        left = combined(1.0, drift, -1.0, reached)
        if norm(left) <= relative * norm(drift) and norm(r) <= relative * norm(inertia):
            return plus(state.v, 1.0, x)
        right = stacked(1.0, r, 1.0, left)
    return with_drift(o, state, drift)


def _by_the_last_matrix(o: Mechanism, newton: Newton, state: Any, drift: Array) -> Array:
    """Return the change of a residual's velocity that makes a drift, about."""
    if o.n_psi:
        right = stacked(0.0, state.q, 1.0, drift, 0.0, state.psi)
    else:
        right = stacked(0.0, state.q, 1.0, drift)
    solvers = newton.last_solvers
    unit = solvers.scales.mass_over_gradient
    return newton.improved(solution(solvers.solve, right), o.n_q, unit, state.t)


def _times(c: float, x: Array) -> Array:
    return combined(c, x, 0.0, x)


def _is_unsure(whole: Any, state: Any, drift: Array) -> bool:
    """Tell whether G has turned so much since the last matrix that the drift has to be looked at.

    What the matrix misses of the drift acts on the next step as an acceleration.
    """
    return bool(whole.derivatives.turned(state.t) * norm(drift) > SURE * norm(state.rate))


def with_drift(o: Mechanism, state: Any, drift: Array) -> Array:
    """Return the velocity, changed in the direction of the reactions by a `drift` of g_t + G v."""
    t, q, v, lam, psi = state.t, state.q, state.v, state.lam, state.psi
    J = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    project = factorize(saddle(o.mass(t, q), -o.reaction_jacobian(t, q, v, lam, psi), J))
    d = project(np.concatenate([np.zeros(o.n_q), drift, np.zeros(o.n_psi)]))
    return v + d[: o.n_q]
