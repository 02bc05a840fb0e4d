"""Consistent initial values: a start that satisfies every constraint at every level.

Position, velocity and acceleration are made consistent one after the other:

- position: q nearest to q0 with g(t, q) = 0,
- velocity: v nearest to v0 with g_t + G v = 0 and k(t, q, v) = 0,
- acceleration: vdot, lam, psi from the equations of motion and the constraints differentiated ::

      M vdot = f + reaction(lam, psi),   G vdot + (g_tt + 2 g_tq v + g_qq(v, v)) = 0,
                                         K vdot + (k_t + k_q v) = 0,

where "nearest" is in the mass metric (x - x0)^T M (x - x0), if the mass matrix is symmetric, and
Euclidean otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from genalpha.errors import (
    ConvergenceError,
    InconsistentStartError,
    RedundantConstraintsError,
    SingularSystemError,
)
from genalpha.kernels import norm
from genalpha.model import DrivenMotion, Mechanism, Motion
from genalpha.model.differences import DIFFERENCED
from genalpha.model.equations import Equations
from genalpha.model.given import Given
from genalpha.numerics.finite import check_finite, is_finite, suspects
from genalpha.numerics.from_residual import accelerations_of
from genalpha.numerics.linear import (
    Matrix,
    NotFiniteError,
    Solve,
    factorize,
    least_squares,
    row_lengths,
    saddle,
    stack,
)
from genalpha.numerics.redundancy import check_rank

Array = np.ndarray

#: A start may miss a constraint by this distance, relative to the size of the coordinates.
START_TOLERANCE = 1e-9
#: What is differenced has the errors of differences, larger where it varies fast.
ROUGHLY = 1e-8
MAX_ITERATIONS = 50
#: While x is so near to where it starts, relative to it, a Jacobian that costs differences is kept:
#: what is nearest changes by the square of that, and the constraints hold all the same.
NEARBY = 1e-5
NONE = np.arange(0)


def consistent_initial_values(
    mechanism: Mechanism,
    t0: float | None = None,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    z0: ArrayLike | None = None,
    lam0: ArrayLike | None = None,
    psi0: ArrayLike | None = None,
    fixed_q: ArrayLike = (),
    fixed_v: ArrayLike = (),
) -> Motion:
    """Return the consistent state that is nearest to a given one.

    Parameters
    ----------
    mechanism : Mechanism
    t0 : float, optional
        The time; like the following, default the mechanism's own start.
    q0, v0 : (n,) array_like, optional
        Position and velocity to start from.
    z0 : (s,) array_like, optional
        First-order states. They keep their values: where a nonholonomic constraint knows them, the
        velocity follows.
    lam0, psi0 : array_like, optional
        Guesses of the multipliers, default the mechanism's; they matter only for reactions that
        are nonlinear in them.
    fixed_q, fixed_v : sequence of int, or (n,) bool, optional
        Components of position and velocity that must keep their values.

    Returns
    -------
    Motion
        q, v, vdot (n,), lam (m,), psi (l,); of a mechanism with states a `DrivenMotion`, which
        also has z and zdot (s,).

    Raises
    ------
    InconsistentStartError
        No consistent state was found near the given one, with the constraint that is worst.
    RedundantConstraintsError
        Constraints depend on each other and the mechanism has ``redundant="error"``.

    Examples
    --------
    >>> import numpy as np
    >>> from genalpha import Mechanism, consistent_initial_values
    >>> pendulum = Mechanism(force=lambda t, q, v: np.array([0.0, -9.81]), q0=[1.1, 0], v0=[0, 2],
    ...                      holonomic=lambda t, q: q @ q - 1.0)
    >>> consistent_initial_values(pendulum).q
    array([1., 0.])
    """
    o, given = mechanism, Given("consistent_initial_values")
    given.must_be("mechanism", o, Equations, "a genalpha Mechanism")
    t = o.t0 if t0 is None else given.number("t0", t0)
    q = o.q0.copy() if q0 is None else given.vector("q0", q0, o.n_q)
    v = o.v0.copy() if v0 is None else given.vector("v0", v0, o.n_q)
    z = o.z0.copy() if z0 is None else given.vector("z0", z0, o.n_z)
    lam, psi = o.multiplier_guess()
    lam = lam if lam0 is None else given.vector("lam0", lam0, o.n_lam)
    psi = psi if psi0 is None else given.vector("psi0", psi0, o.n_psi)
    kept_q = given.components("fixed_q", fixed_q, o.n_q)
    kept_v = given.components("fixed_v", fixed_v, o.n_q)
    given.check()
    has_states = o.n_z > 0
    if has_states:
        o, q, v = o.widened, np.append(q, 0.0 * z), np.append(v, z)
    check_finite(o, t, q, v, f"{o.name}: consistent initial values")
    q = project_position(o, t, q, kept_q)
    v = project_velocity(o, t, q, v, kept_v)
    check_rank(o, t, q, v)
    motion = Motion(q, v, *accelerations(o, t, q, v, lam, psi))
    return narrow_motion(motion, o.n_moving) if has_states else motion


def narrow_motion(motion: Motion, n: int) -> Any:
    """Return a motion of Q and V as one with states; n is the number of coordinates."""
    q, v, vdot, lam, psi = motion
    return DrivenMotion(q[:n], v[:n], vdot[:n], lam, psi, v[n:], vdot[n:])


def project_position(o: Mechanism, t: float, q0: Array, fixed: Array = NONE) -> Array:
    """Return the q nearest to `q0` with g(t, q) = 0; the `fixed` components are kept."""
    if not o.n_lam:
        return q0.copy()
    return _nearest(
        o,
        "position",
        lambda q: (t, q, o.v0),
        q0,
        lambda q: o.holonomic(t, q),
        lambda q: o.holonomic_jacobian(t, q),
        _metric(o, t, q0),
        _free(o, fixed),
    )


def project_velocity(o: Mechanism, t: float, q: Array, v0: Array, fixed: Array = NONE) -> Array:
    """Return the v nearest to `v0` with g_t + G v = 0, k = 0; the `fixed` components are kept."""
    if not o.n_lam + o.n_psi:
        return v0.copy()
    return _nearest(
        o,
        "velocity",
        lambda v: (t, q, v),
        v0,
        lambda v: np.concatenate([o.holonomic_rate(t, q, v), o.nonholonomic(t, q, v)]),
        lambda v: stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v)),
        _metric(o, t, q),
        _free(o, fixed),
    )


def accelerations(
    o: Mechanism,
    t: float,
    q: Array,
    v: Array,
    lam: Array,
    psi: Array,
    enough: float = 0.0,
) -> tuple[Array, Array, Array]:
    """Return vdot, lam, psi of a state whose position and velocity are consistent.

    `lam` and `psi` are guesses; with the default reaction the system is linear and they do not
    matter. Of a residual, a relative accuracy that is `enough` may save calls.
    """
    if o.whole is not None:
        return accelerations_of(o.whole)(o.name, t, q, v, lam, psi, enough)
    n, m = o.n_q, o.n_lam
    mass, force = o.mass(t, q), o.force(t, q, v)
    J = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    c = o.holonomic_acceleration(t, q, v)
    if o.n_psi:
        c = np.concatenate([c, o.nonholonomic_acceleration(t, q, v)])
    if o.is_ideal:
        x = _accelerating(o, (t, q, v), mass, J.T, J)(np.concatenate([force, -c]))
        if not norm(x) < np.inf and not np.isfinite(x).all():  # squares may be infinite
            check_finite(o, t, q, v, f"{o.name}: accelerations", certain=True)
        return x[:n], x[n : n + m], x[n + m :]
    x = np.concatenate([np.zeros(n), lam, psi])
    for _ in range(MAX_ITERATIONS):
        vdot, lam, psi = x[:n], x[n : n + m], x[n + m :]
        imbalance = mass @ vdot - force - o.reaction(t, q, v, lam, psi)
        R = o.reaction_jacobian(t, q, v, lam, psi)
        step = _accelerating(o, (t, q, v), mass, -R, J)(
            np.concatenate([-imbalance, -(J @ vdot + c)])
        )
        x = x + step
        if np.max(np.abs(step)) <= 1e-13 * max(1.0, np.max(np.abs(x))):
            return x[:n], x[n : n + m], x[n + m :]
    raise ConvergenceError(
        f"{o.name}: accelerations and multipliers at t = {t:g} not found in {MAX_ITERATIONS} "
        "iterations; give a better guess lam0, psi0"
    )


def _accelerating(
    o: Mechanism, state: tuple[float, Array, Array], mass: Matrix, R: Matrix, J: Matrix
) -> Solve:
    """Return what solves for accelerations and multipliers."""
    try:
        return _solver(o, saddle(mass, R, J))
    except SingularSystemError as error:
        check_finite(o, *state, f"{o.name}: accelerations")
        t, *_ = state
        why = (
            suspects(o)
            if isinstance(error, NotFiniteError)
            else "Is the mass matrix singular in a direction that the constraints leave free, or, "
            "with a nonlinear reaction, is the guess lam0, psi0 missing?"
        )
        raise type(error)(
            f"{o.name}: no unique accelerations and multipliers at t = {t:g}: {error}. {why}"
        ) from error


def check_start(o: Mechanism, t: float, q: Array, v: Array) -> None:
    """Raise an `InconsistentStartError` that names the worst constraint, if one is violated."""
    level, i, value, distance = worst_violation(o, t, q, v)
    allowed = _allowed_at_start(o, level, i)
    if distance <= allowed:
        return
    if not np.isfinite(distance):
        check_finite(o, t, q, v, f"{o.name}: the start", certain=True)
    derivative = {"position": "", "velocity": "the rate of "}[level] if i < o.n_lam else ""
    raise InconsistentStartError(
        f"{o.name}: the start at t = {t:g} violates {derivative}constraint "
        f"{o.constraint_names[i]} ({level} level): its residual is {value:.3e} where 0 is needed, "
        f"a distance of {distance:.1e} relative to the coordinates; allowed is "
        f"{allowed:g}, because a step turns the distance into forces. "
        f"{_advice(o, t, q, v)}; mechanism.residuals() lists all constraints."
    )


def _allowed_at_start(o: Mechanism, level: str, i: int) -> float:
    """Return by how much a start may miss constraint i: more where its rate is differenced."""
    differenced = level == "velocity" and i < o.n_lam and "holonomic_rate" not in o.given
    return ROUGHLY if differenced and o.whole is None else START_TOLERANCE


def _advice(o: Mechanism, t: float, q: Array, v: Array) -> str:
    """Say what to do about a start off the constraints: it can be moved, or there is no other."""
    try:
        project_velocity(o, t, project_position(o, t, q), v)
    except (InconsistentStartError, RedundantConstraintsError, SingularSystemError):
        return (
            "No start near it satisfies all constraints: look for constraints that contradict each "
            "other, or start elsewhere"
        )
    return (
        "integrate(..., repair=True) moves the start onto the constraints and says by how much; "
        "genalpha.consistent_initial_values(mechanism) gives the nearest consistent start "
        "(make_consistent() on a solver)"
    )


def worst_violation(
    o: Mechanism, t: float, q: Array, v: Array, levels: tuple[str, ...] = ("position", "velocity")
) -> tuple[str, int, float, float]:
    """Return level, constraint, residual, and residual as a relative distance in coordinates."""
    J = stack(o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v))
    n = o.n_moving
    lengths, worst = row_lengths(J[:, :n]), ("", 0, 0.0, 0.0)
    rates = o.holonomic_rate(t, q, v)
    if o.n_psi:
        rates = np.concatenate([rates, o.nonholonomic(t, q, v)])
    for level, values, x in (("position", o.holonomic(t, q), q), ("velocity", rates, v)):
        if level not in levels or not values.size:
            continue
        size = max(1.0, float(np.abs(x[:n]).max()))
        distances = np.abs(values) / lengths[: values.size] / size
        # also where a row of the Jacobian is infinite, and the distance nothing
        if not distances.max() + lengths.max() < np.inf:
            distances[~np.isfinite(distances) | ~np.isfinite(lengths[: values.size])] = np.inf
        i = int(distances.argmax())
        if distances[i] > worst[3]:
            worst = (level, i, float(values[i]), float(distances[i]))
    return worst


def _metric(o: Mechanism, t: float, q: Array) -> Matrix:
    """Return the mass matrix, or the identity when it is not symmetric and so no metric."""
    mass = o.mass(t, q)
    skew = abs(mass - mass.T).max()
    if skew <= 1e-12 * abs(mass).max():
        return mass
    return sparse.eye_array(o.n_q, format="csc") if o.is_sparse else np.eye(o.n_q)


def _free(o: Mechanism, fixed: Array) -> Array:
    """Return the components that may move; states keep their values, as reactions let them."""
    return np.setdiff1d(np.arange(o.n_moving), fixed)


def _solver(o: Mechanism, matrix: Matrix) -> Solve:
    return least_squares(matrix) if o.redundant == "least" else factorize(matrix)


def _nearest(
    o: Mechanism,
    level: str,
    state: Callable[[Array], tuple[float, Array, Array]],
    x0: Array,
    constraint: Callable[[Array], Array],
    jacobian: Callable[[Array], Any],
    W: Matrix,
    free: Array,
) -> Array:
    """Minimize (x - x0)^T W (x - x0) subject to constraint(x) = 0, over the free components.

    `state` returns the t, q, v that belong to x.

    Newton's iteration on the conditions of optimality, without the curvature of the constraints:
    it converges fast because the start is near, and its limit is exact.
    """
    x = x0.copy()
    W = W[free][:, free]
    exact = o.whole is None and o.rounding < DIFFERENCED
    # steps that no longer shrink are rounding, or errors of differences
    settled, allowed = (1e-13, 1e-11) if exact else (ROUGHLY, ROUGHLY)
    last = away = np.inf

    def check(*found: Any) -> None:
        if np.isfinite(x).all() and not all(map(is_finite, found)):
            check_finite(o, *state(x), f"{o.name}: the search for a consistent {level}", True)

    check(W)
    for _ in range(MAX_ITERATIONS):
        c = constraint(x)
        check(c)
        if exact or away > NEARBY:
            full = jacobian(x)
            check(full)
            J = full[:, free]
            try:
                solve = _solver(o, saddle(W, J.T, J))
            except SingularSystemError as error:
                check_rank(o, o.t0, o.q0, o.v0)
                why = f"the free components do not suffice: {error}"
                raise _not_projected(o, level, c, why) from error
        step = solve(np.concatenate([-(W @ (x - x0)[free]), -c]))[: free.size]
        x[free] += step
        scale = max(1.0, float(np.max(np.abs(x))))
        size = float(np.max(np.abs(step), initial=0.0)) / scale
        away = float(np.max(np.abs(x - x0))) / scale
        if size <= 1e-15 or (size <= settled and size >= 0.5 * last):
            break
        last = size
    c = constraint(x)
    check(c)
    # a limit that is no solution: contradicting constraints, or a start too far away
    sizes = np.abs(full) @ np.maximum(1.0, np.abs(x)) + 1e-300
    if not np.max(np.abs(c) / sizes) <= allowed:
        raise _not_projected(o, level, c, f"no solution after {MAX_ITERATIONS} iterations")
    return x


def _not_projected(o: Mechanism, level: str, c: Array, why: str) -> InconsistentStartError:
    i = int(np.nanargmax(np.abs(c))) if np.isfinite(c).any() else 0
    return InconsistentStartError(
        f"{o.name}: no consistent {level} found near the start: constraint "
        f"{o.constraint_names[i]} is left with residual {c[i]:.3e} ({why}). Move the start closer "
        "to the constraints, free more components, or look for constraints that contradict each "
        "other."
    )
