"""Random impacts whose times are known: python -m tests.fuzz.impacts [--impacts N] [--publish].

Bodies on parabolas, free or on a wire, fall on walls, in both directions of time. Handlers
look at the sign of the velocity or do not. All of it in `integrate` and in the solver classes.
``--publish`` puts the table into docs/pages/fuzzing.md.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from datetime import date
from time import process_time
from typing import Any

import numpy as np

import genalpha
from genalpha import integrate
from genalpha.schemes import SCHEMES
from tests.driver.impacts import Case, random_case
from tests.fuzz.record import PAGE, commit

PLACE = re.compile(r"(<!-- impacts -->\n).*?(\n<!-- end of impacts -->)", re.DOTALL)
#: Impacts of one run, and how exact their times must be, relative to the time where it is above 1.
EACH, EXACT = 10, 1e-10


def by_integrate(case: Case, scheme: str, h: float | None) -> np.ndarray:
    """Return the times of all impacts."""

    def event(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return case.gap(t, q, v)

    event.impact = case.after  # type: ignore[attr-defined]
    return np.asarray(integrate(case.mechanism, case.end, scheme, h, events=[event]).t_events[0])


def by_class(case: Case, scheme: str, h: float | None) -> np.ndarray:
    """Return the times of all impacts, as a user of Assimulo finds them."""
    problem = case.mechanism.problem("ind3")
    n, found = case.mechanism.n_q, []
    problem.state_events = lambda t, y, yd, sw: np.array([case.gap(t, y[:n], y[n : 2 * n])])

    def handle(solver: Any, info: Any) -> None:
        found.append(solver.t)
        solver.y[n : 2 * n] = case.after(solver.t, solver.y[:n], solver.y[n : 2 * n])

    problem.handle_event = handle
    solver = getattr(genalpha, scheme)(problem)
    solver.verbosity, solver.h = 50, h
    solver.backward = case.direction < 0
    solver.simulate(case.end)
    return np.array(found)


def tried(seed: int) -> tuple[str, Case, np.ndarray, float]:
    """Run one input, and return who ran it, the case, the times found, and the processor time."""
    random = np.random.default_rng([seed, 19])
    case = random_case(random, EACH)
    scheme = str(random.choice(list(SCHEMES)))
    h = float(random.uniform(0.02, 0.5)) if random.random() < 0.5 else None
    run, name = (by_integrate, f"`integrate`, {scheme}")
    if random.random() < 0.5:
        run, name = by_class, f"`{scheme}` in Assimulo"
    began = process_time()
    return name, case, run(case, scheme, h), process_time() - began


def table(seeds: range) -> tuple[str, bool]:
    """Return the table, and whether all is well."""
    counts: dict[str, Counter] = {}
    worst: dict[str, float] = {}
    longest = 0.0
    for seed in seeds:
        name, case, times, seconds = tried(seed)
        row = counts.setdefault(name, Counter())
        longest = max(longest, seconds)
        row["impacts"] += len(case.times)
        row["backward"] += len(case.times) * (case.direction < 0)
        row[case.handler] += len(case.times)
        row["lost"] += max(0, len(case.times) - len(times))
        row["double"] += max(0, len(times) - len(case.times))
        if len(times) != len(case.times):
            print(f"seed {seed}: {name}: {len(times)} impacts, not {len(case.times)}", flush=True)
            continue
        error = np.abs(times - case.times).max() / max(1.0, abs(case.end))
        worst[name] = max(worst.get(name, 0.0), float(error))
        row["late"] += int(error > EXACT)
    head = ["who", "impacts", "backward", "blind", "looking", "absolute", "lost", "double"]
    lines = [[*head, "worst time error"], ["---"] + ["--:"] * len(head)]
    for name in sorted(counts):
        lines.append([name, *(str(counts[name][x]) for x in head[1:]), f"{worst[name]:.1e}"])
    every = [str(sum(row[x] for row in counts.values())) for x in head[1:]]
    lines.append(["**all**", *every, f"{max(worst.values()):.1e}"])
    text = "\n".join("| " + " | ".join(x) + " |" for x in lines)
    text += f"\n\nThe longest run took {longest:.2g} s of processor time for {EACH} impacts."
    bad = sum(row[x] for row in counts.values() for x in ("lost", "double", "late"))
    return text, not bad


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.impacts", description=__doc__)
    parser.add_argument("--impacts", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--publish", action="store_true", help="put the table into the docs")
    given = parser.parse_args()
    text, good = table(range(given.first, given.first + given.impacts // EACH))
    print(text)
    if given.publish:
        text = f"{date.today().isoformat()}, code of {commit()}.\n\n{text}"
        page, count = PLACE.subn(
            lambda found: f"{found[1]}\n{text}\n{found[2]}", PAGE.read_text(encoding="utf-8")
        )
        if count != 1:
            raise SystemExit(f"{PAGE} has {count} places for the table; expected one")
        PAGE.write_text(page, encoding="utf-8")
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
