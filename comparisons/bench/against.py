"""Against: the same integrations by other code, for example an older commit, and by this one.

Both run in processes of their own, which live as long as the benchmark and take turns, so that a
machine that slows down slows both alike. The smallest CPU time of each counts: nothing makes
code faster than it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from comparisons.bench.against_runs import RUNS
from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row
from genalpha.schemes import SCHEMES

SCRIPT = Path(__file__).with_name("against_runs.py")
#: Ratio of new to old time that is allowed.
ALLOWED = 1.05
#: Runs for each repeat of the plan; they are short.
EACH = 3


class Code:
    """A process that runs integrations with the code of an interpreter.

    Parameters
    ----------
    python : path
    before, behind : sequence of str
        What stands before the interpreter and behind the script on the command line.
    environment : mapping, optional
        Default: that of this process.
    """

    def __init__(
        self,
        python: Path | str,
        before: Sequence[str] = (),
        behind: Sequence[str] = (),
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [*before, str(python), str(SCRIPT), *behind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, **threads},
        )

    def measure(self, run: str, scheme: str) -> tuple[float, int]:
        """Return CPU time and steps of a run.

        Raises
        ------
        RuntimeError
            The process has ended; it has said why.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{run}\t{scheme}\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if not answer:
            raise RuntimeError(f"{run}, {scheme}: {self._process.args!r} has ended")
        return float(answer[0]), int(answer[1])

    def __enter__(self) -> Code:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            self._process.communicate()


def run(plan: Plan) -> Iterator[Row]:
    """Compare all runs with all schemes, if there is other code."""
    if plan.against is None:
        return
    with Code(plan.against) as old, Code(sys.executable) as new:
        for name in RUNS:
            for scheme in SCHEMES:
                plan.tell(f"against: {name}, {scheme}")
                yield compare(old, new, name, scheme, EACH * plan.repeats)


def compare(old: Code, new: Code, name: str, scheme: str, repeats: int) -> Row:
    """Return the row of one run."""
    times: tuple[list[float], list[float]] = [], []
    for _ in range(repeats):
        for found, code in zip(times, (old, new), strict=True):
            found.append(code.measure(name, scheme)[0])
    steps = [code.measure(name, scheme)[1] for code in (old, new)]
    before, after = map(min, times)
    values: dict[str, float | str | None] = {
        "old ms": 1e3 * before,
        "new ms": 1e3 * after,
        "old steps": float(steps[0]),
        "new steps": float(steps[1]),
        "ratio": after / before,
        "per step": after / before * steps[0] / steps[1],
    }
    targets = {} if name.endswith("1 step") else {"per step": ALLOWED}
    return Row("against", (name, scheme), values, targets)
