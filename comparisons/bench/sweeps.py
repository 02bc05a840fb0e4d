"""Many runs of a compiled slider-crank over parameters: what a second thread brings.

A machine of two cores may be busy otherwise, and two cores may share what they have: the yardstick
is what two processes with work in C, which share nothing, bring over one in the same run.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row
from genalpha import sweep
from genalpha.mechanisms import lagrangians

#: Step size, and runs; those of a short bench.
H, RUNS, FEW = 1e-4, 1000, 20
#: Steps of a run, and at how many times it is kept. Starting a run and putting its result together
#: is Python, in which threads wait for each other: the shorter the runs, the more that counts.
LENGTHS = ((20000, 101), (2000, 101), (2000, 2001))
SCHEMES = ("GenAlphaI3", "GenAlphaSOI2")
TARGET = 1.8
#: Rounds of the yardstick, some seconds.
ROUNDS = 4_000_000


def run(plan: Plan) -> Iterator[Row]:
    """Measure one and two threads by turns, and the yardstick before and after."""
    runs, o = FEW if plan.quick else RUNS, lagrangians.slider_crank()
    rounds = ROUNDS // 8 if plan.quick else ROUNDS
    before = yardstick(rounds)
    found = []
    for scheme in SCHEMES:
        for steps, kept in LENGTHS:
            plan.tell(f"sweep: {scheme}, {steps} steps, kept at {kept} times")
            seconds = {x: _seconds(o, scheme, runs, steps, kept, x) for x in (1, 2)}
            found.append((scheme, steps, kept, seconds))
    bound = 0.5 * (before + yardstick(rounds))
    for scheme, steps, kept, seconds in found:
        values: dict[str, Any] = {
            "runs": float(runs),
            "runs/s, one": runs / seconds[1],
            "runs/s, two": runs / seconds[2],
            "ratio": seconds[1] / seconds[2],
            "two processes": bound,
            "target": TARGET,
        }
        yield Row("sweep", (scheme, str(steps), str(kept)), values, {"ratio": TARGET})


def _seconds(o: Any, scheme: str, runs: int, steps: int, kept: int, workers: int) -> float:
    torques, end = np.linspace(0.5, 1.5, runs), H * steps
    times = np.linspace(0.0, end, kept)
    begin = time.perf_counter()
    done = sweep(o, {"torque": torques}, end, t_eval=times, workers=workers, scheme=scheme, h=H)
    seconds = time.perf_counter() - begin
    if done.failures:
        raise ArithmeticError(f"a run failed: {next(iter(done.failures.values()))}")
    return seconds


def _work(rounds: int) -> float:
    begin = time.perf_counter()
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", rounds)
    return time.perf_counter() - begin


def yardstick(rounds: int = ROUNDS) -> float:
    """Return the throughput of two processes over that of one, with work in C."""
    context = multiprocessing.get_context("forkserver")
    with context.Pool(2) as pool:
        alone = pool.map(_work, [rounds])[0]
        together = max(pool.map(_work, [rounds, rounds], chunksize=1))
    return 2.0 * alone / together
