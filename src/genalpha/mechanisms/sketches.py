"""Outlines of the mechanisms as polylines, for pictures and animations with any plotting tool."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from genalpha.mechanisms._build import Vector, mass_matrix
from genalpha.mechanisms.bouncing import Stop
from genalpha.mechanisms.rocking import Block
from genalpha.mechanisms.squeezer import SqueezerParameters
from genalpha.mechanisms.squeezer_absolute import absolute_position
from genalpha.model import Mechanism

Lines = list[Vector]


def _rods(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    """Slender rods (x, y, theta): the length follows from J = m l^2 / 12."""
    m = mass_matrix({"mass": mechanism.mass}, t, q).diagonal().reshape(-1, 3)
    x, y, angle = q.reshape(-1, 3).T
    half = np.sqrt(3.0 * m[:, 2] / m[:, 0])
    dx, dy = half * np.cos(angle), half * np.sin(angle)
    ends = np.array([[x - dx, x + dx], [y - dy, y + dy]])
    return list(ends.transpose(2, 1, 0))


def _point_pendulum(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    # G = q - support, which gives the support wherever it is
    return [np.array([q - mechanism.holonomic_jacobian(t, q)[0], q])]


def _bouncing(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    stop = Stop().angle
    tip = np.array([np.sin(stop), -np.cos(stop)]) * float(np.hypot(*q))
    return [*_point_pendulum(mechanism, t, q), np.array([0.8 * tip, 1.2 * tip])]


def _block(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    block = Block()
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * [
        block.half_width,
        block.half_height,
    ]
    c, s = np.cos(q[2]), np.sin(q[2])
    return [corners @ np.array([[c, s], [-s, c]]) + q[:2]]


def _clutch(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    """Both rotors side by side, with a mark on each."""
    turn = np.linspace(0.0, 2.0 * np.pi, 60)
    rim = np.column_stack([np.cos(turn), np.sin(turn)])
    places = np.array([[0.0, 0.0], [2.5, 0.0]])
    marks = [np.array([p, p + [np.cos(a), np.sin(a)]]) for p, a in zip(places, q, strict=True)]
    return [*(p + rim for p in places), *marks]


def _slider_crank(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    x3, x4, x5, y5 = q[6:]
    box = 0.04 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
    rods = np.array([[0.0, 0.0], [x5, y5], [x3, 0.0]])
    return [rods, box + [x3, 0.0], 1.5 * box + [x4, 0.0]]


def _squeezer(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    """Bodies as lines between their joints, the spring from D to C."""
    p = SqueezerParameters()
    if q.size == 7:
        q = absolute_position(q)
    f, e, g, h, d = q[21:].reshape(5, 2)
    o, a, b, c = np.zeros(2), (p.xa, p.ya), (p.xb, p.yb), (p.xc, p.yc)
    chains = ([o, f, e], [b, e, d, b], [e, g, a], [e, h, a], [d, c])
    return [np.array(chain) for chain in chains]


def _car_axis(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    foot = mechanism.holonomic_jacobian(t, q)[0, :2]
    return [np.array([[0.0, 0.0], q[:2], q[2:], foot])]


def _beam(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    """Cubic elements between the nodes."""
    nodes = q.reshape(-1, 4)
    xi = np.linspace(0.0, 1.0, 8)[:, None]
    h = 1.0 / (len(nodes) - 1)
    line = [
        (1 - 3 * xi**2 + 2 * xi**3) * a[:2] + h * (xi - 2 * xi**2 + xi**3) * a[2:]
        + (3 * xi**2 - 2 * xi**3) * b[:2] + h * (xi**3 - xi**2) * b[2:]
        for a, b in pairwise(nodes)
    ]  # fmt: skip
    return [np.concatenate(line)]


def _oblique(points: Vector) -> Vector:
    """Project points of space (rows) to the plane of the paper."""
    x, y, z = np.atleast_2d(points).T
    return np.column_stack([x - 0.45 * y, z - 0.3 * y])


def _spatial(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    return [_oblique(np.array([np.zeros(3), q[:3]]))]


def _disk(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    """The rim around its centre, unit radius, and the contact point."""
    x, y, tilt, heading, roll = q
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    up = np.array([np.sin(tilt) * np.sin(heading), -np.sin(tilt) * np.cos(heading), np.cos(tilt)])
    contact = np.array([x, y, 0.0])
    turn = np.linspace(0.0, 2.0 * np.pi, 60)[:, None]
    rim = contact + up + np.cos(turn) * along + np.sin(turn) * up
    spoke = contact + up + np.outer([0.0, 1.0], np.sin(roll) * along + np.cos(roll) * up)
    return [_oblique(rim), _oblique(spoke)]


def _skate(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    blade = 0.25 * np.array([np.cos(q[2]), np.sin(q[2])])
    return [np.array([q[:2] - blade, q[:2] + blade])]


def _motor_crank(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    pin = 0.2 * np.array([np.cos(q[0]), np.sin(q[0])])
    box = 0.04 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
    turn = np.linspace(0.0, 2.0 * np.pi, 40)
    rotor = 0.05 * np.column_stack([np.cos(turn), np.sin(turn)])
    return [np.array([[0.0, 0.0], pin, [q[2], 0.0]]), box + [q[2], 0.0], rotor]


def _cart(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    box = np.array([[-1, -1], [1, -1], [1, 0], [-1, 0], [-1, -1]]) * [0.15, 0.12]
    return [box + [q[0], 0.0], np.array([[q[0], 0.0], q[1:]])]


def _boom(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    """The rod from its pivot, and the cylinder under it, whose rod is as long as it is out."""
    foot, arm = np.array([0.6, -0.8]), 0.9
    along = np.array([np.cos(q[2]), np.sin(q[2])])
    return [np.array([[0.0, 0.0], 2.0 * q[:2]]), np.array([foot, arm * along])]


_SKETCHES: dict[str, Callable[[Mechanism, float, Vector], Lines]] = {
    "pendulum_jn": lambda mechanism, t, q: [np.array([[0.0, 0.0], 2.0 * q[:2]])],
    "prescribed_mass": lambda mechanism, t, q: [np.array([[0.0, 0.0], [q[0], 0.0]])],
    "simple_pendulum": _point_pendulum,
    "assimulo_pendulum": _point_pendulum,
    "driven_pendulum": _point_pendulum,
    "bouncing_pendulum": _bouncing,
    "rocking_block": _block,
    "clutch": _clutch,
    "four_bar": _rods,
    "n_four_bar": _rods,
    "slider_crank": _slider_crank,
    "andrews_squeezer": _squeezer,
    "andrews_absolute": _squeezer,
    "car_axis": _car_axis,
    "chain": _rods,
    "closed_chain": _rods,
    "spherical_pendulum": _spatial,
    "heavy_top": _spatial,
    "flexible_pendulum": _beam,
    "rolling_disk": _disk,
    "knife_edge": _skate,
    "chaplygin_sleigh": _skate,
    "motor_slider_crank": _motor_crank,
    "controlled_pendulum": _cart,
    "hydraulic_boom": _boom,
}


def sketch(mechanism: Mechanism, t: float, q: Vector) -> Lines:
    """Return the outline of a mechanism of the catalogue at (t, q).

    Parameters
    ----------
    mechanism : Mechanism
        From `genalpha.mechanisms`; the squeezers, the beam, the block and the stop are drawn with
        their default geometry.
    t : float
    q : (n,) array

    Returns
    -------
    list of (k, 2) arrays
        Polylines in the plane (mechanisms in space are projected obliquely); empty for the
        test problems that are no mechanisms.
    """
    draw = _SKETCHES.get(mechanism.name)
    return draw(mechanism, t, np.asarray(q, dtype=float)) if draw else []
