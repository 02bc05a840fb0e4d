"""Try random inputs: python -m tests.fuzz [--seed N | --inputs N] [--publish].

One seed is one input: ``--seed 17`` runs that one and prints what happened. ``--inputs N`` runs
the seeds from ``--first`` on, or those that ``--minutes`` allow, prints those that did not end well
at once, progress every so often, and a table at the end; ``--publish`` puts the table into
docs/pages/fuzzing.md.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from datetime import date
from multiprocessing import Pool
from pathlib import Path

from tests.fuzz.cases import TOGETHER
from tests.fuzz.kinds import tried
from tests.fuzz.outcome import CLASSES, GOOD, REFUSED, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "fuzzing.md"
PLACE = re.compile(r"(<!-- fuzzed -->\n).*?(\n<!-- end -->)", re.DOTALL)
#: Seconds between two lines of progress.
EVERY = 30.0


class Tally:
    """How many inputs of each kind ended how."""

    def __init__(self) -> None:
        self.counts: Counter = Counter()
        self.alarms: Counter = Counter()
        self.seeds: list[int] = []

    def add(self, seed: int, outcome: Outcome) -> None:
        """Count one."""
        self.seeds.append(seed)
        self.counts[outcome.kind, outcome.ended] += 1
        self.alarms[outcome.kind] += outcome.healthy and outcome.ended == REFUSED

    @property
    def total(self) -> int:
        """Inputs so far."""
        return sum(self.counts.values())

    def table(self) -> str:
        """Return everything as a table in Markdown."""
        head = ["kind", "inputs", *CLASSES, "of the clear errors, false alarms"]
        kinds = sorted({kind for kind, _ in self.counts})
        rows = [[kind, *self._numbers([kind])] for kind in kinds]
        rows.append(["**all**", *self._numbers(kinds)])
        lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
        return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in lines)

    def _numbers(self, kinds: list[str]) -> list[int]:
        each = [sum(self.counts[kind, end] for kind in kinds) for end in CLASSES]
        return [sum(each), *each, sum(self.alarms[kind] for kind in kinds)]


def shown(seed: int, outcome: Outcome) -> str:
    """Return an outcome in words."""
    text = f"seed {seed}: {outcome.kind}: {outcome.ended.upper()}\n  {outcome.what}"
    return text + (f"\n  {outcome.detail}" if outcome.detail else "")


def _one(seed: int) -> tuple[int, Outcome]:
    return seed, tried(seed)


def run(seeds: range, processes: int, minutes: float) -> Tally:
    """Try all seeds, or as many as there is time for, and print what did not end well."""
    tally = Tally()
    last = began = time.monotonic()
    with Pool(processes) as pool:
        results: Iterable = map(_one, seeds)
        if processes > 1:
            results = pool.imap_unordered(_one, seeds, chunksize=TOGETHER)
        for seed, outcome in results:
            tally.add(seed, outcome)
            if outcome.ended not in GOOD:
                print(shown(seed, outcome), flush=True)
            if time.monotonic() - last > EVERY:
                last = time.monotonic()
                ends: Counter = Counter()
                for (_, end), count in tally.counts.items():
                    ends[end] += count
                print(f"{tally.total} of {len(seeds)}: {dict(ends)}", flush=True)
            if last - began > 60.0 * minutes:
                break
    return tally


def commit() -> str:
    """Return which code is run: the commit, or none if it is not known."""
    command = ["git", "-C", str(PAGE.parent), "describe", "--always", "--dirty=, changed since"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or os.environ.get("GENALPHA_COMMIT", "an unknown commit")


def publish(tally: Tally) -> None:
    """Put the table into the page."""
    text = (
        f"{tally.total} inputs, seeds {min(tally.seeds)} to {max(tally.seeds)}, "
        f"{date.today().isoformat()}, code of {commit()}.\n\n"
        f"{tally.table()}"
    )
    page = PAGE.read_text(encoding="utf-8")
    page, count = PLACE.subn(lambda found: found[1] + "\n" + text + "\n" + found[2], page)
    if count != 1:
        raise SystemExit(f"{PAGE} has {count} places for the table; expected one")
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this one input only")
    parser.add_argument("--inputs", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="at most (default: any)"
    )
    parser.add_argument("--processes", type=int, default=1, help="at once (default 1)")
    parser.add_argument("--publish", action="store_true", help="put the table into the docs")
    given = parser.parse_args()
    if given.seed is not None:
        print(shown(given.seed, tried(given.seed)))
        return
    seeds = range(given.first, given.first + given.inputs)
    tally = run(seeds, given.processes, given.minutes)
    print(tally.table())
    if given.publish:
        publish(tally)
    if any(end not in GOOD for _, end in +tally.counts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
