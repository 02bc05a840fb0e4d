"""Planar chains of N links in absolute coordinates: hanging free, or closed to a loop."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from scipy.linalg import solve_banded
from scipy.optimize import brentq

from genalpha.mechanisms._build import (
    NO_MULTIPLIER,
    StateHistory,
    Vector,
    assemble,
    parts_of,
    project,
    ready,
)
from genalpha.mechanisms._planar import PlanarModel, TrigonometricRows
from genalpha.model import Mechanism, Motion, Reference

#: From this many links on, matrices are sparse.
SPARSE_FROM = 20


def _hinges(
    links: int, length: float, end: tuple[float, float] | None, is_sparse: bool
) -> TrigonometricRows:
    """Return the hinges in order: support, between the links, and at the end if it is held.

    Hinge i joins the end of link i - 1 to the start of link i; rows 2 i and 2 i + 1.
    """
    i = np.arange(links)
    x, angle, half = 3 * i, 3 * i + 2, 0.5 * length
    before, after = 2 * i, 2 * i + 2  # x rows of the hinges at both ends of a link
    shown = slice(None) if end is not None else slice(None, -1)
    ends = after[shown], x[shown], angle[shown]
    rows = np.concatenate([before, before + 1, ends[0], ends[0] + 1])
    columns = np.concatenate([x, x + 1, ends[1], ends[1] + 1])
    signs = np.concatenate([np.full(2 * links, -1.0), np.ones(2 * ends[0].size)])
    turning_columns = np.concatenate([angle, angle, ends[2], ends[2]])
    on_x = np.concatenate([np.ones(links), np.zeros(links), np.ones(ends[0].size),
                           np.zeros(ends[0].size)])  # fmt: skip
    offset = np.zeros(2 * links + (2 if end is not None else 0))
    if end is not None:
        offset[-2:] = end
    turning = (rows, turning_columns, half * on_x, half * (1.0 - on_x))
    return TrigonometricRows(3 * links, (rows, columns, signs), turning, offset, is_sparse)


@dataclass(frozen=True)
class _Links:
    links: int
    length: float
    density: float
    gravity: float
    end: tuple[float, float] | None
    is_sparse: bool | None

    def model(self) -> PlanarModel:
        m = self.density * self.length
        masses = np.tile([m, m, m * self.length**2 / 12.0], self.links)
        load = np.tile([0.0, -m * self.gravity, 0.0], self.links)
        chosen = self.links >= SPARSE_FROM if self.is_sparse is None else self.is_sparse
        return PlanarModel(masses, load, _hinges(self.links, self.length, self.end, chosen))

    def place(self, angles: Vector, rates: Vector) -> tuple[Vector, Vector]:
        """Return position and velocity of all links that hang together from the origin."""
        q, v = np.empty((self.links, 3)), np.empty((self.links, 3))
        for coordinate, arm, turn in (
            (0, np.cos(angles), -np.sin(angles) * rates),
            (1, np.sin(angles), np.cos(angles) * rates),
        ):
            q[:, coordinate] = self.length * (np.cumsum(arm) - 0.5 * arm)
            v[:, coordinate] = self.length * (np.cumsum(turn) - 0.5 * turn)
        q[:, 2], v[:, 2] = angles, rates
        return q.ravel(), v.ravel()


def _banded(model: PlanarModel, q: Vector, v: Vector) -> tuple[Vector, Vector]:
    """Return vdot and lam for (q, v) in O(N): G M^-1 G^T is block tridiagonal."""
    G = model.rows.jacobian(q)
    inverse = 1.0 / model.masses
    scaled = G * inverse
    schur = scaled @ G.T
    bands = np.zeros((7, schur.shape[0]))
    for k in range(-3, 4):
        diagonal = schur.diagonal(k)
        bands[3 - k, max(k, 0) : max(k, 0) + diagonal.size] = diagonal
    right = scaled @ model.load + model.rows.acceleration(q, v)
    lam = solve_banded((3, 3), bands, right)
    return inverse * (model.load - G.T @ lam), lam


def _motion(model: PlanarModel, q: Vector, v: Vector) -> Motion:
    return Motion(q, v, *_banded(model, q, v), NO_MULTIPLIER)


def _names(hinges: int) -> list[str]:
    return [f"hinge {i} {axis}" for i in range(hinges) for axis in "xy"]


def _coordinates(links: int) -> list[str]:
    return [f"link {i} {part}" for i in range(links) for part in ("x", "y", "angle")]


@ready
def chain(
    links: int = 5,
    length: float = 0.5,
    density: float = 1.0,
    gravity: float = 9.81,
    angle0: float = 0.0,
    is_sparse: bool | None = None,
) -> Mechanism:
    """Return a chain of N slender links that hangs from the origin.

    Coordinates (x, y, theta) of each link in order; hinge i joins links i - 1 and i. Released
    at rest, straight. Matrices are sparse from 20 links on; all callables are vectorised. The
    reference integrates the angles, accelerations by a banded solution of G M^-1 G^T, so that
    it serves long chains too; long free chains are chaotic, which takes digits as t grows.

    Parameters
    ----------
    links : int
        Their number N.
    length : float
        Of a link (m).
    density : float
        Mass per length (kg/m).
    gravity : float
        In m/s^2.
    angle0 : float
        Initial angle of all links from the horizontal (rad).
    is_sparse : bool | None
        True or False to choose the kind of matrices.
    """
    shape = _Links(links, length, density, gravity, None, is_sparse)
    model = shape.model()

    def rhs(t: float, x: Vector) -> Vector:
        angles, rates = np.split(x, 2)
        vdot, _ = _banded(model, *shape.place(angles, rates))
        return np.concatenate([rates, vdot[2::3]])

    x0 = np.concatenate([np.full(links, angle0), np.zeros(links)])
    history = StateHistory(rhs, 0.0, x0, segment=0.05)
    q0, v0 = shape.place(x0[:links], x0[links:])
    return assemble(
        model, q0=q0, v0=v0, lam0=_banded(model, q0, v0)[1],
        constraint_names=_names(links),
        reference=Reference(
            source="DOP853 on the angles of the links, relative tolerance 1e-13",
            motion=lambda t: _motion(model, *shape.place(*np.split(history(t), 2))),
            digits=11.0,
        ),
        coordinate_names=_coordinates(links), name="chain",
    )  # fmt: skip


@ready
def closed_chain(
    links: int = 6,
    length: float = 0.5,
    span: float = 0.6,
    tilt: float = -0.3,
    density: float = 1.0,
    gravity: float = 9.81,
    is_sparse: bool | None = None,
) -> Mechanism:
    """Return a chain whose both ends are held: a closed loop.

    It starts at rest on a circular arc through both supports, which is no equilibrium. The
    reference integrates the index-1 form with projection.

    Parameters
    ----------
    links : int
        Their number N, at least 3.
    length : float
        Of a link (m).
    span : float
        Distance of the supports as a fraction of the length of the chain, below 1.
    tilt : float
        Angle of the line through the supports from the horizontal (rad).
    density : float
        Mass per length (kg/m).
    gravity : float
        In m/s^2.
    is_sparse : bool | None
        True or False to choose the kind of matrices.
    """
    spread = np.linspace(-1.0, 1.0, links)
    opening = brentq(lambda a: np.cos(a * spread).mean() - span, 1e-9, pi, xtol=1e-15)
    angles = opening * spread + tilt
    end = length * np.cos(angles).sum(), length * np.sin(angles).sum()
    shape = _Links(links, length, density, gravity, (float(end[0]), float(end[1])), is_sparse)
    model = shape.model()
    parts, n = parts_of(model), 3 * links
    q0, v0 = shape.place(angles, np.zeros(links))

    def rhs(t: float, x: Vector) -> Vector:
        return np.concatenate([x[n:], _banded(model, x[:n], x[n:])[0]])

    def correct(t: float, x: Vector) -> Vector:
        return np.concatenate(project(parts, t, x[:n], x[n:]))

    history = StateHistory(rhs, 0.0, np.concatenate([q0, v0]), 0.05, correct)
    return assemble(
        model, q0=q0, v0=v0, lam0=_banded(model, q0, v0)[1],
        constraint_names=_names(links + 1),
        reference=Reference(
            source="DOP853 on the index-1 form with projection, relative tolerance 1e-13",
            motion=lambda t: _motion(model, *np.split(correct(t, history(t)), 2)),
            digits=11.0,
        ),
        coordinate_names=_coordinates(links), name="closed_chain",
    )  # fmt: skip
