"""A pendulum that hits a stop: for events, with the exact solution through all impacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import asin, atan2, cos, hypot, pi, sin, sqrt

from scipy.special import ellipk, ellipkinc

from genalpha.mechanisms._build import Vector, assemble, ready
from genalpha.mechanisms._point_pendulum import PointPendulum, pendulum_angle
from genalpha.model import Mechanism, Motion, Reference


@dataclass(frozen=True)
class Stop:
    """A stop at an angle from the downward vertical; the pendulum stays to the right of it.

    Parameters
    ----------
    angle : float
        Where the stop is (rad), between -pi / 2 and pi / 2.
    restitution : float
        Speed after an impact over speed before it.
    """

    angle: float = -0.3
    restitution: float = 0.8

    def gap(self, t: float, q: Vector, v: Vector) -> float:
        """Return the distance from the stop: an event function, negative behind the stop."""
        return float(q[0]) * cos(self.angle) + float(q[1]) * sin(self.angle)

    def event(self) -> Callable[[float, Vector, Vector], float]:
        """Return the gap as an event function for `integrate`, with the rebound as its impact."""

        def gap(t: float, q: Vector, v: Vector) -> float:
            return self.gap(t, q, v)

        gap.direction, gap.impact = -1, self.rebound  # type: ignore[attr-defined]
        return gap

    def rebound(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the velocity after an impact; on a circle all of it is normal to the stop."""
        return -self.restitution * v


def _next_impact(frequency: float, angle: float, rate: float, stop: Stop) -> float | None:
    """Return the time until the swinging pendulum meets the stop, moving left."""
    half, speed = sin(0.5 * angle), 0.5 * rate / frequency
    k = hypot(half, speed)
    ratio = sin(0.5 * stop.angle) / k
    if k >= 1.0:
        raise ValueError("the pendulum turns over: start it with less speed")
    if abs(ratio) >= 1.0:
        return None
    period = 4.0 * float(ellipk(k * k))
    now = float(ellipkinc(atan2(half, speed), k * k))
    meet = 0.5 * period - float(ellipkinc(asin(ratio), k * k))
    return ((meet - now) % period) / frequency


class Bounces:
    """The arcs between impacts, found one after the other when they are asked for."""

    def __init__(self, frequency: float, angle0: float, rate0: float, stop: Stop) -> None:
        self.frequency, self.stop = frequency, stop
        self.starts = [0.0]
        self.arcs: list[Callable[[float], tuple[float, float]]] = []
        self._append(angle0, rate0)

    def _append(self, angle: float, rate: float) -> None:
        self.arcs.append(pendulum_angle(self.frequency, angle, rate))
        self.wait = _next_impact(self.frequency, angle, rate, self.stop)

    def __call__(self, t: float) -> tuple[float, float]:
        """Return angle and rate; at an impact the rate after it."""
        while self.wait is not None and t >= self.starts[-1] + self.wait:
            rate = self.arcs[-1](self.wait)[1]
            self.starts.append(self.starts[-1] + self.wait)
            self._append(self.stop.angle, -self.stop.restitution * rate)
        arc = self.impacts_until(t)
        return self.arcs[arc](t - self.starts[arc])

    def impacts_until(self, t: float) -> int:
        """Return how many impacts there have been, of those that a call has looked for."""
        return sum(start <= t for start in self.starts) - 1


@ready
def bouncing_pendulum(
    stop: Stop | None = None,
    point_mass: float = 1.0,
    length: float = 1.0,
    gravity: float = 9.81,
    angle0: float = 1.2,
    rate0: float = 0.0,
) -> Mechanism:
    """Return a point-mass pendulum that is meant to hit a stop, for event handling.

    The Mechanism is the smooth part; the impacts are the caller's events:
    ``integrate(mechanism, t, events=[stop.event()])``, or watch ``stop.gap(t, q, v)`` and, when it
    falls through zero, go on with ``stop.rebound(t, q, v)`` as the velocity. The reference knows
    the impacts: exact arcs of Jacobi's elliptic functions, joined at impact times from the inverse
    functions. With the stop left of the lowest point the impacts end when the pendulum no longer
    reaches it. The impacts take energy, so no energy is given.

    Parameters
    ----------
    stop : Stop | None
        Default ``Stop()``.
    point_mass : float
        In kg.
    length : float
        In m.
    gravity : float
        In m/s^2.
    angle0, rate0 : float
        Initial angle from the downward vertical (rad), right of the stop, and its rate (rad/s), too
        small to turn over.
    """
    stop = Stop() if stop is None else stop
    if not stop.angle < angle0 < pi:
        raise ValueError(f"angle0 = {angle0} must lie between the stop at {stop.angle} and pi")
    model = PointPendulum(point_mass, length, gravity)
    bounces = Bounces(sqrt(gravity / length), angle0, rate0, stop)

    def motion(t: float) -> Motion:
        return model.motion(t, *bounces(t))

    start = model.motion(0.0, angle0, rate0)
    return assemble(
        model, q0=start.q, v0=start.v, lam0=start.lam, energy=None, constraint_names=["rod"],
        reference=Reference(
            source="exact arcs by Jacobi's elliptic functions, joined at the impacts",
            motion=motion, digits=12.0,
        ),
        coordinate_names=["x", "y"], name="bouncing_pendulum",
    )  # fmt: skip
