"""A block that rocks from one edge to the other: its constraints change at every impact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin, sqrt
from typing import Any

import numpy as np

from genalpha.mechanisms._build import NO_MULTIPLIER, Matrix, Vector, assemble, ready
from genalpha.mechanisms.bouncing import Bounces, Stop
from genalpha.model import Mechanism, Motion, Reference


@dataclass(frozen=True)
class Block:
    """A homogeneous block on the ground (G. W. Housner 1963), q = (x, y, angle) of its centre.

    It turns about its left edge while the angle is positive (side +1) and about its right one while
    it is negative (side -1). When it is upright, the other edge hits the ground without rebound:
    angular momentum about that edge is kept, which is what impulses of its constraints do.

    Parameters
    ----------
    half_width, half_height : float
        In m.
    mass : float
        In kg.
    gravity : float
        In m/s^2.
    """

    half_width: float = 0.2
    half_height: float = 0.6
    mass: float = 1.0
    gravity: float = 9.81

    @property
    def restitution(self) -> float:
        """Angular velocity after an impact over that before it, Housner's 1 - 3/2 sin^2 alpha."""
        return 1.0 - 1.5 * sin(atan2(self.half_width, self.half_height)) ** 2

    def phase(self, side: int, **start: Any) -> Mechanism:
        """Return the block turning about one edge; `start` are q0, v0 and what else there is."""
        centre = {"q0": [0.0, self.half_height, 0.0], "v0": np.zeros(3)}
        names = ["edge x", "edge y"]
        rest = {
            "constraint_names": names,
            "coordinate_names": ["x", "y", "angle"],
            "name": "rocking_block",
        }
        return assemble(_Turning(self, side), **{**centre, **rest, **start})

    def event(self) -> Callable[[float, Vector, Vector], float]:
        """Return the event function for `integrate`: upright, where the other edge takes over."""

        def upright(t: float, q: Vector, v: Vector) -> float:
            return float(q[2])

        def impact(t: float, q: Vector, v: Vector) -> Mechanism:
            return self.phase(1 if v[2] > 0.0 else -1)

        upright.impact = impact  # type: ignore[attr-defined]
        return upright


class _Turning:
    """The equations of a block that turns about one of its edges."""

    def __init__(self, block: Block, side: int) -> None:
        self._b, self._h, self._gravity = side * block.half_width, block.half_height, block.gravity
        inertia = block.mass * (block.half_width**2 + block.half_height**2) / 3.0
        self.mass = np.diag([block.mass, block.mass, inertia])

    def _arm(self, angle: float) -> tuple[float, float]:
        """Return the centre as seen from the edge."""
        b, h = self._b, self._h
        return b * cos(angle) - h * sin(angle), b * sin(angle) + h * cos(angle)

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([0.0, -self.mass[0, 0] * self._gravity, 0.0])

    def holonomic(self, t: float, q: Vector) -> Vector:
        x, y = self._arm(float(q[2]))
        return np.array([q[0] - x + self._b, q[1] - y])

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        x, y = self._arm(float(q[2]))
        return np.array([[1.0, 0.0, y], [0.0, 1.0, -x]])

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        x, y = self._arm(float(q[2]))
        return np.array([v[0] + y * v[2], v[1] - x * v[2]])

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array(self._arm(float(q[2]))) * v[2] ** 2

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        K = np.zeros((3, 3))
        K[2, 2] = np.array(self._arm(float(q[2]))) @ lam
        return K

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return np.zeros((3, 3))

    def motion(self, angle: float, rate: float, turn: float) -> Motion:
        """Return the motion for the angle, its rate and its second derivative."""
        x, y = self._arm(angle)
        q = np.array([x - self._b, y, angle])
        v = np.array([-y * rate, x * rate, rate])
        vdot = np.array([-y * turn - x * rate**2, x * turn - y * rate**2, turn])
        lam = self.force(0.0, q, v)[:2] - self.mass[0, 0] * vdot[:2]
        return Motion(q, v, vdot, lam, NO_MULTIPLIER)


@ready
def rocking_block(
    block: Block | None = None, angle0: float = 0.2, rate0: float = -0.4
) -> Mechanism:
    """Return a block that leans on its left edge and falls back, up to its first impact.

    Go on through the impacts with ``integrate(mechanism, t, events=[block.event()])``. The
    reference knows them: between impacts the block is a pendulum that stands upside down, with
    exact arcs of Jacobi's elliptic functions; at each impact the rate falls by Housner's factor.

    Parameters
    ----------
    block : Block | None
        Default ``Block()``.
    angle0, rate0 : float
        Initial angle (rad), positive and less than that at which the block falls over, and its rate
        (rad/s).
    """
    block = Block() if block is None else block
    slender = atan2(block.half_width, block.half_height)
    if not 0.0 < angle0 < slender:
        raise ValueError(f"angle0 = {angle0} must lie between 0 and {slender:.4g}, where it falls")
    radius = hypot(block.half_width, block.half_height)
    frequency = sqrt(0.75 * block.gravity / radius)
    upright = pi - slender
    bounces = Bounces(frequency, upright + angle0, rate0, Stop(upright, block.restitution))

    def motion(t: float) -> Motion:
        angle, rate = bounces(t)
        side = -1 if bounces.impacts_until(t) % 2 else 1
        turn = -(frequency**2) * sin(angle)
        return _Turning(block, side).motion(side * (angle - upright), side * rate, side * turn)

    start = motion(0.0)
    return block.phase(
        1, q0=start.q, v0=start.v, lam0=start.lam,
        reference=Reference(
            source="exact arcs by Jacobi's elliptic functions, joined at Housner's impacts",
            motion=motion, digits=11.0,
        ),
    )  # fmt: skip
