"""Questions to a mechanism: does a state satisfy the constraints, are the derivatives right?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from genalpha.errors import DerivativeError
from genalpha.model.differences import (
    CENTRAL_STEP,
    ROUNDING,
    accurate_jacobian,
    directional_derivative,
    scale,
    second_directional_derivative,
    time_scale,
)

if TYPE_CHECKING:
    from genalpha.model.mechanism import Mechanism

Array = np.ndarray
Pair = tuple[Callable[[], Any], Callable[[], Any]]

#: Second differences are good to this part of what they are differences of.
SECOND = 1e-10


@dataclass(frozen=True)
class Residuals:
    """How far a state is from each constraint.

    Attributes
    ----------
    position : (m,) array
        g.
    velocity : (m + l,) array
        g_t + G v, then k.
    acceleration : (m + l,) array or None
        g'' and k'; None when no acceleration is known.
    names : list of m + l str
        Names of the constraints.
    """

    position: Array
    velocity: Array
    acceleration: Array | None
    names: list[str]

    def worst(self) -> tuple[str, str, float]:
        """Return level, name and value of the largest violation."""
        found = ("position", "", 0.0)
        for level, values in self._levels():
            if values.size and np.nanmax(np.abs(values)) > abs(found[2]):
                i = int(np.nanargmax(np.abs(values)))
                found = (level, self.names[i], float(values[i]))
        return found

    def _levels(self) -> list[tuple[str, Array]]:
        levels = [("position", self.position), ("velocity", self.velocity)]
        if self.acceleration is not None:
            levels.append(("acceleration", self.acceleration))
        return levels

    def __str__(self) -> str:
        width = max([len(name) for name in self.names], default=4)
        lines = [f"{'constraint':<{width + 6}}" + "".join(f"{x:>14}" for x, _ in self._levels())]
        for i, name in enumerate(self.names):
            cells = [
                f"{values[i]:14.3e}" if i < values.size else f"{'':>14}"
                for _, values in self._levels()
            ]
            lines.append(f"{name:<{width + 6}}" + "".join(cells))
        return "\n".join(lines)


def residuals(
    mechanism: Mechanism,
    t: float | None,
    q: ArrayLike | None,
    v: ArrayLike | None,
    vdot: ArrayLike | None,
) -> Residuals:
    """See `Mechanism.residuals`."""
    o = mechanism
    t = o.t0 if t is None else t
    q = o.q0 if q is None else np.asarray(q, dtype=float)
    v = o.v0 if v is None else np.asarray(v, dtype=float)
    acceleration = _acceleration(o, t, q, v) if vdot is None else np.asarray(vdot, dtype=float)
    return Residuals(
        position=o.holonomic(t, q),
        velocity=np.concatenate([o.holonomic_rate(t, q, v), o.nonholonomic(t, q, v)]),
        acceleration=None
        if acceleration is None
        else np.concatenate(
            [
                o.holonomic_jacobian(t, q) @ acceleration + o.holonomic_acceleration(t, q, v),
                o.nonholonomic_jacobian(t, q, v) @ acceleration
                + o.nonholonomic_acceleration(t, q, v),
            ]
        ),
        names=o.constraint_names,
    )


def _acceleration(o: Mechanism, t: float, q: Array, v: Array) -> Array | None:
    """Return M^-1 (f + reaction) with the user's multipliers; None if some are not given."""
    if (o.n_lam and o.lam0 is None) or (o.n_psi and o.psi0 is None):
        return None
    forces = o.force(t, q, v) + o.reaction(t, q, v, *o.multiplier_guess())
    mass = o.mass(t, q)
    return (
        sparse.linalg.splu(mass).solve(forces)
        if sparse.issparse(mass)
        else np.linalg.solve(mass, forces)
    )


def check_derivatives(
    mechanism: Mechanism, rtol: float, distance: float, seed: int
) -> dict[str, float]:
    """See `Mechanism.check_derivatives`."""
    comparisons = _comparisons(mechanism.widened, distance, seed)
    if mechanism.n_z:
        comparisons = _narrow(mechanism, comparisons)
    deviations, complaints = {}, []
    for key in sorted(mechanism.given & set(comparisons)):
        given, differenced = (_dense(matrix()) for matrix in comparisons[key])
        size = max(float(np.max(np.abs(differenced), initial=0.0)), 1e-8)
        # sums of terms that may be large beside their change
        if key in ("stiffness", "damping", "state_coupling", "state_rate_jacobian"):
            size = max(size, ROUNDING / CENTRAL_STEP * _largest_term(mechanism.widened) / rtol)
        elif key == "holonomic_acceleration":
            size = max(size, SECOND * _largest_change(mechanism.widened) / rtol)
        error = np.abs(given - differenced) / size
        error[~np.isfinite(error)] = np.inf
        deviations[key] = float(np.max(error, initial=0.0))
        if deviations[key] > rtol:
            entry = np.unravel_index(int(np.argmax(error)), error.shape)
            place = ", ".join(str(int(i)) for i in entry)
            complaints.append(
                f"{key}[{place}] is {given[entry]:.8g}, differences give {differenced[entry]:.8g}"
                f" ({int((error > rtol).sum())} of {error.size} entries deviate)"
            )
    if complaints:
        raise DerivativeError(
            f"{mechanism.name}: given derivatives disagree with differences: "
            + "; ".join(complaints)
        )
    return deviations


def _narrow(o: Mechanism, wide: dict[str, Pair]) -> dict[str, Pair]:
    """Return comparisons of a mechanism with states, from those of the widened one."""
    n = o.n_q

    def block(key: str, rows: slice, columns: slice, sign: float = 1.0) -> Pair:
        first, second = (
            lambda matrix=matrix: sign * _dense(matrix())[rows, columns] for matrix in wide[key]
        )
        return first, second

    mechanical, states, everything = slice(n), slice(n, None), slice(None)
    matrices = {
        "holonomic_jacobian": everything,
        "nonholonomic_jacobian": everything,
        "nonholonomic_gradient": everything,
        "reaction_jacobian": mechanical,
        "stiffness": mechanical,
        "damping": mechanical,
    }
    found = dict(wide)
    for key, rows in matrices.items():
        columns = everything if key == "reaction_jacobian" else mechanical
        found[key] = block(key, rows, columns)
    of_q = block("stiffness", states, mechanical, -1.0)
    of_v = block("damping", states, everything, -1.0)
    found["state_rate_jacobian"] = (
        lambda: np.hstack([of_q[0](), of_v[0]()]),
        lambda: np.hstack([of_q[1](), of_v[1]()]),
    )
    found["state_coupling"] = block("damping", mechanical, states)
    found["nonholonomic_state_jacobian"] = block("nonholonomic_jacobian", everything, states)
    return found


def _largest_term(o: Mechanism) -> float:
    """Return the size of what the equations of motion sum up at the start."""
    lam, psi = o.multiplier_guess()
    force = o.force(o.t0, o.q0, o.v0)
    reaction = o.reaction(o.t0, o.q0, o.v0, lam + 1.0, psi + 1.0)
    return float(np.max(np.abs(np.concatenate([force, reaction])), initial=0.0))


def _largest_change(o: Mechanism) -> float:
    """Return the size of g'' if every coordinate bent by its own size, at the velocities tried."""
    fastest = 1.0 / time_scale(
        o.q0[: o.n_moving], 2.0 * np.maximum(1.0, np.abs(o.v0[: o.n_moving]))
    )
    rows = np.abs(_dense(o.holonomic_jacobian(o.t0, o.q0))) @ scale(o.q0)
    return float(np.max(rows, initial=0.0)) * fastest**2


def _dense(matrix: Any) -> Array:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def _comparisons(o: Mechanism, distance: float, seed: int) -> dict[str, Pair]:
    """Pair each derivative with its differences, at one random point near the start."""
    random = np.random.default_rng(seed)

    def near(x: Array) -> Array:
        return x + distance * np.maximum(1.0, np.abs(x)) * random.uniform(-1.0, 1.0, x.size)

    t = o.t0 + distance * random.uniform(0.0, 1.0)
    q, v, vdot = near(o.q0), near(o.v0), near(np.zeros(o.n_q))
    lam, psi = (near(x + 1.0) for x in o.multiplier_guess())
    # g'' is quadratic in the velocity: near rest, it would be lost in the noise of differences
    swift = v + np.maximum(1.0, np.abs(v)) * random.uniform(-1.0, 1.0, v.size)
    m, x = o.n_lam, np.concatenate([lam, psi])
    state = (t, q, v, vdot, lam, psi)

    def per_time(v: Array) -> float:
        return 1.0 / time_scale(q[: o.n_moving], v[: o.n_moving])

    def moved(s: float, v: Array) -> tuple[float, Array]:
        return t + s / per_time(v), q + s / per_time(v) * v

    return {
        "holonomic_jacobian": (
            lambda: o.holonomic_jacobian(t, q),
            lambda: accurate_jacobian(lambda x: o.holonomic(t, x), q),
        ),
        "nonholonomic_jacobian": (
            lambda: o.nonholonomic_jacobian(t, q, v),
            lambda: accurate_jacobian(lambda x: o.nonholonomic(t, q, x), v),
        ),
        "nonholonomic_gradient": (
            lambda: o.nonholonomic_gradient(t, q, v),
            lambda: accurate_jacobian(lambda x: o.nonholonomic(t, x, v), q),
        ),
        "holonomic_rate": (
            lambda: o.holonomic_rate(t, q, v),
            lambda: directional_derivative(lambda s: o.holonomic(*moved(s, v))) * per_time(v),
        ),
        "holonomic_acceleration": (
            lambda: o.holonomic_acceleration(t, q, swift),
            lambda: (
                second_directional_derivative(lambda s: o.holonomic(*moved(s, swift)))
                * per_time(swift) ** 2
            ),
        ),
        "nonholonomic_acceleration": (
            lambda: o.nonholonomic_acceleration(t, q, v),
            lambda: directional_derivative(lambda s: o.nonholonomic(*moved(s, v), v)) * per_time(v),
        ),
        "reaction_jacobian": (
            lambda: o.reaction_jacobian(t, q, v, lam, psi),
            lambda: accurate_jacobian(lambda x: o.reaction(t, q, v, x[:m], x[m:]), x),
        ),
        "stiffness": (
            lambda: o.stiffness(*state),
            lambda: accurate_jacobian(lambda x: o.imbalance(t, x, v, vdot, lam, psi), q),
        ),
        "damping": (
            lambda: o.damping(*state),
            lambda: accurate_jacobian(lambda x: o.imbalance(t, q, x, vdot, lam, psi), v),
        ),
    }
