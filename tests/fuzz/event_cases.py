"""Random event functions whose zeros are known: along the truth, or from a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from genalpha import Mechanism
from tests.fuzz.cases import Case
from tests.fuzz.models import Random

Array = np.ndarray

#: Points at which the truth is looked at for changes of sign.
SAMPLES = 400
#: How far a turning point must stay from zero, relative to the range of the function.
CLEAR = 0.05


class Crossing:
    """An event where a combination of coordinates, velocities and time crosses a level."""

    def __init__(self, case: Case, random: Random) -> None:
        self._case = case
        n = case.truth.model.n
        self._of_x, self._of_v = (
            random.normal(size=n),
            random.choice([0.0, 1.0]) * random.normal(size=n),
        )
        self._of_t, self._rate = random.choice([0.0, 2.0]), random.uniform(5.0, 40.0)
        self._level = 0.0
        self.direction = int(random.choice([-1, 0, 1]))
        if random.random() < 0.2:
            self.terminal = int(random.integers(1, 4))

    def of_model(self, t: Any, x: Array, w: Array) -> Any:
        """Return its value, or those at many times."""
        wave = self._of_t * np.sin(self._rate * t) if self._of_t else 0.0
        return self._of_x @ x + self._of_v @ w + wave - self._level

    def __call__(self, t: float, q: Array, v: Array) -> float:
        return float(self.of_model(*self._case.units.state(t, q, v)))

    def settle(self, random: Random) -> list[float] | None:
        """Choose a level, and return the zeros along the truth; None if some cannot be told."""
        truth, n = self._case.truth, self._case.truth.model.n
        times = np.linspace(0.0, truth.t_end, SAMPLES)

        def value(t: Any) -> Any:
            y = truth.dense(t)  # type: ignore[operator]
            return self.of_model(t, y[:n], y[n:])

        values = value(times)
        low, high = values.min(), values.max()
        if high - low < 1e-2:
            return None
        self._level = low + random.uniform(0.1, 0.9) * (high - low)
        values = values - self._level
        turns = np.flatnonzero(np.diff(np.sign(np.diff(values)))) + 1
        near = np.abs(values[[0, *turns, -1]]) / (high - low)
        if near.min() < CLEAR:
            return None
        found = []
        for i in np.flatnonzero(np.diff(np.sign(values))):
            rising = values[i + 1] > values[i]
            if self.direction * (1 if rising else -1) >= 0:
                found.append(float(brentq(value, times[i], times[i + 1], xtol=1e-12)))
        terminal = getattr(self, "terminal", None)
        return found[:terminal] if terminal else found

    def slope(self, t: float) -> float:
        """Return how fast it changes at a time of the model."""
        n, step = self._case.truth.model.n, 1e-6
        ends = [self._case.truth.dense(t + s) for s in (-step, step)]  # type: ignore[operator]
        left, right = (self.of_model(t + s, y[:n], y[n:])
                       for s, y in zip((-step, step), ends, strict=True))  # fmt: skip
        return abs(right - left) / (2.0 * step)


def draw_crossings(case: Case, random: Random) -> list[tuple[Crossing, list[float]]]:
    """Return one to three events with their times in the model's units."""
    found = []
    for _ in range(20):
        event = Crossing(case, random)
        zeros = event.settle(random)
        if zeros is not None:
            found.append((event, zeros))
        if len(found) == 3 or (found and random.random() < 0.4):
            break
    return found


def first_end(chosen: list[tuple[Crossing, list[float]]], t_end: float) -> float:
    """Return when the run ends, in the model's units: at a terminal event, or at its end."""
    ends = [zeros[-1] for event, zeros in chosen if len(zeros) == getattr(event, "terminal", -1)]
    return min(ends, key=abs) if ends else t_end


class Bounces:
    """A particle on a vertical line above a floor, with the times of all its bounces."""

    def __init__(self, random: Random) -> None:
        self.height, self.gravity = (float(10.0 ** random.uniform(-4, 4)) for _ in range(2))
        self.restitution = float(random.uniform(0.3, 0.95))
        self.unit = float(np.sqrt(self.height / self.gravity))
        self.v0 = float(random.uniform(-1.0, 1.0)) * self.height / self.unit
        self.beside = bool(random.random() < 0.5)  # whether it has a constraint at all
        self.style = str(random.choice(["v", "(q, v)", "list", "speed"]))
        #: Until this share of the time at which infinitely many bounces have happened.
        self.share = float(random.uniform(0.3, 0.9))

    def times(self) -> tuple[list[float], float]:
        """Return all bounces, and the time at which they accumulate."""
        g, e = self.gravity, self.restitution
        speed = float(np.sqrt(self.v0**2 + 2.0 * g * self.height))
        first = (self.v0 + speed) / g
        found, t, up = [], first, e * speed
        while up > 1e-12 * speed:
            found.append(t)
            t, up = t + 2.0 * up / g, up * e
        return found, first + 2.0 * e * speed / g / (1.0 - e)

    def height_at(self, t: float) -> float:
        """Return the true height."""
        found, _ = self.times()
        g, e = self.gravity, self.restitution
        past = [x for x in found if x <= t]
        if not past:
            return self.height + self.v0 * t - 0.5 * g * t * t
        speed = float(np.sqrt(self.v0**2 + 2.0 * g * self.height)) * e ** len(past)
        s = t - past[-1]
        return speed * s - 0.5 * g * s * s

    def mechanism(self) -> Mechanism:
        """Build it: one coordinate, or two with a rail."""
        if not self.beside:
            return Mechanism(
                force=lambda t, q, v: [-self.gravity], q0=[self.height], v0=[self.v0], name="ball"
            )
        return Mechanism(
            force=lambda t, q, v: [-self.gravity, 0.0],
            q0=[self.height, 0.0],
            v0=[self.v0, 0.0],
            holonomic=lambda t, q: q[1],
            holonomic_jacobian=lambda t, q: [[0.0, 1.0]],
            name="ball on a rail",
        )

    def event(self) -> Callable[..., Any]:
        """Return the floor, with an impact in one of the ways that users write it."""
        e, style = self.restitution, self.style

        def floor(t: float, q: Array, v: Array) -> float:
            return q[0]

        def impact(t: float, q: Array, v: Array) -> Any:
            if style == "speed":
                v[0] = e * abs(v[0])
                return v
            after = -e * v
            return {"v": after, "(q, v)": (q, after), "list": list(after)}[style]

        floor.direction, floor.impact = -1, impact  # type: ignore[attr-defined]
        return floor
