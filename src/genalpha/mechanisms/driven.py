"""Driven mechanisms: a motor, a controller, a cylinder, whose states have rates of first order.

Each has a reference in minimal coordinates: the constraints are solved for by hand there, and the
equations projected onto the velocities that they allow, so that it shares with the mechanism only
masses and forces.
"""

from __future__ import annotations

from collections.abc import Callable
from math import asin, atan2, cos, exp, hypot, sin, sqrt
from typing import Any

import numpy as np

from genalpha.mechanisms._build import NO_MULTIPLIER, StateHistory, Vector, ready
from genalpha.model import DrivenMotion, Mechanism, Reference

GRAVITY = 9.81


class MinimalMotion:
    """The motion of a driven mechanism with one or more free coordinates s.

    Parameters
    ----------
    model : object
        With mass(t, q), force(t, q, v, z), state_rate(t, q, v, z), holonomic_jacobian(t, q), and
        position(s), directions(s), bending(s, u): q, dq/ds, and what q'' holds beside (dq/ds) s''.
    start : (s, u, z)
    segment : float
        See `StateHistory`.
    """

    def __init__(self, model: Any, start: tuple[Vector, Vector, Vector], segment: float) -> None:
        self.model, self.k = model, start[0].size
        self.history = StateHistory(self._rate, 0.0, np.concatenate(start), segment)

    def _accelerations(self, t: float, x: Vector) -> tuple[Vector, ...]:
        o, k = self.model, self.k
        s, u, z = x[:k], x[k : 2 * k], x[2 * k :]
        q, S = o.position(s), o.directions(s)
        v, bent = S @ u, o.bending(s, u)
        M, f = o.mass(t, q), o.force(t, q, v, z)
        sdd = np.linalg.solve(S.T @ M @ S, S.T @ (f - M @ bent))
        return q, v, S @ sdd + bent, z, o.state_rate(t, q, v, z), sdd, M, f

    def _rate(self, t: float, x: Vector) -> Vector:
        _, _, _, _, zdot, sdd, _, _ = self._accelerations(t, x)
        return np.concatenate([x[self.k : 2 * self.k], sdd, zdot])

    def __call__(self, t: float) -> DrivenMotion:
        """Return the motion; multipliers are what the equations lack without them."""
        q, v, vdot, z, zdot, _, M, f = self._accelerations(t, self.history(t))
        G = self.model.holonomic_jacobian(t, q)
        lam = np.linalg.lstsq(G.T, f - M @ vdot, rcond=None)[0]
        return DrivenMotion(q, v, vdot, lam, NO_MULTIPLIER, z, zdot)


def _driven(
    model: Any, start: tuple[Vector, Vector, Vector], segment: float, digits: float, **names: Any
) -> Mechanism:
    """Return the mechanism of a model, with its reference."""
    s, u, z = start
    motion = MinimalMotion(model, start, segment)
    return Mechanism(
        mass=model.mass,
        force=model.force,
        holonomic=model.holonomic,
        holonomic_jacobian=model.holonomic_jacobian,
        q0=model.position(s),
        v0=model.directions(s) @ u,
        z0=z,
        state_rate=model.state_rate,
        reference=Reference(
            "DOP853 in minimal coordinates, relative tolerance 1e-13", motion, digits
        ),
        **names,
    )


class _MotorCrank:
    """Crank angle a, rod angle b, slider x; the current of the motor."""

    def __init__(self, l1: float, l2: float, masses: Vector, motor: dict[str, float]) -> None:
        self.l1, self.l2, self.m, self.motor = l1, l2, masses, motor
        m1, m2, m3 = masses
        self.inertia = np.diag(
            [m1 * l1**2 / 3.0 + m2 * l1**2 + motor["rotor"], m2 * l2**2 / 3.0, m3]
        )
        self.product = 0.5 * m2 * l1 * l2

    def mass(self, t: float, q: Vector) -> Vector:
        M = self.inertia.copy()
        M[0, 1] = M[1, 0] = self.product * cos(q[0] - q[1])
        return M

    def force(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        bend, p = self.product * sin(q[0] - q[1]), self.motor
        torque = p["constant"] * z[0] - p["friction"] * v[0]
        return np.array([torque - bend * v[1] ** 2, bend * v[0] ** 2, -p["load"] * v[2]])

    def state_rate(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p = self.motor
        voltage = p["voltage"] * (1.0 - exp(-t / p["rise"]))
        return np.array([(voltage - p["resistance"] * z[0] - p["constant"] * v[0]) / p["coil"]])

    def holonomic(self, t: float, q: Vector) -> Vector:
        a, b, x = q
        return np.array(
            [self.l1 * cos(a) + self.l2 * cos(b) - x, self.l1 * sin(a) + self.l2 * sin(b)]
        )

    def holonomic_jacobian(self, t: float, q: Vector) -> Vector:
        a, b, _ = q
        l1, l2 = self.l1, self.l2
        return np.array([[-l1 * sin(a), -l2 * sin(b), -1.0], [l1 * cos(a), l2 * cos(b), 0.0]])

    def position(self, s: Vector) -> Vector:
        b = -asin(self.l1 * sin(s[0]) / self.l2)
        return np.array([s[0], b, self.l1 * cos(s[0]) + self.l2 * cos(b)])

    def _rod_rate(self, s: Vector) -> tuple[float, float]:
        """Return the rod angle, and its derivative by the crank's."""
        b = -asin(self.l1 * sin(s[0]) / self.l2)
        return b, -self.l1 * cos(s[0]) / (self.l2 * cos(b))

    def directions(self, s: Vector) -> Vector:
        b, rate = self._rod_rate(s)
        return np.array([[1.0], [rate], [-self.l1 * sin(s[0]) - self.l2 * sin(b) * rate]])

    def bending(self, s: Vector, u: Vector) -> Vector:
        a, (b, rate), l1, l2 = s[0], self._rod_rate(s), self.l1, self.l2
        second = (l1 * sin(a) + l2 * sin(b) * rate**2) / (l2 * cos(b))
        x = -l1 * cos(a) - l2 * cos(b) * rate**2 - l2 * sin(b) * second
        return u[0] ** 2 * np.array([0.0, second, x])


@ready
def motor_slider_crank(
    voltage: float = 12.0, coil: float = 0.01, resistance: float = 1.0, constant: float = 0.2
) -> Mechanism:
    """Return a slider-crank that a direct-current motor starts to turn; its state is the current.

    3 coordinates (crank angle, rod angle, slider), 2 constraints, M(q). The voltage rises to its
    value within some hundredths of a second, coil i' = voltage - resistance i - constant crank',
    and the torque is constant i. Slender rods of 0.2 and 0.5 m (1 and 0.8 kg), a slider of 0.5 kg
    with linear friction, no gravity.

    Parameters
    ----------
    voltage : float
        In V.
    coil, resistance : float
        Inductance (H) and resistance (Ohm).
    constant : float
        Torque per current (N m / A), which is also voltage per speed.
    """
    motor = {
        "voltage": voltage, "coil": coil, "resistance": resistance, "constant": constant,
        "rotor": 0.01, "friction": 0.01, "load": 0.5, "rise": 0.05,
    }  # fmt: skip
    model = _MotorCrank(0.2, 0.5, np.array([1.0, 0.8, 0.5]), motor)
    return _driven(
        model, (np.array([0.5]), np.zeros(1), np.zeros(1)), 0.1, 11.0,
        name="motor_slider_crank", state_names=["current"],
        coordinate_names=["crank", "rod", "slider"], constraint_names=["slider x", "slider y"],
    )  # fmt: skip


class _Cart:
    """Cart x, mass (px, py) on a rod above it; integral of x, filtered angle, actuator's force."""

    def __init__(self, cart: float, mass: float, length: float, gains: dict[str, float]) -> None:
        self.masses, self.length, self.gains = np.diag([cart, mass, mass]), length, gains
        self.weight = mass * GRAVITY

    def mass(self, t: float, q: Vector) -> Vector:
        return self.masses

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
    return _driven(
        _Cart(1.0, 0.2, 0.5, gains), start, 0.1, 11.0, name="controlled_pendulum",
        state_names=["integral", "filtered angle", "force"],
        coordinate_names=["cart", "mass x", "mass y"], constraint_names=["rod"],
    )  # fmt: skip


class _Boom:
    """Middle (x, y) and angle of a rod that turns about the origin; pressures on both sides.

    The cylinder stands at `foot` and holds the rod at a distance `arm` from the pivot.
    """

    foot, arm = np.array([0.6, -0.8]), 0.9

    def __init__(self, mass: float, length: float, oil: dict[str, float]) -> None:
        self.half, self.oil = 0.5 * length, oil
        self.masses = np.diag([mass, mass, mass * length**2 / 12.0])
        self.weight = mass * GRAVITY

    def mass(self, t: float, q: Vector) -> Vector:
        return self.masses

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

    def state_rate(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p = self.oil
        length, rate, _ = self._cylinder(q, v)
        out = length - p["shortest"]
        opening = p["valve"] * (0.02 + sin(np.pi * min(max(t, 0.0), 1.0)) ** 2)
        inflow = opening * (p["pump"] - z[0]) / sqrt(1.0 + abs(p["pump"] - z[0]))
        outflow = opening * (z[1] - p["tank"]) / sqrt(1.0 + abs(z[1] - p["tank"]))
        below, above = p["area"] * out + p["dead"], p["ring"] * (p["stroke"] - out) + p["dead"]
        return p["bulk"] * np.array(
            [(inflow - p["area"] * rate) / below, (p["ring"] * rate - outflow) / above]
        )

    def holonomic(self, t: float, q: Vector) -> Vector:
        return np.array([q[0] - self.half * cos(q[2]), q[1] - self.half * sin(q[2])])

    def holonomic_jacobian(self, t: float, q: Vector) -> Vector:
        return np.array([[1.0, 0.0, self.half * sin(q[2])], [0.0, 1.0, -self.half * cos(q[2])]])

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
    return _driven(
        model, (s, np.zeros(1), model.holding(s)), 0.05, 10.0, name="hydraulic_boom",
        state_names=["pressure below", "pressure above"],
        coordinate_names=["x", "y", "angle"], constraint_names=["pivot x", "pivot y"],
    )  # fmt: skip


DRIVEN: tuple[Callable[..., Mechanism], ...] = (
    motor_slider_crank,
    controlled_pendulum,
    hydraulic_boom,
)
