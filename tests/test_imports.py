"""Compiled modules: their types agree with their sources, and old ones are not used."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import genalpha
from genalpha import imports

PACKAGE = Path(genalpha.__file__).parent
TYPED = [path for path in sorted(PACKAGE.rglob("*.pxd")) if path.with_suffix(".py").exists()]


def dataclasses_of(source: str) -> dict[str, list[str]]:
    """Fields of the dataclasses of a module, in order."""
    return {
        node.name: [item.target.id for item in node.body if isinstance(item, ast.AnnAssign)]
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and "dataclass" in map(ast.unparse, node.decorator_list)
    }


def typed_classes_of(types: str) -> dict[str, list[str]]:
    """Attributes of the classes of a .pxd file, in order."""
    classes: dict[str, list[str]] = {}
    for line in types.splitlines():
        if found := re.match(r"cdef class (\w+)", line):
            classes[found[1]] = []
        elif found := re.match(r"    cdef (?:public )?[\w.]+ ([\w, ]+)$", line):
            list(classes.values())[-1].extend(name.strip() for name in found[1].split(","))
    return classes


@pytest.mark.parametrize("path", TYPED, ids=lambda path: path.stem)
def test_fields_have_the_same_order(path: Path) -> None:
    """Cython takes positional arguments in the order of the .pxd file, whatever the source says."""
    typed = typed_classes_of(path.read_text())
    for name, fields in dataclasses_of(path.with_suffix(".py").read_text()).items():
        if name in typed:
            assert typed[name] == fields, name


def test_there_is_something_to_compare() -> None:
    names = {name for path in TYPED for name in dataclasses_of(path.with_suffix(".py").read_text())}
    assert {"State", "Matrices", "Counters", "Scales"} <= names


@pytest.mark.skipif(not imports.COMPILED, reason="nothing is compiled here")
@pytest.mark.parametrize("how", ["all there", "one is missing", "one is old"])
def test_compiled_modules_are_used_together_or_not_at_all(tmp_path: Path, how: str) -> None:
    shutil.copytree(PACKAGE, tmp_path / "src/genalpha")  # keeps the times of the files
    (tmp_path / "setup.py").touch()
    source = tmp_path / "src/genalpha/schemes/i3.py"
    if how == "one is missing":
        for built in source.parent.glob("i3.*.so"):
            built.unlink()
    elif how == "one is old":
        source.touch()
    script = (
        "import genalpha.numerics.newton as x, genalpha.imports as y; print(y.COMPILED, x.__file__)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    told = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert told[0] == str(how == "all there")
    assert Path(told[1]).is_relative_to(tmp_path)
    assert told[1].endswith(".py") == (how != "all there")
