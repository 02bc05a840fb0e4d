"""A clutch that slips, sticks and slips again: a constraint that comes and goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.mechanisms._build import NO_MULTIPLIER, Matrix, Vector, assemble, ready
from genalpha.model import Mechanism, Motion, Reference


@dataclass(frozen=True)
class Clutch:
    """Two rotors, q their angles: a drive that becomes stronger, a load, and friction in between.

    While the drive is faster, friction transmits the torque `slipping`. When both turn equally
    fast they stick: the angle between them is a constraint, whose multiplier is the torque that it
    transmits. Where that would exceed `holding`, they slip again.

    Parameters
    ----------
    drive, load : float
        Inertias of both rotors (kg m^2).
    torque, ramp : float
        The drive's torque at t = 0 (N m), and how fast it grows (N m/s).
    resistance : float
        Torque against the load (N m).
    slipping, holding : float
        Largest torque of friction, slipping and sticking (N m).
    """

    drive: float = 1.0
    load: float = 2.0
    torque: float = 1.0
    ramp: float = 2.0
    resistance: float = 1.0
    slipping: float = 4.0
    holding: float = 5.0

    def driving(self, t: float) -> float:
        """Return the drive's torque."""
        return self.torque + self.ramp * t

    def transmitted(self, t: float) -> float:
        """Return the torque that the clutch transmits while it sticks."""
        share = self.load / (self.drive + self.load)
        return self.resistance + share * (self.driving(t) - self.resistance)

    @property
    def release(self) -> float:
        """The time at which it can no longer stick."""
        share = self.load / (self.drive + self.load)
        needed = self.resistance + (self.holding - self.resistance) / share
        return (needed - self.torque) / self.ramp

    def slips(self, **start: Any) -> Mechanism:
        """Return the clutch while the drive is faster than the load."""
        return _assemble(_Slipping(self), start)

    def sticks(self, between: float, **start: Any) -> Mechanism:
        """Return the clutch while the angle `between` its rotors stays as it is."""
        return _assemble(_Sticking(self, between), {"constraint_names": ["sticking"], **start})

    def events(self) -> list[Callable[[float, Vector, Vector], float]]:
        """Return the event functions for `integrate`: rotors equally fast, friction too weak."""

        def slip(t: float, q: Vector, v: Vector) -> float:
            return float(v[0] - v[1])

        def strength(t: float, q: Vector, v: Vector) -> float:
            return self.holding - self.transmitted(t)

        def stick(t: float, q: Vector, v: Vector) -> Mechanism | None:
            return self.sticks(q[0] - q[1]) if self.transmitted(t) < self.holding else None

        slip.direction, slip.impact = -1, stick  # type: ignore[attr-defined]
        strength.direction, strength.impact = -1, lambda t, q, v: self.slips()  # type: ignore[attr-defined]
        return [slip, strength]


def _assemble(model: Any, start: dict[str, Any]) -> Mechanism:
    names = ["drive angle", "load angle"]
    rest = {"q0": np.zeros(2), "v0": np.zeros(2), "coordinate_names": names, "name": "clutch"}
    return assemble(model, **{**rest, **start})


class _Slipping:
    def __init__(self, clutch: Clutch) -> None:
        self.clutch = clutch
        self.mass = np.diag([clutch.drive, clutch.load])

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        c = self.clutch
        return np.array([c.driving(t) - c.slipping, c.slipping - c.resistance])

    def stiffness(
        self, t: float, q: Vector, v: Vector, vdot: Vector, lam: Vector, psi: Vector
    ) -> Matrix:
        return np.zeros((2, 2))

    damping = stiffness


class _Sticking(_Slipping):
    def __init__(self, clutch: Clutch, between: float) -> None:
        super().__init__(clutch)
        self._between = between

    def force(self, t: float, q: Vector, v: Vector) -> Vector:
        c = self.clutch
        return np.array([c.driving(t), -c.resistance])

    def holonomic(self, t: float, q: Vector) -> Vector:
        return np.array([q[0] - q[1] - self._between])

    def holonomic_jacobian(self, t: float, q: Vector) -> Matrix:
        return np.array([[1.0, -1.0]])

    def holonomic_rate(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.array([v[0] - v[1]])

    def holonomic_acceleration(self, t: float, q: Vector, v: Vector) -> Vector:
        return np.zeros(1)


State = tuple[Vector, Vector, Vector]


def _coast(q: Vector, v: Vector, torque: Vector, ramp: Vector, s: float) -> State:
    """Return q, v, vdot a time s later, under accelerations that grow linearly."""
    return (
        q + s * v + s**2 / 2.0 * torque + s**3 / 6.0 * ramp,
        v + s * torque + s**2 / 2.0 * ramp,
        torque + s * ramp,
    )


class _Course:
    """The exact motion through all three phases."""

    def __init__(self, clutch: Clutch, slip0: float) -> None:
        self.clutch, c = clutch, clutch
        total, masses = c.drive + c.load, np.array([c.drive, c.load])
        self._start = np.zeros(2), np.array([slip0, 0.0])
        self._ramp = np.array([c.ramp / c.drive, 0.0])
        self._forces = _Slipping(c).force
        self._masses = masses
        a, b = self._forces(0.0, NO_MULTIPLIER, NO_MULTIPLIER) / masses
        # slip0 + (a - b) s + ramp / drive s^2 / 2 = 0
        roots = np.roots([0.5 * self._ramp[0], a - b, slip0])
        ahead = sorted(float(x.real) for x in roots if abs(x.imag) < 1e-12 and x.real > 0.0)
        self.stick = ahead[0] if ahead else np.inf
        if not self.stick < c.release:
            raise ValueError(f"slip0 = {slip0}: the clutch does not stick before t = {c.release:g}")
        self._stuck = _coast(*self._start, np.array([a, b]), self._ramp, self.stick)[:2]
        self._together = (c.driving(self.stick) - c.resistance) / total, c.ramp / total
        self._released = self._sticking(c.release)[:2]

    def _sticking(self, t: float) -> State:
        torque, ramp = (np.full(2, x) for x in self._together)
        return _coast(*self._stuck, torque, ramp, t - self.stick)

    def __call__(self, t: float) -> Motion:
        c = self.clutch
        if self.stick <= t < c.release:
            return Motion(*self._sticking(t), np.array([c.transmitted(t)]), NO_MULTIPLIER)
        t0, (q, v) = (0.0, self._start) if t < self.stick else (c.release, self._released)
        torque = self._forces(t0, NO_MULTIPLIER, NO_MULTIPLIER) / self._masses
        free = _coast(q, v, torque, self._ramp, t - t0)
        return Motion(*free, NO_MULTIPLIER, NO_MULTIPLIER)


@ready
def clutch(clutch: Clutch | None = None, slip0: float = 2.0) -> Mechanism:
    """Return a clutch that slips, up to the time when it sticks.

    Go on through its phases with ``integrate(mechanism, t, events=clutch.events())``. The reference
    knows them: polynomials of the third degree in time.

    Parameters
    ----------
    clutch : Clutch | None
        Default ``Clutch()``.
    slip0 : float
        Initial speed of the drive (rad/s); the load stands still.
    """
    chosen = Clutch() if clutch is None else clutch
    motion = _Course(chosen, slip0)
    start = motion(0.0)
    return chosen.slips(
        q0=start.q,
        v0=start.v,
        reference=Reference("exact polynomials, joined at the events", motion, 13.0),
    )
