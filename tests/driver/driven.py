"""Mechanisms with first-order states whose motion is known: made to measure, or linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha import Mechanism
from genalpha.model import DrivenMotion, Reference

Array = np.ndarray


class Made:
    """M(t, q), f and r that couple q, v and z nonlinearly, g(t, q), k(t, q, v, z), and the motion.

    Whatever the motion leaves in an equation is taken away as a function of time.
    """

    def __init__(self, holonomic: bool = True, nonholonomic: bool = True) -> None:
        self.m, self.l = int(holonomic), int(nonholonomic)

    @staticmethod
    def exact(t: float) -> tuple[Array, Array, Array, Array, Array]:
        """Return q, v, vdot, z, zdot."""
        s, c = np.sin, np.cos
        q = np.array([s(t), 0.5 * c(1.3 * t), 0.3 * s(0.7 * t) + 0.1 * t])
        v = np.array([c(t), -0.65 * s(1.3 * t), 0.21 * c(0.7 * t) + 0.1])
        vdot = np.array([-s(t), -0.845 * c(1.3 * t), -0.147 * s(0.7 * t)])
        z = np.array([1.0 + 0.4 * s(1.1 * t), 0.6 * c(0.9 * t)])
        zdot = np.array([0.44 * c(1.1 * t), -0.54 * s(0.9 * t)])
        return q, v, vdot, z, zdot

    @staticmethod
    def multipliers(t: float) -> tuple[Array, Array]:
        """Return lam and psi, of both constraints."""
        return np.array([2.0 + np.sin(1.7 * t)]), np.array([0.5 * np.cos(0.8 * t) - 1.0])

    @staticmethod
    def mass(t: float, q: Array) -> Array:
        """Return a mass that knows time and place."""
        a, b = 0.3 * np.sin(q[1]), 0.2 * q[0]
        return np.array([[2.0 + 0.3 * np.cos(t), a, 0.0], [a, 1.5 + b * b, b], [0.0, b, 1.0]])

    @staticmethod
    def free_force(q: Array, v: Array, z: Array) -> Array:
        """Return what f is without what makes the motion exact."""
        return np.array(
            [
                -q[0] * z[0] ** 2 - 0.3 * v[0] * v[1],
                np.sin(z[0] * z[1]) - 0.2 * v[1] ** 3,
                v[2] * z[1] - q[2] * q[0],
            ]
        )

    @staticmethod
    def free_rate(q: Array, v: Array, z: Array) -> Array:
        """Return the same of r."""
        return np.array([-2.0 * z[0] ** 3 + v[0] * q[1] * z[1], np.cos(z[0]) * v[2] - z[1] * v[1]])

    @staticmethod
    def free_g(q: Array) -> Array:
        """Return the same of g."""
        return np.array([q[0] ** 2 + q[1] + 0.5 * q[2] * q[0]])

    @staticmethod
    def G(t: float, q: Array) -> Array:
        """Return dg/dq."""
        return np.array([[2.0 * q[0] + 0.5 * q[2], 1.0, 0.5 * q[0]]])

    @staticmethod
    def free_k(q: Array, v: Array, z: Array) -> Array:
        """Return the same of k, which is not linear in v."""
        return np.array([v[2] + 0.2 * v[2] ** 3 + q[1] * v[0] * 0.5 - z[0] * z[1] + 0.1 * z[1]])

    @staticmethod
    def K(t: float, q: Array, v: Array, z: Array) -> Array:
        """Return dk/dv."""
        return np.array([[0.5 * q[1], 0.0, 1.0 + 0.6 * v[2] ** 2]])

    def force(self, t: float, q: Array, v: Array, z: Array) -> Array:
        """Return f."""
        qe, ve, ae, ze, _ = self.exact(t)
        lam, psi = self.multipliers(t)
        left = self.mass(t, qe) @ ae - self.free_force(qe, ve, ze)
        left += self.m * self.G(t, qe).T @ lam + self.l * self.K(t, qe, ve, ze).T @ psi
        return self.free_force(q, v, z) + left

    def rate(self, t: float, q: Array, v: Array, z: Array) -> Array:
        """Return r."""
        qe, ve, _, ze, zdot = self.exact(t)
        return self.free_rate(q, v, z) + zdot - self.free_rate(qe, ve, ze)

    def g(self, t: float, q: Array) -> Array:
        """Return g."""
        return self.free_g(q) - self.free_g(self.exact(t)[0])

    def k(self, t: float, q: Array, v: Array, z: Array) -> Array:
        """Return k."""
        qe, ve, _, ze, _ = self.exact(t)
        return self.free_k(q, v, z) - self.free_k(qe, ve, ze)

    def g_rate(self, t: float, q: Array, v: Array) -> Array:
        """Return g_t + G v."""
        qe, ve, _, _, _ = self.exact(t)
        return self.G(t, q) @ v - self.G(t, qe) @ ve

    def g_rest(self, t: float, q: Array, v: Array) -> Array:
        """Return what g'' holds beside G vdot."""
        qe, ve, ae, _, _ = self.exact(t)
        bent, exact = (np.array([2.0 * x[0] ** 2 + x[0] * x[2]]) for x in (v, ve))
        return bent - exact - self.G(t, qe) @ ae

    def k_rest(self, t: float, q: Array, v: Array, z: Array) -> Array:
        """Return what k' holds beside dk/dv vdot and dk/dz zdot."""
        qe, ve, ae, ze, zdot = self.exact(t)
        moved, exact = (np.array([0.5 * x[0] * x[1]]) for x in (v, ve))
        return moved - exact - self.K(t, qe, ve, ze) @ ae - self.k_z(t, qe, ve, ze) @ zdot

    @staticmethod
    def k_z(t: float, q: Array, v: Array, z: Array) -> Array:
        """Return dk/dz."""
        return np.array([[-z[1], 0.1 - z[0]]])

    def accelerations(self) -> dict[str, Any]:
        """Return what the constraints' second derivatives need, which is differenced otherwise."""
        found: dict[str, Any] = {}
        if self.m:
            found |= {"holonomic_rate": self.g_rate, "holonomic_acceleration": self.g_rest}
        if self.l:
            found |= {
                "nonholonomic_acceleration": self.k_rest,
                "nonholonomic_state_jacobian": self.k_z,
            }
        return found

    def motion(self, t: float) -> DrivenMotion:
        """Return the exact motion."""
        q, v, vdot, z, zdot = self.exact(t)
        lam, psi = self.multipliers(t)
        return DrivenMotion(q, v, vdot, lam[: self.m], psi[: self.l], z, zdot)

    def mechanism(self, **changes: Any) -> Mechanism:
        """Return the mechanism."""
        start = self.motion(0.0)
        chosen: dict[str, Any] = {
            "mass": self.mass,
            "force": self.force,
            "state_rate": self.rate,
            "q0": start.q,
            "v0": start.v,
            "z0": start.z,
            "name": "made",
            "reference": Reference("exact", self.motion, 15.0),
        }
        if self.m:
            chosen |= {"holonomic": self.g, "holonomic_jacobian": self.G}
        if self.l:
            chosen |= {"nonholonomic": self.k, "nonholonomic_jacobian": self.K}
        return Mechanism(**chosen | changes)
