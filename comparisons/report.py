"""All output of a comparison: plots as files, tables as Markdown, one HTML page with everything."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

from comparisons import tables
from comparisons.names import file_name
from comparisons.plots import plots_of
from comparisons.record import Record
from comparisons.story import telling
from comparisons.table import markdown

DPI = 110


def write_report(records: list[Record], output: Path) -> Path:
    """Write plots, Markdown and HTML into `output`; return the HTML file."""
    import jinja2

    output.mkdir(parents=True, exist_ok=True)
    parts = []
    for mechanism in tables.mechanisms_of(records):
        mine = [record for record in records if record.mechanism == mechanism]
        parts.append(
            {
                "name": mechanism,
                "summary": tables.summary(mechanism, records),
                "full": tables.full(mechanism, records),
                "images": _draw(mechanism, telling(mine), output / "plots"),
                "all_images": _draw(mechanism, mine, output / "plots", "-all"),
            }
        )
    source = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True).from_string(source)
    page = template.render(parts=parts, about=tables.origins(records), records=len(records))
    path = output / "report.html"
    path.write_text(page, encoding="utf-8")
    (output / "tables.md").write_text(markdown_page(records), encoding="utf-8")
    return path


def markdown_page(records: list[Record]) -> str:
    """Return all summaries in Markdown, machine and versions at the end."""
    parts = [
        markdown(tables.summary(mechanism, records)) for mechanism in tables.mechanisms_of(records)
    ]
    return "\n".join([*parts, tables.about(records)])


def _draw(
    mechanism: str, records: list[Record], folder: Path, ending: str = ""
) -> list[dict[str, str]]:
    """Draw all plots of a mechanism; return them with their data for the page."""
    folder.mkdir(parents=True, exist_ok=True)
    images = []
    for name, draw in plots_of(mechanism, records).items():
        data = png(draw())
        (folder / f"{file_name(mechanism)}-{file_name(name)}{ending}.png").write_bytes(data)
        images.append({"name": name, "data": base64.b64encode(data).decode()})
    return images


def png(figure: Any, dpi: int = DPI) -> bytes:
    """Return a figure as PNG and close it."""
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    plt.close(figure)
    return buffer.getvalue()
