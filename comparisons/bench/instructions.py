"""Instructions: what the runs of `against` execute in either code, counted by Valgrind.

Counts do not depend on how busy a machine is, nor much on which one it is: a difference of a
percent is one. What they do not show is memory and how well instructions run beside each other.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from comparisons.bench.against import ALLOWED, Code
from comparisons.bench.against_runs import RUNS
from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row
from genalpha.schemes import SCHEMES

#: Says to Valgrind where a run begins and ends; outside of it nothing is counted.
MARKS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(void) { CALLGRIND_DUMP_STATS; CALLGRIND_STOP_INSTRUMENTATION; }
"""


def missing() -> str:
    """Say what is needed and not there; empty if nothing is."""
    names = [name for name in ("valgrind", "cc") if shutil.which(name) is None]
    return f"{' and '.join(names)} not installed" if names else ""


def marks(folder: Path) -> Path:
    """Return the library of the marks, compiled into a folder."""
    source, library = folder / "marks.c", folder / "marks.so"
    source.write_text(MARKS, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


class Counted(Code):
    """A process whose runs are counted.

    Parameters
    ----------
    python : path
        The interpreter of the code.
    folder : Path
        An empty one, for what Valgrind writes.
    """

    def __init__(self, python: Path | str, folder: Path) -> None:
        self._profile, self._count = folder / "profile", 0
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no"]
        # one kernel of OpenBLAS, and one order of sets: counts are then the same in every run
        fixed = {"OPENBLAS_CORETYPE": "Haswell", "PYTHONHASHSEED": "0"}
        super().__init__(
            python,
            [*valgrind, f"--callgrind-out-file={self._profile}"],
            [str(marks(folder))],
            {**os.environ, **fixed},
        )

    def measure(self, run: str, scheme: str) -> tuple[float, int]:
        """Return instructions and steps of a run."""
        _, steps = super().measure(run, scheme)
        self._count += 1
        text = Path(f"{self._profile}.{self._count}").read_text(encoding="utf-8")
        found = re.search(r"^(?:summary|totals): (\d+)", text, flags=re.MULTILINE)
        assert found is not None
        return float(found[1]), steps


def run(plan: Plan) -> Iterator[Row]:
    """Compare all runs with all schemes, if there is other code."""
    if plan.against is None:
        return
    if missing():
        plan.tell(f"instructions: {missing()}")
        return
    with (
        tempfile.TemporaryDirectory() as old_folder,
        tempfile.TemporaryDirectory() as new_folder,
        Counted(plan.against, Path(old_folder)) as old,
        Counted(sys.executable, Path(new_folder)) as new,
    ):
        for name in RUNS:
            for scheme in SCHEMES:
                plan.tell(f"instructions: {name}, {scheme}")
                yield compare(old, new, name, scheme)


def compare(old: Code, new: Code, name: str, scheme: str) -> Row:
    """Return the row of one run."""
    (before, old_steps), (after, new_steps) = (code.measure(name, scheme) for code in (old, new))
    ratio = after / before
    values: dict[str, float | str | None] = {
        "old": 1e-3 * before / old_steps,
        "new": 1e-3 * after / new_steps,
        "old steps": float(old_steps),
        "new steps": float(new_steps),
        "ratio": ratio,
        "per step": ratio * old_steps / new_steps,
    }
    targets = {} if name.endswith("1 step") else {"ratio": ALLOWED}
    return Row("instructions", (name, scheme), values, targets)
