"""An inverted pendulum on a cart, balanced by a controller, whose states are its own."""

from __future__ import annotations

from math import atan2, cos, sin

import numpy as np

from genalpha.mechanisms._build import Vector, ready
from genalpha.mechanisms._minimal import driven
from genalpha.model import Mechanism

GRAVITY = 9.81


class _Cart:
    """Cart x, mass (px, py) on a rod above it; integral of x, filtered angle, actuator's force."""

    def __init__(self, cart: float, mass: float, length: float, gains: dict[str, float]) -> None:
        self.mass, self.length, self.gains = np.diag([cart, mass, mass]), length, gains
        self.weight = mass * GRAVITY

    def force(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        return np.array([z[2] - self.gains["friction"] * v[0], 0.0, -self.weight])

    def state_rate(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p, angle = self.gains, atan2(q[1] - q[0], q[2])
        off, turning = q[0] - p["target"], (angle - z[1]) / p["filter"]
        wanted = p["angle"] * angle + p["turning"] * turning
        wanted += p["place"] * off + p["speed"] * v[0] + p["integral"] * z[0]
        return np.array([off, turning, (wanted - z[2]) / p["actuator"]])

    def holonomic(self, t: float, q: Vector) -> Vector:
        return np.array([0.5 * ((q[1] - q[0]) ** 2 + q[2] ** 2 - self.length**2)])

    def holonomic_jacobian(self, t: float, q: Vector) -> Vector:
        return np.array([[q[0] - q[1], q[1] - q[0], q[2]]])

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([(q[1] - q[0]) * (v[1] - v[0]) + q[2] * v[2]])

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([(v[1] - v[0]) ** 2 + v[2] ** 2])

    def stiffness(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        return lam[0] * np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])

    def damping(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        return np.diag([self.gains["friction"], 0.0, 0.0])

    def state_coupling(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        return np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

    def state_rate_jacobian(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p, across = self.gains, q[1] - q[0]
        angle = np.array([-q[2], q[2], -across]) / (across**2 + q[2] ** 2)  # by q
        found = np.zeros((3, 9))
        found[0, 0] = 1.0
        found[1, :3], found[1, 7] = angle / p["filter"], -1.0 / p["filter"]
        wanted = found[2]
        wanted[:3] = (p["angle"] + p["turning"] / p["filter"]) * angle
        wanted[0] += p["place"]
        wanted[3], wanted[6], wanted[8] = p["speed"], p["integral"], -1.0
        wanted[7] = -p["turning"] / p["filter"]
        wanted /= p["actuator"]
        return found

    def position(self, s: Vector) -> Vector:
        return np.array([s[0], s[0] + self.length * sin(s[1]), self.length * cos(s[1])])

    def directions(self, s: Vector) -> Vector:
        across, down = self.length * cos(s[1]), -self.length * sin(s[1])
        return np.array([[1.0, 0.0], [1.0, across], [0.0, down]])

    def bending(self, s: Vector, u: Vector) -> Vector:
        return -self.length * u[1] ** 2 * np.array([0.0, sin(s[1]), cos(s[1])])


@ready
def controlled_pendulum(angle0: float = 0.3, target: float = 0.5) -> Mechanism:
    """Return an inverted pendulum on a cart that a controller balances and moves to a place.

    3 coordinates (cart, and both of the mass), 1 constraint (the rod). 3 states: the integral of
    the cart's distance from its target, the angle behind a filter, from which the controller takes
    its rate, and the force of the actuator, which lags behind what the controller wants.

    Parameters
    ----------
    angle0 : float
        Initial angle from the upward vertical (rad).
    target : float
        Where the cart shall go (m).
    """
    gains = {
        "angle": 50.0, "turning": 10.7, "place": 6.2, "speed": 6.4, "integral": 2.2,
        "filter": 0.01, "actuator": 0.02, "friction": 0.1, "target": target,
    }  # fmt: skip
    start = np.array([0.0, angle0]), np.zeros(2), np.array([0.0, angle0, 0.0])
    return driven(
        _Cart(1.0, 0.2, 0.5, gains), start, 0.1, 11.0, name="controlled_pendulum",
        state_names=["integral", "filtered angle", "force"],
        coordinate_names=["cart", "mass x", "mass y"], constraint_names=["rod"],
    )  # fmt: skip
