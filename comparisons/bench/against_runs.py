"""Integrations for `comparisons.bench.against`, timed in a process of either code.

A script of its own, run by the interpreter of the code in question: it imports nothing but
`genalpha` and asks it for nothing that an older one would not have. It reads names of runs, one
per line, and answers with CPU seconds and steps. A library that is named behind it is told where
each run begins and ends, see `comparisons.bench.instructions`; what is done once in a process has
then been done before.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from genalpha import integrate
from genalpha.mechanisms import catalogue

TOLERANCE = 1e-6
#: Name of a run -> mechanism, duration, what is given; starts are included in all of them.
RUNS: dict[str, tuple[Callable[[], Any], float, dict[str, Any]]] = {
    "point pendulum, 1000 steps": (catalogue()["simple_pendulum"], 1.0, {"h": 1e-3}),
    "Andrews, 500 steps": (catalogue()["andrews_squeezer"], 0.015, {"h": 3e-5}),
    "chain of 100, 60 steps": (partial(catalogue()["chain"], links=100), 0.06, {"h": 1e-3}),
    "point pendulum, adaptive": (
        catalogue()["simple_pendulum"],
        1.0,
        {"rtol": TOLERANCE, "atol": TOLERANCE},
    ),
    "point pendulum, 1 step": (catalogue()["simple_pendulum"], 1e-3, {"h": 1e-3}),
}


@cache
def _mechanism(name: str) -> Any:
    return RUNS[name][0]()


@cache
def _marks() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return what is called at the beginning and at the end of a run; the same if nothing is."""
    if not sys.argv[1:]:
        return _nothing, _nothing
    library = ctypes.CDLL(sys.argv[1])
    return library.begin, library.end


def _nothing() -> None:
    """Count nothing."""


def measure(name: str, scheme: str) -> tuple[float, int]:
    """Return the CPU time of a run, and its steps."""
    mechanism, (_, duration, options) = _mechanism(name), RUNS[name]
    t_end = mechanism.t0 + duration
    run = partial(integrate, mechanism, t_end, scheme, t_eval=[t_end], **options)
    enter, leave = _marks()
    if enter is not leave:
        run()
    gc.collect()
    gc.disable()
    begin = time.process_time()
    enter()
    solution = run()
    leave()
    seconds = time.process_time() - begin
    gc.enable()
    return seconds, solution.statistics.nsteps


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(*measure(*line.rstrip("\n").split("\t")), flush=True)
