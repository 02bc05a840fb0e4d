"""Andrews' squeezing mechanism in 31 absolute coordinates with 30 constraints."""

from __future__ import annotations

from math import hypot

import numpy as np

from genalpha.mechanisms._build import Matrix, Vector, assemble, index_one, parts_of, ready
from genalpha.mechanisms._planar import PlanarModel, RowBuilder
from genalpha.mechanisms.squeezer import (
    START,
    SqueezerParameters,
    parameters,
    squeezer_state,
)
from genalpha.model import Mechanism, Motion, Reference

# Columns: seven rotations, then x and y of the centres of mass and of the moving joints.
_CENTRE = {body: 7 + 2 * (body - 1) for body in range(1, 8)}
_JOINT = {joint: 21 + 2 * i for i, joint in enumerate("FEGHD")}
_COORDINATES = [
    *(f"angle {body}" for body in _CENTRE),
    *(f"body {body} {axis}" for body in _CENTRE for axis in "xy"),
    *(f"joint {joint} {axis}" for joint in _JOINT for axis in "xy"),
]


def _points(p: SqueezerParameters) -> list[tuple[int, str, int, float, float]]:
    """Return each point as (column, base point, body, local x, local y).

    A base is a moving joint or one of the fixed points O, A, B; the local vector turns with
    the body. The angles are those of the test sets: body 2 turns by beta + Theta, body 4 by
    Phi + delta, body 6 by Omega + epsilon.
    """
    e, zf = p.e - p.ea, p.zf - p.fa
    return [
        (_CENTRE[1], "O", 1, p.ra, 0.0), (_JOINT["F"], "O", 1, p.rr, 0.0),
        (_CENTRE[2], "F", 2, -p.da, 0.0), (_JOINT["E"], "F", 2, -p.d, 0.0),
        (_CENTRE[3], "B", 3, p.sb, -p.sa), (_JOINT["E"], "B", 3, 0.0, -p.ss),
        (_JOINT["D"], "B", 3, p.sd, -p.sc),
        (_JOINT["G"], "A", 5, p.zt, 0.0), (_CENTRE[5], "A", 5, p.ta, p.tb),
        (_CENTRE[4], "G", 4, 0.0, -e), (_JOINT["E"], "G", 4, 0.0, -p.e),
        (_JOINT["H"], "A", 7, 0.0, -p.u), (_CENTRE[7], "A", 7, -p.ub, -p.ua),
        (_CENTRE[6], "H", 6, zf, 0.0), (_JOINT["E"], "H", 6, p.zf, 0.0),
    ]  # fmt: skip


#: Rotations of the seven bodies as sums of the seven angles of the test sets.
_SUM = np.array(
    [
        [1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 0, 1],
    ],
    dtype=float,
)  # fmt: skip


class _Absolute(PlanarModel):
    def __init__(self, p: SqueezerParameters) -> None:
        self.p = p
        self.fixed = {"O": (0.0, 0.0), "A": (p.xa, p.ya), "B": (p.xb, p.yb)}
        self.points = _points(p)
        joints = RowBuilder()
        for column, base, body, x, y in self.points:
            moving = [(_JOINT[base], -1.0)] if base in _JOINT else []
            offset = self.fixed.get(base, (0.0, 0.0))
            joints.point([(column, 1.0), *moving], [(body - 1, -x, -y)], offset)
        mass = [p.m1, p.m2, p.m3, p.m4, p.m5, p.m6, p.m7]
        inertia = [p.i1, p.i2, p.i3, p.i4, p.i5, p.i6, p.i7]
        load = np.zeros(31)
        load[0] = p.mom
        super().__init__([*inertia, *np.repeat(mass, 2), *np.zeros(10)], load, joints.rows(31))

    def _spring(self, q: Vector) -> tuple[float, float, float]:
        """Return vector and length of the spring from C to D."""
        x, y = q[_JOINT["D"] : _JOINT["D"] + 2].tolist()
        dx, dy = x - self.p.xc, y - self.p.yc
        return dx, dy, hypot(dx, dy)

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        dx, dy, length = self._spring(q)
        pull = -self.p.c0 * (1.0 - self.p.l0 / length)
        force = self.load.copy()
        force[_JOINT["D"] : _JOINT["D"] + 2] = pull * dx, pull * dy
        return force

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        matrix = super().stiffness(t, q, v, vdot, lam, psi)
        dx, dy, length = self._spring(q)
        along = self.p.c0 * self.p.l0 / length**3
        across = self.p.c0 * (1.0 - self.p.l0 / length)
        block = slice(_JOINT["D"], _JOINT["D"] + 2)
        mixed = along * dx * dy
        matrix[block, block] = [
            [across + along * dx * dx, mixed],
            [mixed, across + along * dy * dy],
        ]
        return matrix

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        stretch = self._spring(q)[2] - self.p.l0
        return super().energy(t, q, v) + 0.5 * self.p.c0 * stretch**2

    def place(self, angles: Vector, rates: Vector) -> tuple[Vector, Vector]:
        """Return position and velocity for the seven angles of the test sets."""
        q, v = np.zeros(31), np.zeros(31)
        q[:7], v[:7] = _SUM @ angles, _SUM @ rates
        at = {name: complex(*where) for name, where in self.fixed.items()}
        moving = dict.fromkeys(self.fixed, 0j)
        names = {column: joint for joint, column in _JOINT.items()}
        for column, base, body, x, y in self.points:
            arm = complex(x, y) * np.exp(1j * q[body - 1])
            place, speed = at[base] + arm, moving[base] + 1j * v[body - 1] * arm
            q[column : column + 2] = place.real, place.imag
            v[column : column + 2] = speed.real, speed.imag
            if column in names:
                at[names[column]], moving[names[column]] = place, speed
        return q, v


def absolute_position(angles: Vector) -> Vector:
    """Return the 31 coordinates for the seven angles of the test sets, published geometry."""
    return _Absolute(SqueezerParameters()).place(angles, np.zeros(7))[0]


@ready
def andrews_absolute(**changes: float) -> Mechanism:
    """Return Andrews' squeezing mechanism as Arnold and Brüls 2007, section 5.2, model it.

    31 coordinates: a rotation and a centre of mass for each of the seven bodies, and the
    moving joints F, E, G, H and the spring's end D; 30 constraints place each centre and
    joint on its body. Joints have no mass of their own, so the mass matrix is singular, and
    regular on the motions that the constraints allow. The reference carries the solution in
    angles over.

    Parameters
    ----------
    **changes
        Any field of `SqueezerParameters`; geometry other than the published needs a new q0.
    """
    p = parameters(changes)
    model, angles = _Absolute(p), squeezer_state(p)
    parts = parts_of(model)

    def motion(t: float) -> Motion:
        return index_one(parts, t, *model.place(*angles(t)))

    q0, v0 = model.place(np.array(START), np.zeros(7))
    names = {column: f"centre {body}" for body, column in _CENTRE.items()}
    names |= {column: f"joint {joint}" for joint, column in _JOINT.items()}
    return assemble(
        model, q0=q0, v0=v0, lam0=index_one(parts, 0.0, q0, v0).lam,
        constraint_names=[
            f"{names[column]} on body {body} {axis}"
            for column, _, body, _, _ in model.points for axis in "xy"
        ],
        reference=Reference(
            source="the solution in seven angles (DOP853, index-1 form)", motion=motion, digits=10.0
        ),
        coordinate_names=_COORDINATES, name="andrews_absolute",
    )  # fmt: skip
