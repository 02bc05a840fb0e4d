"""Shared parts of the mechanisms: assembly of a Mechanism, index-1 solution, references.

Notation: q positions, v velocities, vdot accelerations, lam and psi the multipliers of the
holonomic and the nonholonomic constraints, G = dg/dq, K = dk/dv, and one sign convention

    M vdot = f - G^T lam - K^T psi.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from scipy.integrate import solve_ivp

from genalpha.model import Mechanism, Motion, Reference

Vector = np.ndarray
Matrix = Any  # dense array or scipy.sparse.csc_array

Given = ParamSpec("Given")

NO_MULTIPLIER = np.zeros(0)

_PARTS = (
    "mass", "force", "holonomic", "holonomic_jacobian", "holonomic_rate",
    "holonomic_acceleration", "nonholonomic", "nonholonomic_jacobian",
    "nonholonomic_acceleration", "reaction", "reaction_jacobian", "stiffness", "damping", "energy",
    "state_rate", "state_rate_jacobian", "state_coupling",
)  # fmt: skip


def parts_of(model: Any) -> dict[str, Any]:
    """Return the attributes of `model` that are named as keywords of Mechanism."""
    return {part: getattr(model, part) for part in _PARTS if hasattr(model, part)}


def assemble(model: Any, **rest: Any) -> Mechanism:
    """Return the Mechanism whose callables are the methods of `model`; `rest` overrides them."""
    return Mechanism(**{"mass": None, **parts_of(model), **rest})


def ready(function: Callable[Given, Mechanism]) -> Callable[Given, Mechanism]:
    """Let mechanisms know how they were made, by which they are pickled, and how to draw them."""

    @wraps(function)
    def made(*args: Given.args, **kwargs: Given.kwargs) -> Mechanism:
        mechanism = function(*args, **kwargs)
        mechanism.recipe = (made, args, kwargs)
        mechanism.outline = _outline
        return mechanism

    return made


def _outline(mechanism: Mechanism, t: float, q: Vector) -> list[Vector]:
    # loaded when something is drawn: sketches know all mechanisms, which build on this file
    sketches = importlib.import_module("genalpha.mechanisms.sketches")
    return sketches.sketch(mechanism, t, q)


def mass_matrix(parts: Mapping[str, Any], t: float, q: Vector) -> Matrix:
    """Return the dense mass matrix whatever way the mechanism gives it."""
    mass = parts.get("mass")
    if mass is None:
        return np.eye(q.size)
    mass = mass(t, q) if callable(mass) else mass
    return mass.toarray() if hasattr(mass, "toarray") else np.asarray(mass)


def _jacobian(parts: Mapping[str, Any], t: float, q: Vector, v: Vector) -> tuple[Matrix, int]:
    """Return the rows G above K, dense, and how many of them belong to G."""
    blocks = [np.zeros((0, q.size))]
    if "holonomic_jacobian" in parts:
        blocks.append(parts["holonomic_jacobian"](t, q))
    rows = blocks[-1].shape[0]
    if "nonholonomic_jacobian" in parts:
        blocks.append(parts["nonholonomic_jacobian"](t, q, v))
    return np.vstack([b.toarray() if hasattr(b, "toarray") else b for b in blocks]), rows


def _solve_saddle(
    mass: Matrix, jac: Matrix, top: Vector, bottom: Vector, dependent: bool
) -> tuple[Vector, Vector]:
    """Solve M x + J^T y = top, J x = bottom; y of minimum norm where rows may be dependent."""
    n = top.size
    if dependent:
        # y is not unique then; x is, and the smallest y is what redundant="least" promises.
        free = np.linalg.solve(mass, np.column_stack([top, jac.T]))
        schur = jac @ free[:, 1:]
        y = np.linalg.lstsq(schur, jac @ free[:, 0] - bottom, rcond=1e-11)[0]
        return free[:, 0] - free[:, 1:] @ y, y
    matrix = np.zeros((n + bottom.size,) * 2)
    matrix[:n, :n] = mass
    matrix[:n, n:] = jac.T
    matrix[n:, :n] = jac
    solution = np.linalg.solve(matrix, np.concatenate([top, bottom]))
    return solution[:n], solution[n:]


def index_one(parts: Mapping[str, Any], t: float, q: Vector, v: Vector) -> Motion:
    """Return the motion whose accelerations and multipliers belong to (t, q, v).

    Solves M vdot + G^T lam + K^T psi = f with the constraints differentiated to acceleration
    level; for mechanisms with the default reaction only.
    """
    jac, m = _jacobian(parts, t, q, v)
    curvature = [np.zeros(0)]
    if "holonomic_acceleration" in parts:
        curvature.append(parts["holonomic_acceleration"](t, q, v))
    if "nonholonomic_acceleration" in parts:
        curvature.append(parts["nonholonomic_acceleration"](t, q, v))
    vdot, multipliers = _solve_saddle(
        mass_matrix(parts, t, q), jac, parts["force"](t, q, v), -np.concatenate(curvature),
        parts.get("redundant") == "least",
    )  # fmt: skip
    return Motion(q, v, vdot, multipliers[:m], multipliers[m:])


def project(parts: Mapping[str, Any], t: float, q: Vector, v: Vector) -> tuple[Vector, Vector]:
    """Return the nearest (in the mass metric) position and velocity on all the constraints."""
    dependent = parts.get("redundant") == "least"
    nothing = np.zeros(q.size)
    for _ in range(3 if "holonomic" in parts else 0):  # Newton: three steps from a near point
        step, _ = _solve_saddle(
            mass_matrix(parts, t, q), _dense(parts["holonomic_jacobian"](t, q)), nothing,
            -parts["holonomic"](t, q), dependent,
        )  # fmt: skip
        q = q + step
    mass = mass_matrix(parts, t, q)
    for _ in range(3 if "nonholonomic" in parts else 1):  # k may be nonlinear in v, g' is not
        jac, _ = _jacobian(parts, t, q, v)
        rates = [np.zeros(0)]
        if "holonomic_rate" in parts:
            rates.append(parts["holonomic_rate"](t, q, v))
        if "nonholonomic" in parts:
            rates.append(parts["nonholonomic"](t, q, v))
        v = v + _solve_saddle(mass, jac, nothing, -np.concatenate(rates), dependent)[0]
    return q, v


def _dense(matrix: Any) -> Matrix:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


class StateHistory:
    """State of an ODE at any time t >= t0, integrated by DOP853 when it is first asked for.

    The interval is cut into segments of one length; the state at their ends is stored, and a
    state between them is integrated from the start of its segment (the solver's own dense
    output has fewer digits than its steps). `correct(t, x)` acts on each stored end.
    """

    def __init__(
        self,
        rhs: Callable[[float, Vector], Vector],
        t0: float,
        x0: Vector,
        segment: float,
        correct: Callable[[float, Vector], Vector] | None = None,
        rtol: float = 1e-13,
        atol: float | Vector = 1e-14,
    ) -> None:
        self.rhs, self.t0, self.segment, self.correct = rhs, t0, segment, correct
        self.rtol, self.atol = rtol, atol
        self.ends = [np.asarray(x0, dtype=float)]

    def _advance(self, t: float, x: Vector, t_next: float) -> Vector:
        if t_next == t:
            return x
        run = solve_ivp(
            self.rhs, (t, t_next), x, method="DOP853", rtol=self.rtol, atol=self.atol,
            t_eval=[t_next],
        )  # fmt: skip
        if not run.success:
            raise RuntimeError(f"reference solution stopped at t = {run.t}: {run.message}")
        return run.y[:, -1]

    def __call__(self, t: float) -> Vector:
        """Return the state at t."""
        index = int((t - self.t0) / self.segment)
        if t < self.t0:
            raise ValueError(f"the reference starts at t = {self.t0}, not before: t = {t}")
        while len(self.ends) <= index:
            start = self.t0 + (len(self.ends) - 1) * self.segment
            end = self.t0 + len(self.ends) * self.segment
            x = self._advance(start, self.ends[-1], end)
            self.ends.append(x if self.correct is None else self.correct(end, x))
        return self._advance(self.t0 + index * self.segment, self.ends[index], t)


def index_reduced_state(
    parts: Mapping[str, Any], start: tuple[float, Vector, Vector], segment: float
) -> Callable[[float], tuple[Vector, Vector]]:
    """Return t -> (q, v), from the index-1 form with projection at the segments' ends."""
    t0, q0, v0 = start
    n = len(q0)

    def rhs(t: float, x: Vector) -> Vector:
        return np.concatenate([x[n:], index_one(parts, t, x[:n], x[n:]).vdot])

    def correct(t: float, x: Vector) -> Vector:
        return np.concatenate(project(parts, t, x[:n], x[n:]))

    history = StateHistory(rhs, t0, np.concatenate([q0, v0]), segment, correct)

    def state(t: float) -> tuple[Vector, Vector]:
        x = history(t)
        return project(parts, t, x[:n], x[n:])

    return state


def index_reduced_reference(
    parts: Mapping[str, Any],
    start: tuple[float, Vector, Vector],
    segment: float,
    digits: float,
) -> Reference:
    """Return a reference that integrates the index-1 form and projects at segment ends."""
    state = index_reduced_state(parts, start, segment)
    return Reference(
        source="DOP853 on the index-1 form with projection, relative tolerance 1e-13",
        motion=lambda t: index_one(parts, t, *state(t)),
        digits=digits,
    )
