"""The slider-crank with a spring and a mass of Arnold and Brüls."""

from __future__ import annotations

from math import asin, cos, pi, sin

import numpy as np

from genalpha.mechanisms._build import (
    Matrix,
    Vector,
    assemble,
    index_one,
    index_reduced_reference,
    parts_of,
    ready,
)
from genalpha.mechanisms._planar import PlanarModel, RowBuilder, TrigonometricRows
from genalpha.model import Mechanism

# Columns of (x1, y1, theta1, x2, y2, theta2, x3, x4, x5, y5)
_X1, _THETA1, _X2, _THETA2, _X3, _X4, _X5, _Y5 = 0, 2, 3, 5, 6, 7, 8, 9


def _rows(l1: float, l2: float) -> TrigonometricRows:
    joints = RowBuilder()
    joints.point([(_X1, 1.0)], [(_THETA1, -0.5 * l1, 0.0)])
    joints.point([(_X5, 1.0)], [(_THETA1, -l1, 0.0)])
    joints.point([(_X2, 1.0), (_X5, -1.0)], [(_THETA2, -0.5 * l2, 0.0)])
    joints.row([(_X3, 1.0), (_X5, -1.0)], [(_THETA2, -l2, 0.0)])
    joints.row([(_Y5, 1.0)], [(_THETA2, 0.0, l2)])
    return joints.rows(10)


class _SliderCrank(PlanarModel):
    def __init__(
        self, masses: Vector, torque: float, spring: float, rest: float, rows: TrigonometricRows
    ) -> None:
        load = np.zeros(10)
        load[_THETA1] = torque
        super().__init__(masses, load, rows)
        self.spring, self.rest = spring, rest

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        force = self.load.copy()
        pull = self.spring * (q[_X4] - q[_X3] - self.rest)
        force[_X3], force[_X4] = pull, -pull
        return force

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        matrix = super().stiffness(t, q, v, vdot, lam, psi)
        k = self.spring
        matrix[_X3, _X3] = matrix[_X4, _X4] = k
        matrix[_X3, _X4] = matrix[_X4, _X3] = -k
        return matrix

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        stretch = float(q[_X4] - q[_X3]) - self.rest
        return super().energy(t, q, v) + 0.5 * self.spring * stretch**2


_COORDINATES = ("crank x", "crank y", "crank angle", "rod x", "rod y", "rod angle", "slider x",
                "mass x", "hinge x", "hinge y")  # fmt: skip


@ready
def slider_crank(
    l1: float = 0.3,
    l2: float = 0.6,
    m1: float = 0.36,
    m2: float = 0.15,
    m3: float = 0.1,
    m4: float = 0.7,
    spring: float = 1000.0,
    rest: float = 0.0,
    torque: float = 1.0,
    angle0: float = 0.5 * pi,
) -> Mechanism:
    """Return the slider-crank with spring and mass of Arnold and Brüls 2007, section 5.1.

    10 coordinates (x1, y1, theta1, x2, y2, theta2, x3, x4, x5, y5): two rods, the slider, the
    mass on the spring, the hinge between the rods; 8 constraints. The paper prints neither
    inertias nor gravity: the rods are slender here, J = m l^2 / 12, and there is no gravity.
    The hinge (x5, y5) has no mass, so the mass matrix is singular, and regular on the motions
    that the constraints allow. Starts at rest with the spring undeformed; the invariant given
    as `energy` is T + spring energy - torque theta1.

    Parameters
    ----------
    l1, l2 : float
        Lengths of crank and connecting rod (m).
    m1, m2, m3, m4 : float
        Masses of crank, rod, slider and sprung mass (kg).
    spring : float
        In N/m.
    rest : float
        Length x4 - x3 of the undeformed spring (m).
    torque : float
        Constant, on the crank (N m).
    angle0 : float
        Initial crank angle (rad).
    """
    masses = np.array([m1, m1, m1 * l1**2 / 12.0, m2, m2, m2 * l2**2 / 12.0, m3, m4, 0.0, 0.0])
    model = _SliderCrank(masses, torque, spring, rest, _rows(l1, l2))
    parts = parts_of(model)
    angle2 = -asin(l1 * sin(angle0) / l2)
    x5, y5 = l1 * cos(angle0), l1 * sin(angle0)
    x3 = x5 + l2 * cos(angle2)
    q0 = np.array(
        [0.5 * x5, 0.5 * y5, angle0, 0.5 * (x5 + x3), 0.5 * y5, angle2, x3, x3 + rest, x5, y5]
    )
    v0 = np.zeros(10)
    names = ["crank x", "crank y", "hinge x", "hinge y", "rod x", "rod y", "slider x", "slider y"]
    return assemble(
        model, q0=q0, v0=v0, lam0=index_one(parts, 0.0, q0, v0).lam, constraint_names=names,
        reference=index_reduced_reference(parts, (0.0, q0, v0), 0.02, 11.0),
        coordinate_names=_COORDINATES, name="slider_crank",
    )  # fmt: skip
