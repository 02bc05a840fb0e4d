"""Many runs of a compiled slider-crank over parameters: what a second core brings.

One worker is this process; two are what `sweep` chooses here (forked processes), and two threads.
One worker does half of the runs before two do all of them, and half after, so that a machine whose
speed drifts does not count.

A machine of two cores may be busy otherwise, and two cores may share what they have: the yardstick
is what two processes with work in C, which share nothing, bring over one, before and after.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row
from comparisons.bench.timing import one_thread
from genalpha import sweep
from genalpha.mechanisms import lagrangians

#: Step size, and runs; those of a short bench. Of threads a part is run.
H, RUNS, FEW, PART = 1e-4, 1000, 20, 4
#: Steps of a run, at how many times it is kept, and whether steps are equal; the last runs are as
#: long as the ones before. Starting a run, putting its result together and adaptive steps hold the
#: GIL, so that threads wait for each other: the shorter the runs, the more that counts.
LENGTHS = ((20000, 101, True), (2000, 101, True), (2000, 2001, True), (2000, 101, False))
SCHEMES = ("GenAlphaI3", "GenAlphaSOI2")
TARGET = 1.8
#: Rounds of the yardstick, a second or two.
ROUNDS = 2_000_000


def run(plan: Plan) -> Iterator[Row]:
    """Measure one worker and two by turns, and the yardstick before and after."""
    runs, rounds = (FEW, ROUNDS // 8) if plan.quick else (RUNS, ROUNDS)
    before = yardstick(rounds)
    for scheme in SCHEMES:
        for steps, kept, equal in LENGTHS:
            label = (scheme, str(steps) if equal else "adaptive", str(kept))
            plan.tell(f"sweep: {', '.join(label)}")
            # in a process of its own, as in a script: here a thread of the console's is running
            context = multiprocessing.get_context("forkserver")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                one, two, threads = pool.submit(rates, scheme, steps, kept, equal, runs).result()
            after = yardstick(rounds)
            values: dict[str, Any] = {
                "runs": float(runs),
                "runs/s, one": one,
                "runs/s, two": two,
                "ratio": two / one,
                "threads": threads / one,
                "two processes": 0.5 * (before + after),
                "target": TARGET,
            }
            yield Row("sweep", label, values, {"ratio": TARGET})
            before = after


def rates(scheme: str, steps: int, kept: int, equal: bool, runs: int) -> tuple[float, float, float]:
    """Return runs per second of one worker, of two as they are chosen, and of two threads."""
    o, times = lagrangians.slider_crank(), np.linspace(0.0, H * steps, kept)
    options = {"scheme": scheme, "h": H if equal else None}
    torques = np.linspace(0.5, 1.5, runs)
    with one_thread():
        _seconds(o, torques[:1], times, 1, "serial", options)  # what is loaded at the first run
        one = _seconds(o, torques[::2], times, 1, "serial", options)
        two = _seconds(o, torques, times, 2, "auto", options)
        one += _seconds(o, torques[1::2], times, 1, "serial", options)
        threads = _seconds(o, torques[::PART], times, 2, "threads", options)
    return runs / one, runs / two, len(torques[::PART]) / threads


def _seconds(
    o: Any, torques: Any, times: Any, workers: int, mode: str, options: dict[str, Any]
) -> float:
    """Return how long a sweep takes."""
    begin = time.perf_counter()
    done = sweep(
        o, {"torque": torques}, times[-1], t_eval=times, workers=workers, mode=mode, **options
    )
    seconds = time.perf_counter() - begin
    if mode == "auto" and done.mode != ("forks" if sys.platform == "linux" else "threads"):
        raise RuntimeError(f"two workers were {done.mode}")
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
