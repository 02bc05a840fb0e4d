"""What the Python sources cost where they are not compiled: a table of the page on Newton."""

import json
import os
import subprocess
import sys
from time import process_time

from genalpha import integrate, mechanisms

#: Mechanism -> how it is made, step size, steps.
CASES = {
    "point pendulum": (mechanisms.simple_pendulum, {}, 1e-3, 500),
    "Andrews' squeezer": (mechanisms.andrews_squeezer, {}, 3e-5, 200),
    "chain of 100": (mechanisms.chain, {"links": 100}, 1e-3, 100),
    "chain of 1000": (mechanisms.chain, {"links": 1000}, 1e-3, 30),
}
REPEATS = 9


def times():
    """Microseconds of CPU time per step, best of some runs, as this process runs it."""
    found = []
    for make, options, h, steps in CASES.values():
        o, seconds = make(**options), []
        end = o.t0 + steps * h
        for _ in range(REPEATS):
            begin = process_time()
            integrate(o, end, "GenAlphaI3", h=h, t_eval=[end])
            seconds.append(process_time() - begin)
        found.append(1e6 * min(seconds) / steps)
    return found


def sources():
    """Rows of times, compiled and not."""
    told = subprocess.run(
        [sys.executable, __file__], env={**os.environ, "GENALPHA_PLAIN": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    both = zip(CASES, times(), json.loads(told.stdout), strict=True)
    rows = [[name, f"{x:.1f}", f"{y:.1f}", f"{y / x:.1f}"] for name, x, y in both]
    return ["mechanism", "compiled", "sources", "ratio"], rows


if __name__ == "__main__":
    print(json.dumps(times()))
