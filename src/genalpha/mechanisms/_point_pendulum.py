"""The point-mass pendulum that several mechanisms share, and its elliptic solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import asin, atan2, cos, hypot, pi, sin

import numpy as np
from scipy.special import ellipj, ellipkinc

from genalpha.mechanisms._build import NO_MULTIPLIER, Matrix, Vector
from genalpha.model import Motion


def pendulum_angle(
    frequency: float, angle0: float, rate0: float
) -> Callable[[float], tuple[float, float]]:
    """Return t -> (phi, phi') with phi'' = -frequency^2 sin phi, by Jacobi's functions.

    Swinging: sin(phi / 2) = k sn(w t + u0); turning over: phi / 2 = am(k w t + u0) with the
    modulus 1 / k, where k^2 = sin^2(phi0 / 2) + (phi0' / 2 w)^2. Not for k = 1 (separatrix).
    """
    half = sin(0.5 * angle0)
    speed = 0.5 * rate0 / frequency
    k = hypot(half, speed)
    if k < 1.0:
        # the swing is about the hanging position nearest to the start, not always about 0
        turns = round(angle0 / (2.0 * pi))
        centre, sign = 2.0 * pi * turns, (-1.0) ** turns
        u0 = float(ellipkinc(atan2(half, sign * speed), k * k))

        def swing(t: float) -> tuple[float, float]:
            sn, cn, _, _ = ellipj(frequency * t + u0, k * k)
            return centre + 2.0 * asin(sign * k * sn), float(2.0 * sign * k * frequency * cn)

        return swing

    turn = 1.0 if rate0 > 0.0 else -1.0
    u0 = float(ellipkinc(0.5 * turn * angle0, 1.0 / k**2))

    def rotate(t: float) -> tuple[float, float]:
        _, _, dn, amplitude = ellipj(k * frequency * t + u0, 1.0 / k**2)
        return float(2.0 * turn * amplitude), float(2.0 * turn * k * frequency * dn)

    return rotate


def _still(t: float) -> tuple[float, float, float, float, float, float]:
    """Return position, velocity and acceleration of a fixed support."""
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@dataclass(frozen=True)
class PointPendulum:
    """Mass point at constant distance from a support that may move."""

    point_mass: float
    length: float
    gravity: float
    support: Callable[[float], tuple[float, float, float, float, float, float]] = _still

    @property
    def mass(self) -> Matrix:
        return self.point_mass * np.eye(2)

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([0.0, -self.point_mass * self.gravity])

    def holonomic(self, t: float, q: Vector) -> Vector:
        (x, y), s = q.tolist(), self.support(t)
        return np.array([0.5 * ((x - s[0]) ** 2 + (y - s[1]) ** 2 - self.length**2)])

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        (x, y), s = q.tolist(), self.support(t)
        return np.array([[x - s[0], y - s[1]]])

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        (x, y), (vx, vy), s = q.tolist(), v.tolist(), self.support(t)
        return np.array([(x - s[0]) * (vx - s[2]) + (y - s[1]) * (vy - s[3])])

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        (x, y), (vx, vy), s = q.tolist(), v.tolist(), self.support(t)
        relative = (vx - s[2]) ** 2 + (vy - s[3]) ** 2
        return np.array([relative - (x - s[0]) * s[4] - (y - s[1]) * s[5]])

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return float(lam[0]) * np.eye(2)

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return np.zeros((2, 2))

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        return float(self.point_mass * (0.5 * (v @ v) + self.gravity * q[1]))

    def motion(self, t: float, angle: float, rate: float) -> Motion:
        """Return the motion for the angle from the downward vertical and its rate."""
        s = self.support(t)
        sine, cosine, length = sin(angle), cos(angle), self.length
        turn = -((self.gravity + s[5]) * sine + s[4] * cosine) / length
        tension = length * rate**2 + (self.gravity + s[5]) * cosine - s[4] * sine
        return Motion(
            np.array([s[0] + length * sine, s[1] - length * cosine]),
            np.array([s[2] + length * cosine * rate, s[3] + length * sine * rate]),
            np.array(
                [
                    s[4] + length * (cosine * turn - sine * rate**2),
                    s[5] + length * (sine * turn + cosine * rate**2),
                ]
            ),
            np.array([self.point_mass * tension / length]),
            NO_MULTIPLIER,
        )
