"""Very long runs: does memory grow, do constraints drift?

A pendulum with equal steps, in Assimulo with `report_continuously` and in `integrate` with
`t_eval`. Run as ``python -m comparisons.long_runs [--steps N]``; with ``--docs`` the table in the
documentation is replaced. Every run is a process of its own, because memory once had is not given
back; ``--run NAME`` makes one of them and prints its row, ``--rows FILE ...`` takes such rows
instead of running.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from comparisons.table import grid, markdown
from genalpha import integrate
from genalpha.mechanisms import catalogue

PAGE = Path(__file__).parents[1] / "docs/pages/fuzzing.md"
PLACE = re.compile(r"(<!-- long runs -->\n).*?(\n<!-- end of long runs -->)", re.DOTALL)
SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")
#: Step size, and how many output points there are in each tenth of a run.
STEP, POINTS = 1e-3, 50
HEAD = ["run", "steps", "MB after 1/10", "MB at the end", "drift of g, first tenth", "last tenth",
        "drift of its rate, first tenth", "last tenth", "µs per step"]  # fmt: skip


class Seen(NamedTuple):
    """What is seen at an output point."""

    megabytes: float
    position: float
    velocity: float


class Course:
    """Looks at constraints and memory while a run is under way.

    Parameters
    ----------
    steps : int
        How many there will be; time goes from 0 to `steps` times `STEP`.
    """

    def __init__(self, steps: int) -> None:
        self.o: Any = catalogue()["simple_pendulum"]()
        self.seen: list[Seen] = []
        # at the ends of steps, where constraints hold
        self.times = STEP * np.rint(np.linspace(0, steps, 10 * POINTS + 1)[1:])

    def look(self, q: np.ndarray, v: np.ndarray) -> None:
        """Take down one output point."""
        self.seen.append(
            Seen(
                megabytes(),
                float(np.abs(self.o.holonomic(0.0, q)).max()),
                float(np.abs(self.o.holonomic_jacobian(0.0, q) @ v).max()),
            )
        )

    def row(self, seconds: float, name: str, steps: int) -> list[str]:
        """Return what was seen, as a row of the table."""
        first, last = self.seen[:POINTS], self.seen[-POINTS:]
        drifts = [max(x[i] for x in part) for i in (1, 2) for part in (first, last)]
        memory = [first[-1].megabytes, last[-1].megabytes]
        return [name, str(steps), *(f"{x:.1f}" for x in memory), *(f"{x:.1e}" for x in drifts),
                f"{1e6 * seconds / steps:.1f}"]  # fmt: skip


def megabytes() -> float:
    """Return the largest memory so far."""
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def in_assimulo(course: Course, scheme: str) -> None:
    """Simulate with `report_continuously`, and look at every output point."""
    from genalpha.assimulo import solvers

    problem = course.o.problem("ind3")
    n = course.o.n_q
    problem.handle_result = lambda solver, t, y, yd: course.look(y[:n], y[n : 2 * n])
    solver = getattr(solvers, scheme)(problem)
    solver.verbosity, solver.report_continuously = 50, True
    solver.h, solver.maxsteps = STEP, 10**9
    solver.simulate(float(course.times[-1]), 0, course.times)
    course.seen = course.seen[-len(course.times) :]  # without the start


def in_integrate(course: Course, scheme: str) -> None:
    """Integrate with `t_eval`; memory is looked at while the run passes the output points."""
    times, force = iter(course.times), course.o.force
    found: list[float] = []
    due = next(times)

    def watched(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        nonlocal due
        if t >= due:
            found.append(megabytes())
            due = next(times, np.inf)
        return force(t, q, v)

    o = course.o.replace(force=watched)
    solution = integrate(o, float(course.times[-1]), scheme, STEP, t_eval=course.times)
    for q, v in zip(solution.q, solution.v, strict=True):
        course.look(q, v)
    found += [megabytes()] * (len(course.times) - len(found))
    course.seen = [x._replace(megabytes=m) for x, m in zip(course.seen, found, strict=True)]


RUNS: dict[str, Callable[[Course, str], None]] = {
    **{f"`{x}`, Assimulo, report_continuously": in_assimulo for x in SCHEMES},
    **{f"`integrate`, {x}, t_eval": in_integrate for x in SCHEMES},
}


def measured(name: str, steps: int) -> list[str]:
    """Return the row of one run."""
    course = Course(steps)
    scheme = next(x for x in SCHEMES if x in name)
    started = process_time()
    RUNS[name](course, scheme)
    return course.row(process_time() - started, name, steps)


def _last_line(text: str) -> list[str]:
    """Return the row that a run has printed last; Assimulo's progress may stand before it."""
    line = text.splitlines()[-1]
    return line[line.index("`") :].split("\t")


def publish(text: str) -> None:
    """Put the table into the page."""
    page, count = PLACE.subn(
        lambda found: f"{found[1]}\n{text}\n{found[2]}", PAGE.read_text(encoding="utf-8")
    )
    if count != 1:
        raise SystemExit(f"{PAGE} has {count} places for the table; expected one")
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--run", help="this run only, whose row is printed")
    parser.add_argument("--rows", nargs="+", type=Path, help="files with rows that were printed")
    parser.add_argument("--docs", action="store_true", help=f"write into {PAGE.name}")
    given = parser.parse_args()
    if given.run:
        print("\t".join(measured(given.run, given.steps)))
        return
    rows = [_last_line(path.read_text(encoding="utf-8")) for path in given.rows or []]
    for name in () if given.rows else RUNS:
        command = [sys.executable, "-m", "comparisons.long_runs", "--run", name]
        done = subprocess.run(
            [*command, "--steps", str(given.steps)], check=True, capture_output=True, text=True
        )
        rows.append(_last_line(done.stdout))
        print(rows[-1], flush=True)
    text = markdown(grid(HEAD, rows))
    if given.docs:
        publish(f"Steps of {STEP:g} s, {date.today().isoformat()}.\n\n{text}")
    print(text)


if __name__ == "__main__":
    main()
