"""Files of records: a line of JSON each, with the machine, the versions and the code behind it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from comparisons.environment import environment, now


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Something measured, here and now unless it says otherwise.

    Attributes
    ----------
    environment : str -> str
        Machine, versions, digest of the code, compiled or plain.
    date : str
        UTC.
    """

    environment: dict[str, str] = field(default_factory=environment)
    date: str = field(default_factory=now)

    @property
    def key(self) -> Hashable:
        """What was measured: the same key, the same thing."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Any:
        """Return the record of what was one line of JSON; unknown words are errors."""
        return cls(**data)


S = TypeVar("S", bound=Stored)


class Store(Generic[S]):
    """A file of records; a later line of the same key stands for the earlier ones.

    Parameters
    ----------
    path : Path
    kind : type
        Class of the records.
    """

    def __init__(self, path: Path, kind: type[S]) -> None:
        self.path, self.kind = path, kind

    def read(self) -> list[S]:
        """Return the last record of every key, in order of first appearance."""
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").split("\n")
        # what follows the last newline is nothing, or was cut off
        found: list[S] = [self.kind.from_data(json.loads(line)) for line in lines[:-1]]
        return list({record.key: record for record in found}.values())

    def append(self, record: S) -> None:
        """Write one record at once, so that nothing is lost when the run is stopped."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(record.to_json() + "\n")

    def replace(self, records: Iterable[S]) -> None:
        """Write records in the place of those of the same keys; the others stay as they are."""
        new = {record.key: record for record in records}
        kept = [record for record in self.read() if record.key not in new]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = (record.to_json() + "\n" for record in [*kept, *new.values()])
        self.path.write_text("".join(lines), encoding="utf-8")
