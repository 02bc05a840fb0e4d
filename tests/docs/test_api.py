"""The API pages: what their tables say of parameters is what the functions themselves say."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import genalpha.mechanisms

griffe = pytest.importorskip("griffe")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "pages" / name for name in ("api.md", "mechanisms.md")]
NAMED = re.compile(r"^::: genalpha\.([\w.]+)", re.MULTILINE)

MADE = [
    f"{function.__module__}.{name}".removeprefix("genalpha.")  # one is named as its module
    for name, function in genalpha.mechanisms.catalogue().items()
]


@cache
def package() -> Any:
    """The sources as the documentation reads them."""
    return griffe.load(
        "genalpha",
        search_paths=[str(ROOT / "src")],
        docstring_parser="numpy",
        docstring_options={"warnings": False},
        allow_inspection=False,
        resolve_aliases=True,
        extensions=griffe.load_extensions("dataclasses", str(ROOT / "docs" / "signatures.py")),
    )


def documented() -> list[str]:
    """Functions and classes of the pages, methods included."""
    names = {name for page in PAGES for name in NAMED.findall(page.read_text(encoding="utf-8"))}
    names |= set(MADE)
    found = []
    for item in (package()[name] for name in sorted(names)):
        item = item.final_target if item.is_alias else item
        parts = [item, *(m for m in item.members.values() if not m.is_alias)]
        found += [part.path for part in parts if part.is_function or part.is_class]
    return sorted({path.removeprefix("genalpha.") for path in found if "._" not in path})


def shown(path: str) -> dict[str, Any]:
    """Parameters as the page shows them, by name."""
    item = package()[path]
    sections = item.docstring.parsed if item.docstring else []
    kind = griffe.DocstringSectionKind.parameters
    return {p.name: p for section in sections if section.kind is kind for p in section.value}


def alive(path: str) -> Any:
    """The object itself."""
    item = package()[path]
    module = importlib.import_module(item.module.path)
    found: Any = module
    for name in item.path.removeprefix(f"{item.module.path}.").split("."):
        found = getattr(found, name)
    return found


def test_there_is_something_to_look_at() -> None:
    names = documented()
    assert {"driver.integrate.integrate", "model.mechanism.Mechanism"} <= set(names)
    assert len(names) > 60


@pytest.mark.parametrize("path", documented())
def test_defaults_are_those_of_the_signature(path: str) -> None:
    if not shown(path):
        return
    if path.startswith("assimulo"):
        pytest.importorskip("assimulo")
    item = alive(path)
    try:
        signature = inspect.signature(item).parameters
    except ValueError:  # a compiled class does not tell
        signature = inspect.signature(item.__init__).parameters
    space = vars(importlib.import_module(package()[path].module.path))
    for name, parameter in shown(path).items():
        own = signature.get(name.lstrip("*"))
        if own is None:  # documented, and handed on by **arguments
            assert any(p.kind is p.VAR_KEYWORD for p in signature.values()), name
        elif own.kind in (own.VAR_KEYWORD, own.VAR_POSITIONAL):
            assert parameter.value in ("{}", "()"), name  # without one, "required" is shown
        elif own.default is own.empty:
            assert parameter.value is None, name
        else:
            assert eval(str(parameter.value), dict(space)) == own.default, name


@pytest.mark.parametrize("name", ["from_lagrangian", "from_sympy"])
def test_arguments_handed_on_have_their_own_defaults(name: str) -> None:
    formulas = pytest.importorskip("genalpha.formulas", reason="needs the extra [symbolic]")
    signature = inspect.signature(getattr(formulas, name)).parameters
    parameters = shown(f"model.mechanism.Mechanism.{name}")
    assert {"q0", "v0", "parameters", "backend"} <= set(parameters)
    for key, parameter in parameters.items():
        own = signature[key.lstrip("*")]
        if own.kind is own.VAR_KEYWORD:
            assert parameter.value == "{}"
        else:
            known = None if own.default is own.empty else own.default
            value = parameter.value
            assert value is None if own.default is own.empty else eval(str(value)) == known, key


def test_everything_on_the_pages_is_described() -> None:
    """Types are types, and no line of attributes or parameters is without words."""
    silent = []
    for path in documented():
        item = package()[path]
        for section in item.docstring.parsed if item.docstring else []:
            if section.kind.value in ("parameters", "attributes"):
                silent += [f"{path}: {x.name}" for x in section.value
                           if str(x.annotation) == "optional"]  # fmt: skip
            if section.kind.value == "attributes":
                silent += [f"{path}: {x.name}" for x in section.value
                           if not x.description]  # fmt: skip
    assert silent == []


@pytest.mark.parametrize("path", MADE)
def test_types_of_mechanisms_are_types(path: str) -> None:
    """Units are in the description; the column of types has those of the signature."""
    own = {p.name: p for p in package()[path].parameters}
    for name, parameter in shown(path).items():
        if name in own:
            assert str(parameter.annotation) == str(own[name].annotation), name


def test_compiled_classes_show_nothing_of_cython() -> None:
    members = package()["numerics.counters.Counters"].members
    assert "nsteps" in members
    assert not [name for name in members if "pyx" in name]
