"""A boom that a hydraulic cylinder lifts; its states are pressures."""

from __future__ import annotations

from math import cos, hypot, sin, sqrt

import numpy as np

from genalpha.mechanisms._build import Vector, ready
from genalpha.mechanisms._minimal import driven
from genalpha.model import Mechanism

GRAVITY = 9.81


def _flow(drop: float) -> float:
    """Return what flows through a valve: the root of the pressure drop, but smooth at zero."""
    return drop / sqrt(1.0 + abs(drop))


def _flow_rate(drop: float) -> float:
    """Return its derivative."""
    return (1.0 + 0.5 * abs(drop)) / (1.0 + abs(drop)) ** 1.5


class _Boom:
    """Middle (x, y) and angle of a rod that turns about the origin; pressures on both sides.

    The cylinder stands at `foot` and holds the rod at a distance `arm` from the pivot.
    """

    foot, arm = np.array([0.6, -0.8]), 0.9

    def __init__(self, mass: float, length: float, oil: dict[str, float]) -> None:
        self.half, self.oil = 0.5 * length, oil
        self.mass = np.diag([mass, mass, mass * length**2 / 12.0])
        self.weight = mass * GRAVITY

    def _cylinder(self, q: Vector, v: Vector) -> tuple[float, float, Vector]:
        """Return length, its rate, and the derivative of the length by (x, y, angle)."""
        c, s = cos(q[2]), sin(q[2])
        ahead = self.arm - self.half
        dx, dy = q[0] + ahead * c - self.foot[0], q[1] + ahead * s - self.foot[1]
        length = hypot(dx, dy)
        by = np.array([dx, dy, ahead * (dy * c - dx * s)]) / length
        return length, float(by @ v), by

    def force(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p = self.oil
        _, rate, by = self._cylinder(q, v)
        push = 1e5 * (p["area"] * z[0] - p["ring"] * z[1]) - p["friction"] * rate
        return push * by - np.array([0.0, self.weight, 0.0])

    def _volumes(self, t: float, length: float) -> tuple[float, float, float]:
        """Return the volumes of oil below and above the piston, and how far the valve is open."""
        p = self.oil
        out = length - p["shortest"]
        below, above = p["area"] * out + p["dead"], p["ring"] * (p["stroke"] - out) + p["dead"]
        return below, above, p["valve"] * (0.02 + sin(np.pi * min(max(t, 0.0), 1.0)) ** 2)

    def state_rate(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p = self.oil
        length, rate, _ = self._cylinder(q, v)
        below, above, opening = self._volumes(t, length)
        inflow, outflow = opening * _flow(p["pump"] - z[0]), opening * _flow(z[1] - p["tank"])
        return p["bulk"] * np.array(
            [(inflow - p["area"] * rate) / below, (p["ring"] * rate - outflow) / above]
        )

    def holonomic(self, t: float, q: Vector) -> Vector:
        return np.array([q[0] - self.half * cos(q[2]), q[1] - self.half * sin(q[2])])

    def holonomic_jacobian(self, t: float, q: Vector) -> Vector:
        return np.array([[1.0, 0.0, self.half * sin(q[2])], [0.0, 1.0, -self.half * cos(q[2])]])

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return self.holonomic_jacobian(t, q) @ v

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return self.half * v[2] ** 2 * np.array([cos(q[2]), sin(q[2])])

    def _bending_of_cylinder(self, q: Vector) -> tuple[float, Vector, Vector]:
        """Return length, and its first and second derivatives by (x, y, angle)."""
        length, _, by = self._cylinder(q, np.zeros(3))
        ahead, c, s = self.arm - self.half, cos(q[2]), sin(q[2])
        dx, dy = q[0] + ahead * c - self.foot[0], q[1] + ahead * s - self.foot[1]
        of_angle = ahead * (ahead - dx * c - dy * s)
        twice = np.array(
            [[1.0, 0.0, -ahead * s], [0.0, 1.0, ahead * c], [-ahead * s, ahead * c, of_angle]]
        )
        return length, by, (twice - np.outer(by, by)) / length

    def stiffness(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        p = self.oil
        _, by, twice = self._bending_of_cylinder(q)
        push = 1e5 * (p["area"] * z[0] - p["ring"] * z[1]) - p["friction"] * float(by @ v)
        found = p["friction"] * np.outer(by, twice @ v) - push * twice
        found[2, 2] += self.half * (lam[0] * cos(q[2]) + lam[1] * sin(q[2]))
        return found

    def damping(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        _, _, by = self._cylinder(q, v)
        return self.oil["friction"] * np.outer(by, by)

    def state_coupling(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        _, _, by = self._cylinder(q, v)
        return np.outer(by, [-1e5 * self.oil["area"], 1e5 * self.oil["ring"]])

    def state_rate_jacobian(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p = self.oil
        length, by, twice = self._bending_of_cylinder(q)
        below, above, opening = self._volumes(t, length)
        rate = p["bulk"] * np.array([-p["area"] / below, p["ring"] / above])  # by the speed
        out = self.state_rate(t, q, v, z) * [-p["area"] / below, p["ring"] / above]
        flow = (
            -p["bulk"]
            * opening
            * np.array([_flow_rate(p["pump"] - z[0]) / below, _flow_rate(z[1] - p["tank"]) / above])
        )
        by_q = np.outer(out, by) + np.outer(rate, twice @ v)
        return np.hstack([by_q, np.outer(rate, by), np.diag(flow)])

    def position(self, s: Vector) -> Vector:
        return np.array([self.half * cos(s[0]), self.half * sin(s[0]), s[0]])

    def directions(self, s: Vector) -> Vector:
        return np.array([[-self.half * sin(s[0])], [self.half * cos(s[0])], [1.0]])

    def bending(self, s: Vector, u: Vector) -> Vector:
        return -self.half * u[0] ** 2 * np.array([cos(s[0]), sin(s[0]), 0.0])

    def holding(self, s: Vector) -> Vector:
        """Return pressures that hold the rod, with the tank's on the upper side."""
        q, S, p = self.position(s), self.directions(s), self.oil
        _, _, by = self._cylinder(q, np.zeros(3))
        need = self.weight * S[1, 0] / (1e5 * float(by @ S[:, 0]))
        return np.array([(need + p["ring"] * p["tank"]) / p["area"], p["tank"]])


@ready
def hydraulic_boom(bulk: float = 1.4e4, angle0: float = 0.2) -> Mechanism:
    """Return a boom that a hydraulic cylinder lifts; its states are two pressures, in bar.

    3 coordinates (middle and angle of a rod of 3 m and 200 kg), 2 constraints (its pivot). Oil of a
    bulk modulus of 1.4e9 Pa makes the pressures stiff: they follow the flow within milliseconds,
    and oscillate with the boom. A valve opens and closes within a second.

    Parameters
    ----------
    bulk : float
        Bulk modulus of the oil (bar); the larger, the stiffer.
    angle0 : float
        Initial angle of the boom (rad), which the pressure holds at first.
    """
    oil = {
        "bulk": bulk, "area": 5e-3, "ring": 3e-3, "valve": 2.5e-4, "pump": 150.0, "tank": 5.0,
        "dead": 2e-4, "shortest": 0.85, "stroke": 1.2, "friction": 2e3,
    }  # fmt: skip
    model, s = _Boom(200.0, 3.0, oil), np.array([angle0])
    return driven(
        model, (s, np.zeros(1), model.holding(s)), 0.05, 10.0, name="hydraulic_boom",
        state_names=["pressure below", "pressure above"],
        coordinate_names=["x", "y", "angle"], constraint_names=["pivot x", "pivot y"],
    )  # fmt: skip
