"""Random bodies that hit walls, whose impacts are known exactly.

A point that is free, or a bead on a straight wire, under a constant force falls on a wall and comes
back, again and again: parabolas, which all schemes solve exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genalpha import Mechanism


@dataclass(frozen=True)
class Case:
    """A mechanism, what it hits, and when.

    Attributes
    ----------
    direction : of time, 1 or -1
    normal : the gap is normal @ q + offset
    handler : how the velocity is reversed, a key of `HANDLERS`
    """

    mechanism: Mechanism
    direction: int
    normal: np.ndarray
    offset: float
    restitution: float
    handler: str
    end: float
    times: np.ndarray

    def gap(self, t, q, v):
        """Return the distance from the wall, rounding included."""
        return float(self.normal @ q) + self.offset

    def after(self, t, q, v):
        """Return the velocity after an impact."""
        return HANDLERS[self.handler](v, self.normal, self.direction, self.restitution)


def _blind(v, n, direction, e):
    """Reverse the velocity, whatever its sign."""
    return v - (1.0 + e) * (n @ v) * n


def _looking(v, n, direction, e):
    """Reverse it if the body comes nearer."""
    return v - (1.0 + e) * (n @ v) * n if direction * (n @ v) < 0.0 else v


def _absolute(v, n, direction, e):
    """Let it go away, whatever it did."""
    speed = n @ v
    return v + (direction * e * abs(speed) - speed) * n


HANDLERS = {"blind": _blind, "looking": _looking, "absolute": _absolute}


def random_case(rng: np.random.Generator, impacts: int) -> Case:
    """Return a case that has some number of impacts before its end."""
    n = int(rng.integers(1, 4))
    on_wire = n > 1 and rng.random() < 0.5
    normal = rng.normal(size=n)
    normal /= np.linalg.norm(normal)
    direction, t0 = int(rng.choice([-1, 1])), float(rng.choice([0.0, rng.normal(), 50.0]))
    pull, gap, speed = rng.uniform(0.5, 20.0), rng.uniform(0.1, 3.0), rng.uniform(-2.0, 2.0)
    restitution = float(rng.choice([1.0, rng.uniform(0.9, 1.0)]))
    offset = float(rng.choice([0.0, rng.normal()]))
    side = rng.normal(size=n) * (not on_wire)
    side -= (side @ normal) * normal
    q0 = (gap - offset) * normal
    mass = rng.uniform(0.1, 10.0)
    extra = {}
    if on_wire:
        basis = np.linalg.svd(normal[None, :])[2][1:]
        extra = {
            "holonomic": lambda t, q: basis @ q,
            "holonomic_jacobian": lambda t, q: basis,
        }
    force = -mass * pull * normal + (mass * rng.normal() * basis[0] if on_wire else 0.0)
    mechanism = Mechanism(
        mass=mass * np.eye(n), force=lambda t, q, v: force, q0=q0, t0=t0,
        v0=side + direction * speed * normal, name="falling", **extra,
    )  # fmt: skip
    times, end = _impacts(t0, direction, gap, speed, pull, restitution, impacts)
    handler = str(rng.choice(list(HANDLERS)))
    return Case(mechanism, direction, normal, offset, restitution, handler, end, times)


def _impacts(t, direction, gap, speed, pull, restitution, count):
    """Return the times of the impacts, and one behind the last of them."""
    times = []
    wait = (speed + np.sqrt(speed**2 + 2.0 * pull * gap)) / pull
    speed = np.sqrt(speed**2 + 2.0 * pull * gap)
    for _ in range(count):
        t += direction * wait
        times.append(t)
        speed *= restitution
        wait = 2.0 * speed / pull
    return np.array(times), t + direction * 0.4 * wait
