"""What it costs to reach an error: a curve of runs, coarse to fine, read at the error wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

#: An error of 0 has no logarithm.
TINY = 1e-300


class Point(NamedTuple):
    """A run: its error and its time."""

    error: float
    time: float


class Reach(NamedTuple):
    """The time to an error; `bound`: the coarsest run is already better, it may be less."""

    time: float
    bound: bool = False


def crossings(errors: Sequence[float], target: float) -> list[tuple[int, int]]:
    """Return the neighbours of which one reaches the target and the other does not."""
    pairs = zip(range(len(errors)), range(1, len(errors)), strict=False)
    return [(i, j) for i, j in pairs if (errors[i] <= target) != (errors[j] <= target)]


def needed(errors: Sequence[float], targets: Iterable[float]) -> list[int]:
    """Return the runs that `time_to_reach` must know the time of, for any of the targets."""
    chosen: set[int] = set()
    for target in targets:
        chosen.update(i for pair in crossings(errors, target) for i in pair)
        chosen.update([i for i, error in enumerate(errors) if error <= target][:1])
    return sorted(chosen)


def time_to_reach(points: Sequence[Point], target: float) -> Reach | None:
    """Return the least time at which the curve of runs, coarse to fine, has the target error.

    Between neighbours on both sides of the target, log(time) is interpolated linearly over
    log(error). A run that reaches the target is a candidate itself, too. None: no run does.
    """
    found: list[Reach] = []
    reaching = [i for i, point in enumerate(points) if point.error <= target]
    for i in reaching:
        found.append(Reach(points[i].time, bound=i == 0))
    for i, j in crossings([point.error for point in points], target):
        found.append(Reach(_between(points[i], points[j], target)))
    return min(found, default=None)


def _between(a: Point, b: Point, target: float) -> float:
    low, high = (math.log(max(x, TINY)) for x in (a.error, b.error))
    part = (math.log(target) - low) / (high - low)
    return math.exp((1.0 - part) * math.log(a.time) + part * math.log(b.time))
