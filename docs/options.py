"""Fill pages with tables of options while the documentation is built, from their declarations.

A marker ``<!-- options: module.NAME -->`` stands for the tuple NAME of a module of genalpha,
``<!-- options of SCHEME -->`` for those that a scheme has beside everybody's, and
``<!-- schemes -->`` for rows that tell what each scheme is.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import genalpha
from genalpha.options import Option
from genalpha.schemes import SCHEMES

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `comparisons`
from comparisons.table import grid
from comparisons.table import markdown as markdown_of

PACKAGE = Path(genalpha.__file__).parent
DECLARED = re.compile(r"<!-- options: ([\w.]+)\.(\w+) -->")
OWN = re.compile(r"<!-- options of (\w+) -->")


class Owner:
    """Stands for a problem where a text says how many values there may be."""

    size = "as many as unknowns"
    _knows_jacobian = True

    class _F:
        has_jacobian = True


def module(name: str) -> ModuleType:
    """Return a module, loaded by its file: its package may need Assimulo."""
    path = PACKAGE.joinpath(*name.split(".")).with_suffix(".py")
    spec = importlib.util.spec_from_file_location(f"declarations_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def table(options: tuple[Option, ...]) -> str:
    """Return options as a table in Markdown."""
    rows = []
    for option in options:
        names = f"`{option.name}`" + (f" (Assimulo: `{option.alias}`)" if option.alias else "")
        rows.append((names, option.kind.expected(Owner()), option.doc))
    return markdown_of(grid(("option", "values", "meaning"), rows, left=3))


def schemes() -> str:
    """Return a row for each scheme."""
    return "\n".join(f"| `{s.name}` | {s.paper} | {s.doc} |" for s in SCHEMES.values())


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Put tables in the place of their markers (called by MkDocs)."""
    filled = DECLARED.sub(lambda m: table(getattr(module(m[1]), m[2])), markdown)
    filled = filled.replace("<!-- schemes -->", schemes())
    return OWN.sub(lambda m: table(SCHEMES[m[1]].options), filled)
