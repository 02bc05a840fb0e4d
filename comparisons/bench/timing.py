"""Clocks: CPU time of one thread, medians of interleaved repeats, and a yardstick for machines.

All times are CPU times of this process (`time.process_time`), which a busy machine disturbs less
than wall time. BLAS has one thread (`one_thread`), so that CPU time is not the sum of many.
"""

from __future__ import annotations

import gc
import statistics
import time
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Work = Callable[[], object]
clock = time.process_time

#: A measurement of something short lasts this many seconds.
SHORT = 2e-3
#: Passes of the yardstick in one measurement.
PASSES = 2000


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread."""
    with threadpool_limits(limits=1):
        yield


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector out of a measurement, as `timeit` does."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def seconds(work: Work) -> float:
    """Return the CPU time of one call."""
    with _no_collection():
        begin = clock()
        work()
        return clock() - begin


def interleaved(works: Mapping[str, Work], repeats: int) -> dict[str, float]:
    """Return the median CPU time of each work; in every round each runs once.

    A machine that slows down for a while then slows down all of them alike. One round goes first
    that does not count: it fills caches.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for round_ in range(repeats + 1):
        for name, work in works.items():
            found = seconds(work)
            if round_:
                times[name].append(found)
    return {name: statistics.median(found) for name, found in times.items()}


def call_seconds(function: Callable[..., Any], arguments: Sequence[Any], repeats: int) -> float:
    """Return the median CPU time of one call, from tight loops without a function around it."""
    names = {f"x{i}": value for i, value in enumerate(arguments)}
    timer = timeit.Timer(f"f({', '.join(names)})", timer=clock, globals={"f": function, **names})
    once = max(timer.timeit(1), 1e-8)
    loops = max(1, min(10_000, round(SHORT / once)))
    return statistics.median(timer.repeat(repeats, loops)) / loops


def calibration(repeats: int = 7) -> float:
    """Return the time of one pass of a fixed loop, the yardstick for stored microseconds.

    A pass is what a step on a small mechanism is made of: a few products and sums of small
    NumPy arrays, one solution of a 4 x 4 system, and some plain Python. A record stores
    "microseconds per step / microseconds per pass", which differs much less from machine to machine
    than the microseconds themselves, and not at all when only the clock rate does.
    """
    A = np.eye(4) + 0.1
    b = np.arange(4.0)

    def passes() -> float:
        total = 0.0
        for i in range(PASSES):
            c = A @ b + 0.5 * b
            x = np.linalg.solve(A, c)
            total += float(x[0]) + sum((i, 1, 2)) + float(np.concatenate([x, b]).max())
        return total

    return statistics.median(seconds(passes) for _ in range(repeats)) / PASSES
