"""One line of a benchmark's table, as a line of JSON; and the file of those to compare with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from comparisons.environment import environment, now

Value = float | str | None
Key = tuple[str, ...]

#: What later runs compare with; written by ``--store`` only.
RECORDS = Path(__file__).with_name("records.jsonl")
#: Of every run.
OUTPUT = Path(__file__).parents[2] / "build" / "bench"
#: Characters of a reason.
LONGEST_NOTE = 160


@dataclass(frozen=True)
class Row:
    """What was measured of one thing.

    Attributes
    ----------
    table : str
        The table it belongs to, see `comparisons.bench.layout.LAYOUTS`.
    label : tuple of str
        What was measured; with `table` the key of the row.
    values : str -> number, text or None
        By column; None: not measured.
    targets : str -> float
        The limits of some of the values.
    note : str
        What a reader must know: why nothing was measured, who is ahead.
    """

    table: str
    label: Key
    values: dict[str, Value] = field(default_factory=dict)
    targets: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def key(self) -> Key:
        """What makes this row."""
        return (self.table, *self.label)

    def number(self, name: str) -> float | None:
        """Return a value if it is there and a number."""
        value = self.values.get(name)
        return None if value is None or isinstance(value, str) else float(value)


def one_line(text: object) -> str:
    """Return an error or a reason in one line, cut off where it gets long."""
    kind = f"{type(text).__name__}: " if isinstance(text, Exception) else ""
    words = kind + " ".join(str(text).split())
    return words if len(words) <= LONGEST_NOTE else words[: LONGEST_NOTE - 1] + "…"


def read(path: Path) -> dict[Key, Row]:
    """Return the last row of every key; none if there is no such file."""
    if not path.exists():
        return {}
    found = (from_json(line) for line in path.read_text(encoding="utf-8").splitlines() if line)
    return {row.key: row for row in found}


def from_json(line: str) -> Row:
    """Return the row of one line; date and machine are left out."""
    data: dict[str, Any] = json.loads(line)
    label = tuple(data["label"])
    return Row(data["table"], label, data["values"], data["targets"], data["note"])


def to_json(row: Row, calibration: float) -> str:
    """Return one line with date, machine, versions and the yardstick's seconds."""
    about = {"date": now(), "calibration": calibration, "environment": environment()}
    return json.dumps({**asdict(row), **about}, ensure_ascii=False)


def append(path: Path, rows: Iterable[Row], calibration: float) -> None:
    """Add rows at the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(to_json(row, calibration) + "\n" for row in rows)


def store(path: Path, rows: Iterable[Row], calibration: float) -> None:
    """Replace the rows of the same keys in a file; the others stay, with their dates."""
    rows = list(rows)
    replaced = {row.key for row in rows}
    kept = []
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if line and from_json(line).key not in replaced]
    new = [to_json(row, calibration) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in [*kept, *new]), encoding="utf-8")
