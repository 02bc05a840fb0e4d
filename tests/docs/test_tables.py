"""The tables that docs/figures.py measures, and those that are made while the docs are built."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from genalpha.driver.options import options_of
from genalpha.schemes import SCHEMES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def figures() -> Iterator[ModuleType]:
    """The script, imported; its modules find each other in its folder."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("figures")
    sys.path.remove(str(DOCS))


def pages() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "pages").rglob("*.md"))


def test_every_table_has_its_place_and_is_filled(figures: ModuleType) -> None:
    text = pages()
    for name in figures.TABLES:
        assert f"<!-- measured: {name} -->\n\n|" in text
    assert set(re.findall("<!-- measured: (.*?) -->", text)) == set(figures.TABLES)


#: Those of no more than a second.
@pytest.mark.parametrize(
    "name", ["order_i3", "order_start", "coefficients", "decay", "constants", "matrices"]
)
def test_deterministic_tables_run(figures: ModuleType, name: str) -> None:
    header, _, *rows = figures.TABLES[name]().splitlines()
    assert rows
    assert all(row.count("|") == header.count("|") for row in rows)


def test_slow_tables_run_when_they_are_small(
    figures: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures.choices, "TOLERANCES", (1e-2,))
    monkeypatch.setattr(figures.linear_solvers, "LENGTHS", (2, 3))
    monkeypatch.setattr(figures.linear_solvers, "best_of", lambda function: function() is None)
    assert len(figures.controllers().splitlines()) == 6
    assert len(figures.linear_solver_times().splitlines()) >= 7


def test_constants_of_the_trend_are_changed(
    figures: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled or not: every row differs from the one with the constants as they are."""
    monkeypatch.setattr(figures.choices, "WIDE", (1e-2, 1e-3))
    monkeypatch.setattr(figures.choices, "SCHEMES", ("GenAlphaI3",))
    first, *others = (row.split("|")[2:] for row in figures.trend().splitlines()[2:])
    assert len(others) == 11
    assert all(row != first for row in others)


def test_adjustment_of_steps_is_what_keeps_the_order(figures: ModuleType) -> None:
    """The row without the drift's correction differs: the replacement takes effect."""
    both, only, none = (
        [float(x) for x in row.split("|")[2:6]] for row in figures.order_i3().splitlines()[2:]
    )
    assert min(both) > 1.9
    assert only[3] < 1.5
    assert none[3] < 1.5


def test_the_options_on_the_api_page_are_those_declared() -> None:
    sys.path.insert(0, str(DOCS))
    hook = importlib.import_module("options")
    sys.path.remove(str(DOCS))
    text = hook.on_page_markdown((DOCS / "pages" / "api.md").read_text(encoding="utf-8"), None)
    assert "<!--" not in text
    for scheme in SCHEMES.values():
        assert f"| `{scheme.name}` | {scheme.paper} |" in text
        for option in options_of(scheme):
            assert f"| `{option.name}`" in text
            assert option.doc in text
    for name in ("usejac", "algvar", "tout1", "maxord"):
        assert f"| `{name}` |" in text
