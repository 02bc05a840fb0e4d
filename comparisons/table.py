"""The one writer of tables: neutral cells, for the terminal, as Markdown, or for HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A text, what it is sorted by, and whether it is a warning."""

    text: str
    sort: float | str = ""
    warning: bool = False


@dataclass
class Table:
    """Headers and rows; `left` says how many columns hold words, `remarks` that the last does."""

    title: str
    headers: list[str]
    left: int
    rows: list[list[Cell]] = field(default_factory=list)
    remarks: bool = True

    def is_words(self, column: int) -> bool:
        """Tell whether a column holds words; the others hold numbers."""
        return column < self.left or (self.remarks and column == len(self.headers) - 1)


def word(text: object) -> Cell:
    """Return a cell for a word."""
    return Cell(str(text), str(text))


def number(value: float | None, pattern: str = ".1e") -> Cell:
    """Return a cell for a number that may be unknown: None or NaN."""
    if value is None or value != value:
        return Cell("–", float("inf"))
    return Cell(format(value, pattern), float(value))


def grid(headers: Iterable[object], rows: Iterable[Sequence[object]], left: int = 1) -> Table:
    """Return a table without a title, of cells that are written already."""
    return Table("", [str(x) for x in headers], left, [[word(x) for x in row] for row in rows],
                 remarks=False)  # fmt: skip


def fitted(table: Table, width: int) -> Table:
    """Return a table whose last column ends where the line does; numbers are never cut."""
    columns = zip(table.headers[:-1], *([x.text for x in row[:-1]] for row in table.rows),
                  strict=True)  # fmt: skip
    used = sum(max(map(len, column)) + 3 for column in columns)
    room = max(width - used - 3, len(table.headers[-1]))
    return replace(table, rows=[[*row[:-1], _cut(row[-1], room)] for row in table.rows])


def _cut(cell: Cell, room: int) -> Cell:
    short = cell.text if len(cell.text) <= room else cell.text[: room - 1] + "…"
    return replace(cell, text=short)


def markdown(table: Table) -> str:
    """Return a table in Markdown, under its title if it has one."""
    align = [":--" if table.is_words(i) else "--:" for i in range(len(table.headers))]
    lines = [f"**{table.title}**", ""] if table.title else []
    lines += [_line(table.headers), _line(align)]
    lines += [_line(cell.text.replace("|", "\\|") for cell in row) for row in table.rows]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def rich_table(table: Table) -> Any:
    """Return a table for the terminal."""
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(title=table.title, title_justify="left", pad_edge=False)
    for i, header in enumerate(table.headers):
        justify: Any = "left" if table.is_words(i) else "right"
        made.add_column(header, justify=justify, no_wrap=True, overflow="ellipsis")
    for row in table.rows:
        made.add_row(*(Text(x.text, style="yellow" if x.warning else "") for x in row))
    return made
