"""One line of a benchmark's table, and the file of those to compare with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comparisons.store import Store, Stored

Value = float | str | None
Key = tuple[str, ...]

#: What later runs compare with; written by ``--store`` only.
RECORDS = Path(__file__).with_name("records.jsonl")
#: Of every run.
OUTPUT = Path(__file__).parents[2] / "build" / "bench"
#: Characters of a reason.
LONGEST_NOTE = 160


@dataclass(frozen=True)
class Row(Stored):
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
    calibration : float or None
        Seconds of the yardstick in the run that measured it.
    """

    table: str
    label: Key
    values: dict[str, Value] = field(default_factory=dict)
    targets: dict[str, float] = field(default_factory=dict)
    note: str = ""
    calibration: float | None = None

    @property
    def key(self) -> Key:
        """What makes this row."""
        return (self.table, *self.label)

    def number(self, name: str) -> float | None:
        """Return a value if it is there and a number."""
        value = self.values.get(name)
        return None if value is None or isinstance(value, str) else float(value)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Row:
        """Return the row of what was one line of JSON."""
        return cls(**{**data, "label": tuple(data["label"])})


def one_line(text: object) -> str:
    """Return an error or a reason in one line, cut off where it gets long."""
    kind = f"{type(text).__name__}: " if isinstance(text, Exception) else ""
    words = kind + " ".join(str(text).split())
    return words if len(words) <= LONGEST_NOTE else words[: LONGEST_NOTE - 1] + "…"


def rows_of(path: Path) -> dict[Key, Row]:
    """Return the last row of every key in a file; none if there is no such file."""
    return {row.key: row for row in Store(path, Row).read()}
