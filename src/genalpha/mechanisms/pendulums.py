"""Point-mass pendulums in the plane: free (exact by elliptic functions) and driven."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np

from genalpha.mechanisms._build import StateHistory, Vector, assemble, ready
from genalpha.mechanisms._point_pendulum import PointPendulum, pendulum_angle
from genalpha.model import Mechanism, Motion, Reference


def _free(model: PointPendulum, angle0: float, rate0: float, name: str) -> Mechanism:
    angle = pendulum_angle(sqrt(model.gravity / model.length), angle0, rate0)

    def motion(t: float) -> Motion:
        return model.motion(t, *angle(t))

    start = model.motion(0.0, angle0, rate0)
    return assemble(
        model, q0=start.q, v0=start.v, lam0=start.lam, constraint_names=["rod"],
        coordinate_names=["x", "y"], name=name,
        reference=Reference(
            source="exact solution by Jacobi's elliptic functions", motion=motion, digits=13.0
        ),
    )  # fmt: skip


@ready
def simple_pendulum(
    point_mass: float = 1.0,
    length: float = 1.0,
    gravity: float = 9.81,
    angle0: float = -0.5 * pi,
    rate0: float = 0.0,
) -> Mechanism:
    """Return the point-mass pendulum in Cartesian coordinates (IFToMM benchmark A01).

    m q'' = (0, -m g) - q lam, g(q) = (|q|^2 - L^2) / 2; lam is the rod's tension over its
    length. The exact solution uses Jacobi's elliptic functions, swinging or turning over.

    Parameters
    ----------
    point_mass : float
        In kg.
    length : float
        In m.
    gravity : float
        In m/s^2.
    angle0, rate0 : float
        Initial angle from the downward vertical (rad) and its rate (rad/s).
    """
    model = PointPendulum(point_mass, length, gravity)
    return _free(model, angle0, rate0, "simple_pendulum")


@ready
def assimulo_pendulum(gravity: float = 13.7503671) -> Mechanism:
    """Return the pendulum of Assimulo's example `mech_system_pendulum`: unit mass and length.

    Released at rest from q = (1, 0); the period is 2.00000033 s. Assimulo writes the
    constraint as x^2 + y^2 - 1 but its reaction as -(x, y) lam; here the constraint is halved,
    so that lam is the same with G^T = (x, y).

    Parameters
    ----------
    gravity : float
        In m/s^2.
    """
    return _free(PointPendulum(1.0, 1.0, gravity), 0.5 * pi, 0.0, "assimulo_pendulum")


@dataclass(frozen=True)
class _Shaker:
    """Support at (a sin w t, b sin w t)."""

    horizontal: float
    vertical: float
    frequency: float

    def __call__(self, t: float) -> tuple[float, float, float, float, float, float]:
        w = self.frequency
        s, c = sin(w * t), w * cos(w * t)
        a, b = self.horizontal, self.vertical
        return a * s, b * s, a * c, b * c, -a * w * w * s, -b * w * w * s


@ready
def driven_pendulum(
    point_mass: float = 1.0,
    length: float = 1.0,
    gravity: float = 9.81,
    horizontal: float = 0.2,
    vertical: float = 0.1,
    frequency: float = 5.0,
    angle0: float = 0.5,
    rate0: float = 0.0,
) -> Mechanism:
    """Return the pendulum whose support is driven: a rheonomic constraint.

    The support moves as s(t) = (a, b) sin(w t); g(t, q) = (|q - s(t)|^2 - L^2) / 2. The
    reference integrates phi'' = -((g + s2'') sin phi + s1'' cos phi) / L. No energy is given:
    the support does work.

    Parameters
    ----------
    point_mass : float
        In kg.
    length : float
        In m.
    gravity : float
        In m/s^2.
    horizontal, vertical : float
        Amplitudes a, b of the support (m).
    frequency : float
        Circular frequency w of the support (rad/s).
    angle0, rate0 : float
        Initial angle from the downward vertical (rad) and its rate (rad/s).
    """
    shaker = _Shaker(horizontal, vertical, frequency)
    model = PointPendulum(point_mass, length, gravity, shaker)

    def rhs(t: float, x: Vector) -> Vector:
        angle, rate = x.tolist()
        s = shaker(t)
        return np.array([rate, -((gravity + s[5]) * sin(angle) + s[4] * cos(angle)) / length])

    history = StateHistory(rhs, 0.0, np.array([angle0, rate0]), segment=0.1)
    start = model.motion(0.0, angle0, rate0)
    return assemble(
        model, q0=start.q, v0=start.v, lam0=start.lam, energy=None, constraint_names=["rod"],
        reference=Reference(
            source="DOP853 on the equation of the angle, relative tolerance 1e-13",
            motion=lambda t: model.motion(t, *history(t).tolist()),
            digits=12.0,
        ),
        coordinate_names=["x", "y"], name="driven_pendulum",
    )  # fmt: skip
