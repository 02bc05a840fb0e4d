"""The results in the docs: tables of all mechanisms, plots of some."""

from __future__ import annotations

from pathlib import Path

from comparisons import tables
from comparisons.names import file_name
from comparisons.plots import plots_of
from comparisons.record import Record
from comparisons.report import png
from comparisons.story import telling
from comparisons.table import markdown

DPI = 100
BEGIN, END = "<!-- results -->", "<!-- end of results -->"
#: Plots that the docs show.
SHOWN = {
    "simple_pendulum": ("work-q-time", "work-q-force_calls", "drift-g"),
    "slider_crank": ("work-q-time", "work-lam-force_calls", "drift-g_rate", "newton", "steps"),
    "andrews_squeezer": ("work-q-force_calls",),
    "rolling_disk": ("work-q-force_calls",),
}


#: Characters of a table's line; the report has the whole warnings.
WIDTH = 220


def write_docs(records: list[Record], pages: Path) -> Path:
    """Replace the results in ``comparisons.md``, and its images."""
    images = pages / "images"
    images.mkdir(parents=True, exist_ok=True)
    parts = [
        *_cautions(records),
        tables.about(records),
    ]
    for mechanism in tables.mechanisms_of(records):
        parts += [f"### {mechanism}", "", _table(mechanism, records)]
        parts += _pictures(mechanism, records, images)
    path = pages / "comparisons.md"
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page = f"{before}{BEGIN}\n\n" + "\n".join(parts) + f"\n{END}{after}"
    path.write_text(page, encoding="utf-8")
    return path


def _pictures(mechanism: str, records: list[Record], images: Path) -> list[str]:
    """Draw the plots of a mechanism; those of all series are folded away beneath."""
    mine = [record for record in records if record.mechanism == mechanism]
    few, every = plots_of(mechanism, telling(mine)), plots_of(mechanism, mine)
    stem = file_name(mechanism)
    names = [name for name in SHOWN.get(mechanism, ()) if name in few]
    parts, folded = [], ['??? note "The same with all series"', ""]
    for name in names:
        file = f"{stem}-{file_name(name)}"
        (images / f"{file}.png").write_bytes(png(few[name](), DPI))
        (images / f"{file}-all.png").write_bytes(png(every[name](), DPI))
        parts += [f"![{mechanism}: {name}](images/{file}.png){{ .wide }}", ""]
        folded += [f"    ![{mechanism}: {name}, all series](images/{file}-all.png){{ .wide }}", ""]
    return [*parts, *folded] if names else []


def _table(mechanism: str, records: list[Record]) -> str:
    return markdown(tables.compact(tables.summary(mechanism, records), WIDTH))


def _cautions(records: list[Record]) -> list[str]:
    """Say what a reader must know before citing: mixed code, missing times."""
    lines = []
    if len({record.environment["code"] for record in records}) > 1:
        lines.append("The code changed while this was measured: a preview, not to be cited.")
    if not all(record.cpu_time is not None for record in records if record.ok):
        lines.append("Not all runs were timed.")
    return [" ".join(lines), ""] if lines else []
