"""Andrews' squeezing mechanism in the seven angles of the test sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import cos, hypot, sin

import numpy as np

from genalpha.mechanisms._build import (
    Matrix,
    Vector,
    assemble,
    index_reduced_reference,
    index_reduced_state,
    parts_of,
    ready,
)
from genalpha.model import Mechanism


@dataclass(frozen=True)
class SqueezerParameters:
    """Masses m (kg), inertias i (kg m^2), lengths (m), spring c0 (N/m), torque mom (N m)."""

    m1: float = 0.04325
    m2: float = 0.00365
    m3: float = 0.02373
    m4: float = 0.00706
    m5: float = 0.0705
    m6: float = 0.00706
    m7: float = 0.05498
    i1: float = 2.194e-6
    i2: float = 4.41e-7
    i3: float = 5.255e-6
    i4: float = 5.667e-7
    i5: float = 1.169e-5
    i6: float = 5.667e-7
    i7: float = 1.912e-5
    xa: float = -0.06934
    ya: float = -0.00227
    xb: float = -0.03635
    yb: float = 0.03273
    xc: float = 0.014
    yc: float = 0.072
    c0: float = 4530.0
    l0: float = 0.07785
    d: float = 0.028
    da: float = 0.0115
    e: float = 0.02
    ea: float = 0.01421
    rr: float = 0.007
    ra: float = 0.00092
    ss: float = 0.035
    sa: float = 0.01874
    sb: float = 0.01043
    sc: float = 0.018
    sd: float = 0.02
    ta: float = 0.02308
    tb: float = 0.00916
    u: float = 0.04
    ua: float = 0.01228
    ub: float = 0.00449
    zf: float = 0.02
    zt: float = 0.04
    fa: float = 0.01421
    mom: float = 0.033


#: Consistent position (beta, Theta, gamma, Phi, delta, Omega, epsilon) with Theta = 0.
START = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)
_LAM0 = (98.5668703962410896057654982170, -6.12268834425566265503114393122, 0.0, 0.0, 0.0, 0.0)
#: Length of the segments of the reference integration (s).
_SEGMENT = 5e-4


class _SqueezerAngles:
    """Equations of the test sets; a, b, c are the couplings of bodies 2, 4 and 6."""

    def __init__(self, p: SqueezerParameters) -> None:
        self.p = p
        e, zf = p.e - p.ea, p.zf - p.fa
        self.a, self.b, self.c = p.m2 * p.da * p.rr, p.m4 * p.zt * e, p.m6 * p.u * zf
        m = np.zeros((7, 7))
        m[0, 0] = p.m1 * p.ra**2 + p.m2 * (p.rr**2 + p.da**2) + p.i1 + p.i2
        m[0, 1] = m[1, 0] = m[1, 1] = p.m2 * p.da**2 + p.i2
        m[2, 2] = p.m3 * (p.sa**2 + p.sb**2) + p.i3
        m[3, 3] = m[3, 4] = m[4, 3] = p.m4 * e**2 + p.i4
        m[4, 4] = p.m4 * (p.zt**2 + e**2) + p.m5 * (p.ta**2 + p.tb**2) + p.i4 + p.i5
        m[5, 5] = m[5, 6] = m[6, 5] = p.m6 * zf**2 + p.i6
        m[6, 6] = p.m6 * (zf**2 + p.u**2) + p.m7 * (p.ua**2 + p.ub**2) + p.i6 + p.i7
        self._constant = m

    def mass(self, t: float, q: Vector) -> Matrix:
        x = self.a * cos(q[1])
        y, z = self.b * sin(q[3]), self.c * sin(q[5])
        m = self._constant.copy()
        m[0, 0] -= 2.0 * x
        m[0, 1] -= x
        m[1, 0] -= x
        m[3, 4] += y
        m[4, 3] += y
        m[4, 4] += 2.0 * y
        m[5, 6] -= z
        m[6, 5] -= z
        m[6, 6] -= 2.0 * z
        return m

    def _spring(self, gamma: float) -> tuple[float, float, float]:
        """Return the stretch L - l0 and the derivatives of L by gamma."""
        p, s, c = self.p, sin(gamma), cos(gamma)
        rx, ry = p.sd * c + p.sc * s, p.sd * s - p.sc * c
        dx, dy = rx + p.xb - p.xc, ry + p.yb - p.yc
        length = hypot(dx, dy)
        first = (dy * rx - dx * ry) / length
        second = (rx * rx + ry * ry - dx * rx - dy * ry - first * first) / length
        return length - p.l0, first, second

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        _, th, ga, ph, _, om, _ = q.tolist()
        b1, th1, _, ph1, de1, om1, ep1 = v.tolist()
        stretch, slope, _ = self._spring(ga)
        a, b, c = self.a * sin(th), self.b * cos(ph), self.c * cos(om)
        return np.array(
            [
                self.p.mom - a * th1 * (th1 + 2.0 * b1),
                a * b1 * b1,
                -self.p.c0 * stretch * slope,
                b * de1 * de1,
                -b * ph1 * (ph1 + 2.0 * de1),
                -c * ep1 * ep1,
                c * om1 * (om1 + 2.0 * ep1),
            ]
        )

    def holonomic(self, t: float, q: Vector) -> Vector:
        p, (b, th, ga, ph, de, om, ep) = self.p, q.tolist()
        ex = p.rr * cos(b) - p.d * cos(b + th)
        ey = p.rr * sin(b) - p.d * sin(b + th)
        return np.array(
            [
                ex - p.ss * sin(ga) - p.xb,
                ey + p.ss * cos(ga) - p.yb,
                ex - p.e * sin(ph + de) - p.zt * cos(de) - p.xa,
                ey + p.e * cos(ph + de) - p.zt * sin(de) - p.ya,
                ex - p.zf * cos(om + ep) - p.u * sin(ep) - p.xa,
                ey - p.zf * sin(om + ep) + p.u * cos(ep) - p.ya,
            ]
        )

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        p, (b, th, ga, ph, de, om, ep) = self.p, q.tolist()
        tx, ty = p.d * sin(b + th), -p.d * cos(b + th)
        bx, by = tx - p.rr * sin(b), ty + p.rr * cos(b)
        px, py = -p.e * cos(ph + de), -p.e * sin(ph + de)
        ox, oy = p.zf * sin(om + ep), -p.zf * cos(om + ep)
        dx, dy = px + p.zt * sin(de), py - p.zt * cos(de)
        ex, ey = ox - p.u * cos(ep), oy - p.u * sin(ep)
        return np.array(
            [
                [bx, tx, -p.ss * cos(ga), 0.0, 0.0, 0.0, 0.0],
                [by, ty, -p.ss * sin(ga), 0.0, 0.0, 0.0, 0.0],
                [bx, tx, 0.0, px, dx, 0.0, 0.0],
                [by, ty, 0.0, py, dy, 0.0, 0.0],
                [bx, tx, 0.0, 0.0, 0.0, ox, ex],
                [by, ty, 0.0, 0.0, 0.0, oy, ey],
            ]
        )

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        rate: Vector = self.holonomic_jacobian(t, q) @ v
        return rate

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        p, (b, th, ga, ph, de, om, ep) = self.p, q.tolist()
        b1, th1, ga1, ph1, de1, om1, ep1 = v.tolist()
        bb, tt, gg = p.rr * b1**2, p.d * (b1 + th1) ** 2, p.ss * ga1**2
        pp, dd = p.e * (ph1 + de1) ** 2, p.zt * de1**2
        oo, ee = p.zf * (om1 + ep1) ** 2, p.u * ep1**2
        x, y = tt * cos(b + th) - bb * cos(b), tt * sin(b + th) - bb * sin(b)
        return np.array(
            [
                x + gg * sin(ga),
                y - gg * cos(ga),
                x + pp * sin(ph + de) + dd * cos(de),
                y - pp * cos(ph + de) + dd * sin(de),
                x + oo * cos(om + ep) + ee * sin(ep),
                y + oo * sin(om + ep) - ee * cos(ep),
            ]
        )

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        p, (b, th, ga, ph, de, om, ep) = self.p, q.tolist()
        b1, th1, _, ph1, de1, om1, ep1 = v.tolist()
        a1, a2, _, a4, a5, a6, a7 = vdot.tolist()
        l1, l2, l3, l4, l5, l6 = lam.tolist()
        lx, ly = l1 + l3 + l5, l2 + l4 + l6
        # the reactions: each (compound) angle adds -lam . (point turned by it)
        bb = -p.rr * (cos(b) * lx + sin(b) * ly)
        bt = p.d * (cos(b + th) * lx + sin(b + th) * ly)
        pd = p.e * (sin(ph + de) * l3 - cos(ph + de) * l4)
        dd = p.zt * (cos(de) * l3 + sin(de) * l4)
        oe = p.zf * (cos(om + ep) * l5 + sin(om + ep) * l6)
        ee = p.u * (sin(ep) * l5 - cos(ep) * l6)
        stretch, slope, bend = self._spring(ga)
        gg = p.ss * (sin(ga) * l1 - cos(ga) * l2) + p.c0 * (slope**2 + stretch * bend)
        # M vdot - f, whose entries depend on Theta, Phi and Omega only
        s, c = self.a * sin(th), self.a * cos(th)
        m12, m22 = s * (2.0 * a1 + a2) + c * th1 * (th1 + 2.0 * b1), s * a1 - c * b1 * b1
        s, c = self.b * sin(ph), self.b * cos(ph)
        m44, m54 = c * a5 + s * de1 * de1, c * (a4 + 2.0 * a5) - s * ph1 * (ph1 + 2.0 * de1)
        s, c = self.c * sin(om), self.c * cos(om)
        m66, m76 = c * a7 + s * ep1 * ep1, s * om1 * (om1 + 2.0 * ep1) - c * (a6 + 2.0 * a7)
        return np.array(
            [
                [bb + bt, bt + m12, 0.0, 0.0, 0.0, 0.0, 0.0],
                [bt, bt + m22, 0.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, gg, 0.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, pd + m44, pd, 0.0, 0.0],
                [0.0, 0.0, 0.0, pd + m54, pd + dd, 0.0, 0.0],
                [0.0, 0.0, 0.0, 0.0, 0.0, oe - m66, oe],
                [0.0, 0.0, 0.0, 0.0, 0.0, oe + m76, oe + ee],
            ]
        )

    def damping(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        _, th, _, ph, _, om, _ = q.tolist()
        b1, th1, _, ph1, de1, om1, ep1 = v.tolist()
        a, b, c = 2.0 * self.a * sin(th), 2.0 * self.b * cos(ph), 2.0 * self.c * cos(om)
        matrix = np.zeros((7, 7))
        matrix[0, 0], matrix[0, 1], matrix[1, 0] = a * th1, a * (th1 + b1), -a * b1
        matrix[3, 4], matrix[4, 3], matrix[4, 4] = -b * de1, b * (ph1 + de1), b * ph1
        matrix[5, 6], matrix[6, 5], matrix[6, 6] = c * ep1, -c * (om1 + ep1), -c * om1
        return matrix

    def energy(self, t: float, q: Vector, v: Vector) -> float:
        stretch = self._spring(float(q[2]))[0]
        kinetic = 0.5 * v @ self.mass(t, q) @ v
        return float(kinetic + 0.5 * self.p.c0 * stretch**2 - self.p.mom * q[0])


def parameters(changes: dict[str, float]) -> SqueezerParameters:
    """Return the published parameters with some changed; an unknown name is an error."""
    unknown = set(changes) - {field.name for field in fields(SqueezerParameters)}
    if unknown:
        raise TypeError(f"unknown parameters of the squeezer: {sorted(unknown)}")
    return SqueezerParameters(**changes)


def squeezer_state(p: SqueezerParameters) -> Callable[[float], tuple[Vector, Vector]]:
    """Return t -> angles and their rates, from the reference integration."""
    parts = parts_of(_SqueezerAngles(p))
    return index_reduced_state(parts, (0.0, np.array(START), np.zeros(7)), _SEGMENT)


@ready
def andrews_squeezer(**changes: float) -> Mechanism:
    """Return Andrews' squeezing mechanism in 7 angles with 6 constraints.

    Equations, parameters and start of the IVP test set (Hairer and Wanner II, VII.7; IFToMM
    A03): a constant torque on beta, one spring, no gravity. The invariant given as `energy`
    is T + spring energy - mom beta. The reference integrates the index-1 form; the table in
    `references/andrews_squeezer.json` has 17 digits at t = 0.03. Of the published 16 digits
    there, 9 to 12 are right in the angles, 7 in the velocities, 6 in the multipliers.

    Parameters
    ----------
    **changes
        Any field of `SqueezerParameters`; geometry other than the published needs a new q0.
    """
    model = _SqueezerAngles(parameters(changes))
    parts, q0, v0 = parts_of(model), np.array(START), np.zeros(7)
    return assemble(
        model, q0=q0, v0=v0, lam0=None if changes else np.array(_LAM0),
        constraint_names=["B-E x", "B-E y", "A-G-E x", "A-G-E y", "A-H-E x", "A-H-E y"],
        reference=index_reduced_reference(parts, (0.0, q0, v0), _SEGMENT, 10.0),
        coordinate_names=["beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"],
        name="andrews_squeezer",
    )  # fmt: skip
