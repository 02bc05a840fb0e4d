"""A slider-crank that a direct-current motor turns; its state is the current."""

from __future__ import annotations

from math import asin, cos, exp, sin

import numpy as np

from genalpha.mechanisms._build import Vector, ready
from genalpha.mechanisms._minimal import driven
from genalpha.model import Mechanism


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

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return self.holonomic_jacobian(t, q) @ v

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        crank, rod = self.l1 * v[0] ** 2, self.l2 * v[1] ** 2
        a, b, _ = q
        return -np.array([crank * cos(a) + rod * cos(b), crank * sin(a) + rod * sin(b)])

    def stiffness(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        (a, b, _), (x, y) = q, lam
        bend, turn = self.product * sin(a - b), self.product * cos(a - b)
        rod = turn * v[1] ** 2 - bend * vdot[1]  # of the first row, by a - b
        crank = -turn * v[0] ** 2 - bend * vdot[0]  # of the second
        pin = self.l1 * (x * cos(a) + y * sin(a))
        end = self.l2 * (x * cos(b) + y * sin(b))
        return np.array([[rod - pin, -rod, 0.0], [crank, -crank - end, 0.0], [0.0, 0.0, 0.0]])

    def damping(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        twice, p = 2.0 * self.product * sin(q[0] - q[1]), self.motor
        first = [p["friction"], twice * v[1], 0.0]
        return np.array([first, [-twice * v[0], 0.0, 0.0], [0.0, 0.0, p["load"]]])

    def state_coupling(
        self, t: float, q: Vector, v: Vector, z: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Vector:
        return np.array([[-self.motor["constant"]], [0.0], [0.0]])

    def state_rate_jacobian(self, t: float, q: Vector, v: Vector, z: Vector) -> Vector:
        p = self.motor
        by = [0.0, 0.0, 0.0, -p["constant"], 0.0, 0.0, -p["resistance"]]
        return np.array([by]) / p["coil"]

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
    return driven(
        model, (np.array([0.5]), np.zeros(1), np.zeros(1)), 0.1, 11.0,
        name="motor_slider_crank", state_names=["current"],
        coordinate_names=["crank", "rod", "slider"], constraint_names=["slider x", "slider y"],
    )  # fmt: skip
