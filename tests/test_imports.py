"""Compiled modules: same names and types as their sources; old ones are not used, which is said."""

from __future__ import annotations

import ast
import importlib
import json
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
MODULES = [".".join(["genalpha", *x.with_suffix("").relative_to(PACKAGE).parts]) for x in TYPED]
COMPILED = pytest.mark.skipif(not imports.COMPILED, reason="nothing is compiled here")


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


def names_in(path: Path) -> set[str]:
    """Public names that a module defines itself."""
    found: set[str] = set()
    for item in ast.parse(path.read_text()).body:
        if isinstance(item, ast.FunctionDef | ast.ClassDef):
            found.add(item.name)
        elif isinstance(item, ast.Assign):
            names = (x for target in item.targets for x in ast.walk(target))
            found |= {x.id for x in names if isinstance(x, ast.Name)}
    return found


def fields_of(holder: type) -> set[str]:
    """Attributes that objects of a class get from its source, or from those of its bases."""
    if holder.__module__ not in MODULES:
        return set()
    tree = ast.parse(TYPED[MODULES.index(holder.__module__)].with_suffix(".py").read_text())
    (body,) = (x for x in tree.body if getattr(x, "name", "") == holder.__name__)
    found = {x.target.id for x in body.body if isinstance(x, ast.AnnAssign)}
    found |= {
        x.attr
        for x in ast.walk(body)
        if isinstance(x, ast.Attribute)
        and isinstance(x.ctx, ast.Store)
        and ast.unparse(x.value) == "self"
    }
    return found.union(*map(fields_of, holder.__bases__))


def surface() -> dict[str, list[str]]:
    """Public names of the modules that can be compiled, of their classes, and of objects of these.

    Objects with a dictionary have what the source says. Those without are compiled; the class
    shows which of their attributes Python code can use.
    """
    found = {}
    for module, path in zip(MODULES, TYPED, strict=True):
        made = importlib.import_module(module)
        names = {x for x in names_in(path.with_suffix(".py")) if hasattr(made, x)}
        found[module] = names
        for holder in (getattr(made, x) for x in names):
            if isinstance(holder, type) and holder.__module__ == module:
                fields = fields_of(holder) if holder.__dictoffset__ else set()
                found[f"{module}.{holder.__name__}"] = {*dir(holder), *fields}
    return {key: sorted(x for x in names if x[0] != "_") for key, names in found.items()}


@COMPILED
def test_both_modes_have_the_same_surface() -> None:
    script = "import json; from tests.test_imports import surface; print(json.dumps(surface()))"
    plain = json.loads(run_python(script, GENALPHA_PLAIN="1").stdout)
    compiled = surface()
    assert set(plain) == set(compiled)
    different = {key: sorted(set(plain[key]) ^ set(compiled[key])) for key in plain}
    assert not {key: names for key, names in different.items() if names}


def run_python(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[1], env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


@COMPILED
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
    done = run_python(script, PYTHONPATH=str(tmp_path / "src"))
    told = done.stdout.split()
    assert told[0] == str(how == "all there")
    assert Path(told[1]).is_relative_to(tmp_path)
    assert told[1].endswith(".py") == (how != "all there")
    warned = {"one is missing": "schemes/i3.py is not compiled", "one is old": "i3.py has changed"}
    assert done.stderr.count("PlainSourcesWarning") == (how in warned)
    assert "`make setup` compiles it" in done.stderr or how not in warned
    assert warned.get(how, "") in done.stderr


def test_plain_on_purpose_is_no_reason_for_a_warning() -> None:
    done = run_python("import genalpha.imports as x; print(x.MODE)", GENALPHA_PLAIN="1")
    assert done.stdout.split() == ["plain"]
    assert "PlainSourcesWarning" not in done.stderr
