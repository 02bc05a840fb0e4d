"""Points of the result: on the constraints, with the accelerations and multipliers that belong."""

from __future__ import annotations

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations, project_position, project_velocity
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.linear import Solve, factorize, saddle, stack
from genalpha.schemes.native import native_states

Array = np.ndarray

#: A point that is nearly on the constraints comes onto them with one matrix in so many corrections.
CORRECTIONS = 5
#: Corrections below this, relative to the size of the coordinates, are rounding; if they are below
#: the second, and not smaller than half of the last, they are the noise of differenced rates.
SMALL, NOISE = 1e-14, 1e-8
#: The next correction is about the product of the last one and of how far the matrix is from where
#: it should be made, times a curvature: it is rounding if that product is below this.
PRODUCT = 1e-18
#: The same for machine code.
CLOSE = np.array([CORRECTIONS, SMALL, NOISE, PRODUCT], dtype=float)


def accelerations_at(o: Mechanism, times: Array, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return vdot, lam, psi of some states, as rows."""
    found = native_states(o, *map(np.ascontiguousarray, (times, q, v)))
    if found is None:
        found, guess = np.empty((times.size, o.n_q + o.n_lam + o.n_psi)), o.multiplier_guess()
        for i, t in enumerate(times.tolist()):
            vdot, lam, psi = accelerations(o, t, q[i], v[i], *guess)
            found[i], guess = np.concatenate([vdot, lam, psi]), (lam, psi)
    vdot, lam, psi = np.split(found, [o.n_q, o.n_q + o.n_lam], axis=1)
    return vdot, lam, psi


def consistent_at(o: Mechanism, times: Array, q: Array, v: Array) -> list[Knot] | None:
    """Return the motion on the constraints near many states at once; None if that does not do."""
    q, v = q.copy(), v.copy()
    found = native_states(o, np.ascontiguousarray(times), q, v, CLOSE)
    if found is None:
        return None
    vdot, lam, psi = np.split(found, [o.n_q, o.n_q + o.n_lam], axis=1)
    return list(map(Knot, times.tolist(), q, v, vdot, lam, psi))


def consistent(o: Mechanism, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Knot:
    """Return the motion on the constraints, near q and v; `lam` and `psi` are guesses."""
    if o.n_lam + o.n_psi:
        q, v = onto_constraints(o, t, q, v)
    return Knot(t, q, v, *accelerations(o, t, q, v, lam, psi))


def onto_constraints(o: Mechanism, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the nearest position and velocity on the constraints, of a point that is near them."""
    found = None
    if o.whole is None and o.redundant == "error":
        found = _with_one_matrix(o, t, q, v)
    if found is None:  # not so near, redundant constraints, or a residual
        q = project_position(o, t, q)
        found = q, project_velocity(o, t, q, v)
    return found


def _with_one_matrix(o: Mechanism, t: float, q: Array, v: Array) -> tuple[Array, Array] | None:
    """Project with the mass and the gradients of the point itself; None if it is too far away."""
    n = o.n_q
    J = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    solve = factorize(saddle(o.mass(t, q), J.T, J))
    right = np.zeros(n + o.n_lam + o.n_psi)
    moved = 0.0
    if o.n_lam:
        last = np.inf
        for _ in range(CORRECTIONS):
            right[n : n + o.n_lam] = -o.holonomic(t, q)
            q, size = _corrected(solve, right, q, n)
            moved += size
            if _is_done(size, last, moved):
                break
            last = size
        else:
            return None
    last = np.inf
    for _ in range(CORRECTIONS):
        right[n:] = -np.concatenate([o.holonomic_rate(t, q, v), o.nonholonomic(t, q, v)])
        v, size = _corrected(solve, right, v, n)
        moved += size
        if _is_done(size, last, moved):
            return q, v
        last = size
    return None


def _corrected(solve: Solve, right: Array, x: Array, n: int) -> tuple[Array, float]:
    """Return x after a correction, and the size of that."""
    step = solve(right)[:n]
    return x + step, float(np.abs(step).max() / max(1.0, np.abs(x).max()))


def _is_done(size: float, last: float, moved: float) -> bool:
    return size <= SMALL or size * moved <= PRODUCT or (size <= NOISE and size >= 0.5 * last)
