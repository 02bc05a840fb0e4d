"""Fill the API page with the options of the solver classes while the documentation is built.

An option is an assignment ``name = Option(default, check, doc, ...)`` or
``name = _option(key, check, doc)`` in a class. The files are read and not imported, because they
need Assimulo, and the documentation is built without it too.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

PAGE = "api.md"
SOURCE = Path(__file__).parents[1] / "src" / "genalpha" / "assimulo"
#: File and class whose options belong here.
MARKER = re.compile(r"<!-- options: (\w+)\.(\w+) -->")
MAKERS = ("Option", "_option")


def options(file: str, name: str) -> dict[str, str]:
    """Return the options of a class, without those that it inherits, and what is said of them."""
    tree = ast.parse((SOURCE / f"{file}.py").read_text(encoding="utf-8"))
    (owner,) = (x for x in tree.body if isinstance(x, ast.ClassDef) and x.name == name)
    found = {}
    for item in owner.body:
        call = getattr(item, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in MAKERS:
            found[item.targets[0].id] = ast.literal_eval(call.args[2])
    if not found:
        raise SystemExit(f"docs/options.py: {file}.{name} has no options")
    return found


def table(match: re.Match[str]) -> str:
    """Return the options of a class as a table in Markdown."""
    rows = (f"| `{name}` | {doc} |" for name, doc in options(*match.groups()).items())
    return "\n".join(["| option | meaning |", "|---|---|", *rows])


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Put tables in the place of their markers (called by MkDocs)."""
    return MARKER.sub(table, markdown) if page.file.src_uri == PAGE else markdown
