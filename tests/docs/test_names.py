"""Functions, classes and files that the theory pages name are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import genalpha

PACKAGE = Path(genalpha.__file__).parent
PAGES = sorted((Path(__file__).parents[2] / "docs" / "pages" / "theory").glob("*.md"))
NAME = re.compile(r"`((?:\w+\.)+\w+)`")
#: Names of objects that a user has, which look like modules of ours.
OBJECTS = {"solution", "deviation"}
FILE = re.compile(r"`((?:\w+/)+\w+\.py)`")


def names_of(node: ast.AST, prefix: str = "") -> set[str]:
    """Names that a module or a class defines, those inside its classes with dots."""
    found = set()
    for item in getattr(node, "body", []):
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            found.add(prefix + item.name)
        if isinstance(item, ast.ClassDef):
            found |= names_of(item, f"{prefix}{item.name}.")
        if isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            found |= {prefix + ast.unparse(target) for target in targets}
    return found


def known() -> set[str]:
    """All names, alone and after their module, with and without its package."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        names = names_of(ast.parse(path.read_text(encoding="utf-8")))
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if path.stem == "__init__":
            module = path.parent.name
        found.add(module)
        for name in names:
            found |= {name, f"{path.stem}.{name}", f"{module}.{name}"}
    return found


def public() -> set[str]:
    """What packages hand on: `mechanisms.slider_crank`, ..."""
    from genalpha import mechanisms

    return {f"mechanisms.{name}" for name in mechanisms.__all__}


KNOWN = known() | public()
OURS = {name.split(".")[0] for name in KNOWN if "." in name}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = {name for name in NAME.findall(text) if name.split(".")[0] in OURS - OBJECTS}
    assert {name for name in named - KNOWN if not name.endswith(".py")} == set()
    for file in FILE.findall(text):
        assert (PACKAGE / file).exists() or (PACKAGE.parents[1] / file).exists(), file


def test_there_is_something_to_look_at() -> None:
    named = {name for page in PAGES for name in NAME.findall(page.read_text(encoding="utf-8"))}
    assert len(named & KNOWN) > 30
