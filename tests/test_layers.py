"""Tests live where their packages do, and know nothing of the layers above them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import genalpha

TESTS = Path(__file__).parent
ROOT = TESTS.parent
CONTRACT = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split('type = "layers"')[1]
#: The layers of pyproject.toml, from the lowest to the highest, then what documents or tries
#: all of them.
LAYERS = [*re.findall(r'"\(?([\w.]+)\)?"', CONTRACT.split("]")[0])[::-1], "docs", "fuzz"]
#: Folders of tests that belong to none of the layers.
ALONE = {"build_assimulo"}
FILES = sorted(TESTS.glob("*/**/*.py"))


def layer_of_tests(path: Path) -> str:
    """The package that a folder of tests belongs to."""
    folder = path.relative_to(TESTS).parts[0]
    return folder if folder in ("comparisons", "docs", "fuzz") else f"genalpha.{folder}"


def layer_of(module: str) -> str | None:
    """The layer that an imported module belongs to; None if it is none of ours."""
    if module.startswith("tests."):
        return layer_of_tests(TESTS / Path(*module.split(".")[1:]))
    if module.startswith("genalpha."):
        name = module.split(".")[1]
        home = genalpha._HOME.get(name, f"genalpha.{name}")  # type: ignore[attr-defined]
        return ".".join(home.split(".")[:2])
    return module.split(".")[0]


def imported(path: Path) -> set[str]:
    """Modules that a file imports, or whose public names it takes from `genalpha`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def test_folders_mirror_packages() -> None:
    found = {layer_of_tests(path) for path in FILES} - {f"genalpha.{x}" for x in ALONE}
    assert found <= set(LAYERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_test_imports_upward(path: Path) -> None:
    own = layer_of_tests(path)
    allowed = LAYERS[: LAYERS.index(own) + 1] if own in LAYERS else []
    upward = {x for x in imported(path) if layer_of(x) in LAYERS and layer_of(x) not in allowed}
    assert not upward
