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
    monkeypatch.setattr(figures.linear_solvers, "LENGTHS", (2, 3))
    monkeypatch.setattr(figures.linear_solvers, "best_of", lambda function: function() is None)
    assert len(figures.linear_solver_times().splitlines()) >= 7


def test_constants_of_the_step_control(
    figures: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled or not, every change has an effect, and without the trend steps lag behind."""
    table = figures.ablations
    monkeypatch.setattr(table, "TOLERANCES", (1e-2, 1e-3, 1e-4))
    assert not set(table.TRAINING) & set(table.HELD_OUT)
    _, rows = table.ablation(("slider_crank", "driven_pendulum"))
    first, *others = (row[1:] for row in rows)
    assert len(others) == 1 + 3 * len(table.CONSTANTS)
    assert [cell.split(" · ")[0] for cell in first[:2]] == ["1.00", "1.00"]
    same = [row[0] for row, cells in zip(rows[1:], others, strict=True) if cells == first]
    # a bound that these motions do not reach
    assert all("STEEPEST" in text for text in same), same
    # nothing that is changed by a quarter costs much: no constant sits on an edge
    quarters = [row for row in rows[2:] if "taken away" not in row[0]]
    assert all(0.8 < float(row[-2]) < 1.25 for row in quarters), quarters


def test_accuracy_of_newton_is_not_on_an_edge(
    figures: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a mechanism that it was not chosen on, five times less costs work and gains nothing."""
    table = figures.ablations
    monkeypatch.setattr(table, "TOLERANCES", (1e-2, 1e-3, 1e-4))
    _, rows = table.newton_shares(("driven_pendulum",), (0.2,))
    assert [row[0] for row in rows[::2]] == [f"`{name}`" for name in SCHEMES]
    for first, less in zip(rows[::2], rows[1::2], strict=True):
        assert first[-1] == "1.00"
        assert float(less[1]) == pytest.approx(0.2 * float(first[1]))
        assert 0.95 < float(less[-1]) < 1.6


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
