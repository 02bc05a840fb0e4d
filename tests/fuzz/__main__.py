"""Try random inputs: python -m tests.fuzz [--seed N | --inputs N | --collect FILE ...] [--publish].

One seed is one input: ``--seed 17`` runs that one and prints what happened. ``--inputs N`` runs
the seeds from ``--first`` on, or those that ``--minutes`` allow, prints those that did not end well
at once, progress every so often, and a table at the end. ``--record FILE`` appends every outcome to
a file, and passes over seeds that this code has there already; ``--bad FILE ...`` runs those that
ended badly in other files. ``--collect FILE ...`` runs nothing and makes the tables of such files,
which may be of several runs and codes. ``--publish`` puts the tables into docs/pages/fuzzing.md.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from multiprocessing import Pool
from pathlib import Path

from tests.fuzz.cases import TOGETHER
from tests.fuzz.kinds import tried
from tests.fuzz.outcome import GOOD, Outcome
from tests.fuzz.record import PAGE, Line, commit, last_of_each, line_of, read, text, write

PLACE = re.compile(r"(<!-- fuzzed -->\n).*?(\n<!-- end -->)", re.DOTALL)
#: Seconds between two lines of progress.
EVERY = 30.0


def shown(seed: int, outcome: Outcome) -> str:
    """Return an outcome in words."""
    words = f"seed {seed}: {outcome.kind}: {outcome.ended.upper()}\n  {outcome.what}"
    return words + (f"\n  {outcome.detail}" if outcome.detail else "")


def _one(seed: int) -> tuple[int, Outcome, float]:
    began = time.process_time()
    return seed, tried(seed), time.process_time() - began


def _results(seeds: Sequence[int], processes: int) -> Iterable[tuple[int, Outcome, float]]:
    if processes == 1:
        yield from map(_one, seeds)
        return
    with Pool(processes) as pool:
        yield from pool.imap_unordered(_one, seeds, chunksize=TOGETHER)


def run(
    seeds: Sequence[int], processes: int, minutes: float, record: Path | None = None
) -> list[Line]:
    """Try all seeds, or as many as there is time for, and print what did not end well."""
    code, day = commit(), date.today().isoformat()
    if record is not None and record.exists():
        done = {line.seed for line in read([record]) if line.code == code}
        seeds = [seed for seed in seeds if seed not in done]
    lines = []
    ends: Counter = Counter()
    last = began = time.monotonic()
    for seed, outcome, seconds in _results(seeds, processes):
        lines.append(line_of(seed, outcome, code, day, seconds))
        ends[outcome.ended] += 1
        if record is not None:
            write(lines[-1], record)
        if outcome.ended not in GOOD:
            print(shown(seed, outcome), flush=True)
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            print(f"{len(lines)} of {len(seeds)}: {dict(ends)}", flush=True)
        if time.monotonic() - began > 60.0 * minutes:
            break
    return lines


def publish(words: str) -> None:
    """Put the tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    page, count = PLACE.subn(lambda found: found[1] + "\n" + words + "\n" + found[2], page)
    if count != 1:
        raise SystemExit(f"{PAGE} has {count} places for the table; expected one")
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    add = parser.add_argument
    add("--seed", type=int, help="run this one input only")
    add("--inputs", type=int, default=1000, help="how many (default 1000)")
    add("--first", type=int, default=0, help="the first seed (default 0)")
    add("--bad", type=Path, nargs="+", help="the seeds that ended badly in these files")
    add("--minutes", type=float, default=float("inf"), help="at most (default: any)")
    add("--processes", type=int, default=1, help="at once (default 1)")
    add("--record", type=Path, help="append every outcome to this file")
    add("--collect", type=Path, nargs="+", help="make the tables of these files; run nothing")
    add("--publish", action="store_true", help="put the tables into the docs")
    given = parser.parse_args()
    if given.seed is not None:
        print(shown(given.seed, tried(given.seed)))
        return
    if given.collect:
        lines = list(read(given.collect))
    else:
        seeds: Sequence[int] = range(given.first, given.first + given.inputs)
        if given.bad:
            seeds = sorted({line.seed for line in read(given.bad) if line.ended not in GOOD})
        lines = run(seeds, given.processes, given.minutes, given.record)
    if not lines:
        raise SystemExit("no input is left to try")
    words = text(lines)
    print(words)
    if given.publish:
        publish(words)
    if any(line.ended not in GOOD for line in last_of_each(lines)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
