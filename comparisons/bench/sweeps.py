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

#: Step size, steps of a run, and runs; those of a short bench.
H, STEPS, RUNS, FEW = 1e-4, 2000, 1000, 50
#: What is kept of a run: so many times.
KEPT = {"101 times": 101, "every step": STEPS + 1}
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
        for kept, count in KEPT.items():
            plan.tell(f"sweep: {scheme}, {kept}")
            seconds = {x: _seconds(o, scheme, runs, count, x) for x in (1, 2)}
            found.append((scheme, kept, seconds))
    bound = 0.5 * (before + yardstick(rounds))
    for scheme, kept, seconds in found:
        values: dict[str, Any] = {
            "runs": float(runs),
            "runs/s, one": runs / seconds[1],
            "runs/s, two": runs / seconds[2],
            "ratio": seconds[1] / seconds[2],
            "two processes": bound,
            "target": TARGET,
        }
        yield Row("sweep", (scheme, kept), values, {"ratio": TARGET})


def _seconds(o: Any, scheme: str, runs: int, count: int, workers: int) -> float:
    torques = np.linspace(0.5, 1.5, runs)
    times = np.linspace(0.0, H * STEPS, count)
    begin = time.perf_counter()
    done = sweep(
        o, {"torque": torques}, H * STEPS, t_eval=times, workers=workers, scheme=scheme, h=H
    )
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
