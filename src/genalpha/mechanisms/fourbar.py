"""Four-bar linkages in absolute coordinates, without and with redundant constraints."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt

import numpy as np

from genalpha.mechanisms._build import (
    Vector,
    assemble,
    index_one,
    index_reduced_reference,
    parts_of,
    project,
    ready,
)
from genalpha.mechanisms._planar import PlanarModel, RowBuilder
from genalpha.mechanisms._point_pendulum import pendulum_angle
from genalpha.model import Mechanism, Motion, Reference


def _bars(lengths: Vector, density: float, gravity: float) -> tuple[Vector, Vector]:
    """Return the diagonal mass and the load of slender rods, coordinates (x, y, theta)."""
    m = density * lengths
    masses = np.column_stack([m, m, m * lengths**2 / 12.0]).ravel()
    load = np.column_stack([0.0 * m, -gravity * m, 0.0 * m]).ravel()
    return masses, load


def _close(crank: float, coupler: float, rocker: float, ground: float, angle: float) -> Vector:
    """Return centres and angles of the three bars, coupler joint above the diagonal."""
    ax, ay = crank * cos(angle), crank * sin(angle)
    dx, dy = ground - ax, -ay
    diagonal = hypot(dx, dy)
    along = (coupler**2 - rocker**2 + diagonal**2) / (2.0 * diagonal)
    if along**2 > coupler**2:
        raise ValueError(f"the four bars do not close at crank angle {angle}")
    across = sqrt(coupler**2 - along**2)
    bx = ax + (along * dx - across * dy) / diagonal
    by = ay + (along * dy + across * dx) / diagonal
    ends = [(0.0, 0.0, ax, ay), (ax, ay, bx, by), (bx, by, ground, 0.0)]
    return np.array(
        [c for x, y, u, w in ends for c in (0.5 * (x + u), 0.5 * (y + w), atan2(w - y, u - x))]
    )


def _names(bars: list[str]) -> list[str]:
    return [f"{bar} {part}" for bar in bars for part in ("x", "y", "angle")]


@ready
def four_bar(
    crank: float = 0.4,
    coupler: float = 1.0,
    rocker: float = 0.8,
    ground: float = 0.9,
    density: float = 2.0,
    gravity: float = 9.81,
    angle0: float = 0.5 * pi,
    rate0: float = 3.0,
) -> Mechanism:
    """Return the planar four-bar: three slender rods (x, y, theta), four hinges.

    The default satisfies Grashof's condition and is no parallelogram: the crank turns over.
    The reference integrates the index-1 form with projection.

    Parameters
    ----------
    crank, coupler, rocker, ground : float
        Lengths (m).
    density : float
        Mass per length of the rods (kg/m).
    gravity : float
        In m/s^2.
    angle0, rate0 : float
        Initial angle of the crank from the horizontal (rad), its rate (rad/s).
    """
    lengths = np.array([crank, coupler, rocker])
    half = 0.5 * lengths
    joints = RowBuilder()
    joints.point([(0, 1.0)], [(2, -half[0], 0.0)])
    joints.point([(0, 1.0), (3, -1.0)], [(2, half[0], 0.0), (5, half[1], 0.0)])
    joints.point([(3, 1.0), (6, -1.0)], [(5, half[1], 0.0), (8, half[2], 0.0)])
    joints.point([(6, 1.0)], [(8, half[2], 0.0)], (ground, 0.0))
    model = PlanarModel(*_bars(lengths, density, gravity), joints.rows(9))
    parts = parts_of(model)
    q0 = _close(crank, coupler, rocker, ground, angle0)
    # the velocities are proportional to the null vector of G, scaled to the crank's rate
    null = np.linalg.svd(model.holonomic_jacobian(0.0, q0))[2][-1]
    q0, v0 = project(parts, 0.0, q0, null * (rate0 / null[2]))
    return assemble(
        model, q0=q0, v0=v0, lam0=index_one(parts, 0.0, q0, v0).lam,
        constraint_names=[f"hinge {hinge} {axis}" for hinge in "OABC" for axis in "xy"],
        reference=index_reduced_reference(parts, (0.0, q0, v0), 0.05, 11.0),
        coordinate_names=_names(["crank", "coupler", "rocker"]), name="four_bar",
    )  # fmt: skip


def _parallel_joints(count: int, span: float, length: float) -> RowBuilder:
    """Return the hinges of `count` parallel cranks, which all carry one coupler (body 0)."""
    joints = RowBuilder()
    for i in range(count):
        body, place = 3 * (i + 1), span * i
        joints.point([(body, 1.0)], [(body + 2, -0.5 * length, 0.0)], (place, 0.0))
    for i in range(count):
        body, place = 3 * (i + 1), span * (i - 0.5 * (count - 1))
        joints.point([(body, 1.0), (0, -1.0)], [(body + 2, 0.5 * length, 0.0), (2, -place, 0.0)])
    return joints


@ready
def n_four_bar(
    loops: int = 3,
    length: float = 1.0,
    bar_mass: float = 1.0,
    gravity: float = 9.81,
    angle0: float = 0.8,
    rate0: float = 0.0,
) -> Mechanism:
    """Return N four-bars in a row that share one rigid coupler: redundant constraints.

    N + 1 parallel cranks carry one coupler of N bars; 3 (N + 2) absolute coordinates and
    4 (N + 1) constraints leave one degree of freedom, so N - 1 rows depend on the others at
    every position; at the two flat positions (cranks horizontal, not reached by the default
    start) the rank drops further. Two cranks would do; the others are spare, as in the
    N-four-bar benchmark of IFToMM (where separate coupler bars make the system regular).

    All cranks turn by the same angle phi from the hanging position, a pendulum with an exact
    solution; lam is the one of minimum Euclidean norm, which redundant="least" promises.

    Parameters
    ----------
    loops : int
        Their number N.
    length : float
        Of the cranks and of each bar of the coupler (m).
    bar_mass : float
        Of each crank and of each bar of the coupler (kg).
    gravity : float
        In m/s^2.
    angle0, rate0 : float
        Initial angle of the cranks from the hanging position (rad), rate (rad/s).
    """
    count, total = loops + 1, bar_mass * loops
    lengths = np.array([loops * length] + count * [length])
    masses, load = _bars(lengths, bar_mass / length, gravity)
    rows = _parallel_joints(count, length, length).rows(3 * (count + 1))
    model = PlanarModel(masses, load, rows)
    parts = {**parts_of(model), "redundant": "least"}
    # J phi'' = -(weight moment) sin phi, for cranks J = m l^2 / 3 and a translating coupler
    inertia = length**2 * (count * bar_mass / 3.0 + total)
    moment = gravity * length * (0.5 * count * bar_mass + total)
    angle = pendulum_angle(sqrt(moment / inertia), angle0, rate0)
    feet = length * np.arange(count)
    middle = 0.5 * length * loops

    def motion(t: float) -> Motion:
        phi, w = (angle0, rate0) if t == 0.0 else angle(t)
        s, c = length * sin(phi), length * cos(phi)
        q, v = np.zeros((count + 1, 3)), np.zeros((count + 1, 3))
        q[0, :2], v[0, :2] = (middle + s, -c), (c * w, s * w)
        q[1:, 0], q[1:, 1], q[1:, 2] = feet + 0.5 * s, -0.5 * c, phi - 0.5 * pi
        v[1:] = 0.5 * c * w, 0.5 * s * w, w
        return index_one(parts, t, q.ravel(), v.ravel())

    start = motion(0.0)
    names = [f"{end} {i} {axis}" for end in ("foot", "head") for i in range(count) for axis in "xy"]
    return assemble(
        model, q0=start.q, v0=start.v, lam0=start.lam, redundant="least", constraint_names=names,
        reference=Reference(
            source="exact solution by Jacobi's elliptic functions", motion=motion, digits=12.0
        ),
        coordinate_names=_names(["coupler", *(f"crank {i}" for i in range(count))]),
        name="n_four_bar",
    )  # fmt: skip
