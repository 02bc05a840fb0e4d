"""What became of the inputs: counts, lines of files that several runs fill, and tables of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.fuzz.outcome import CLASSES, GOOD, REFUSED, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "fuzzing.md"
HEADS = [*CLASSES, "of the clear errors, false alarms"]


@dataclass(frozen=True)
class Line:
    """One input that was tried; a file has one of these per line, as JSON."""

    seed: int
    #: Tells inputs of the same seed apart, when seeds are drawn otherwise later.
    drawn: str
    code: str
    day: str
    kind: str
    ended: str
    alarm: bool
    seconds: float
    detail: str

    @property
    def input(self) -> tuple[int, str]:
        """What makes two lines the same input."""
        return self.seed, self.drawn


def line_of(seed: int, outcome: Outcome, code: str, day: str, seconds: float) -> Line:
    """Return what is kept of an outcome; details only of what ended badly, or falsely."""
    alarm = outcome.healthy and outcome.ended == REFUSED
    detail = "" if outcome.ended in GOOD and not alarm else f"{outcome.what}: {outcome.detail}"
    what = re.sub(r"0x[0-9a-f]+", "", outcome.what)  # addresses differ from run to run
    drawn = f"{zlib.crc32(what.encode()):08x}"
    return Line(
        seed, drawn, code, day, outcome.kind, outcome.ended, alarm, round(seconds, 4), detail
    )


def write(line: Line, path: Path) -> None:
    """Append a line, at once: a run may be ended at any time."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(line)) + "\n")


def read(paths: Iterable[Path]) -> Iterator[Line]:
    """Return the lines of files, one after the other."""
    for path in paths:
        for text in path.read_text(encoding="utf-8").splitlines():
            yield Line(**json.loads(text))


def commit() -> str:
    """Return which code is run: the commit, or none if it is not known."""
    command = ["git", "-C", str(PAGE.parent), "describe", "--always", "--dirty=, changed since"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or os.environ.get("GENALPHA_COMMIT", "an unknown commit")


def _row(name: str, lines: list[Line]) -> list[str]:
    ends = Counter(line.ended for line in lines)
    numbers = [len(lines), *(ends[end] for end in CLASSES), sum(line.alarm for line in lines)]
    return [name, *map(str, numbers)]


def _table(heads: list[str], rows: list[list[str]], left: int = 1) -> str:
    rule = ["---"] * left + ["--:"] * (len(heads) - left)
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, rule, *rows))


def by_kind(lines: list[Line]) -> str:
    """Return the table of kinds, in Markdown."""
    kinds = sorted({line.kind for line in lines})
    rows = [_row(kind, [x for x in lines if x.kind == kind]) for kind in kinds]
    return _table(["kind", "inputs", *HEADS], [*rows, _row("**all**", lines)])


def by_code(lines: list[Line]) -> str:
    """Return the table of the codes that were tried, in the order of the lines."""
    rows = []
    for code in dict.fromkeys(line.code for line in lines):
        own = [line for line in lines if line.code == code]
        seeds = [line.seed for line in own]
        days = sorted({line.day for line in own})
        name, *numbers = _row(code, own)
        rows.append([name, ", ".join(days), f"{min(seeds)} to {max(seeds)}", *numbers])
    return _table(["code", "day", "seeds", "inputs", *HEADS], rows, left=3)


def last_of_each(lines: Iterable[Line]) -> list[Line]:
    """Return every input once, as its last run ended."""
    return list({line.input: line for line in lines}.values())


def text(lines: list[Line]) -> str:
    """Return what the page says of files of lines."""
    last = last_of_each(lines)
    again = len(
        {x.input for x in lines if x.ended not in GOOD} & {x.input for x in last if x.ended in GOOD}
    )
    seconds = sum(line.seconds for line in lines) / len(lines)
    bad = sorted((x for x in last if x.ended not in GOOD), key=lambda x: x.seed)
    several = len({line.code for line in lines}) > 1
    parts = [f"{len(last)} different inputs, {seconds:.2g} s of processor time each."]
    if several:
        parts += [
            "On which code they were tried:",
            by_code(lines),
            f"Every input once, as its last run ended ({again} that had ended badly end well on "
            "later code):",
        ]
    else:
        parts += [
            f"Seeds {min(x.seed for x in last)} to {max(x.seed for x in last)}, "
            f"{max(x.day for x in last)}, code of {last[0].code}."
        ]
    parts.append(by_kind(last))
    if bad:
        parts.append("These end badly as yet, each run by `--seed`:")
        parts.append("\n".join(f"- {x.seed} ({x.kind}): {x.ended}" for x in bad))
    return "\n\n".join(parts)
