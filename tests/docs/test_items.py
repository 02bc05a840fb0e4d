"""The list of the papers' items: complete, and without an empty cell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from comparisons.papers import FIGURES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pages" / "theory" / "items.md"
PAPERS = {
    "001": "Arnold and Brüls 2007",
    "002": "Jay and Negrut 2008",
    "000": "Jay: nonholonomic constraints",
    "003": "Jay and Negrut 2007",
    "004": "Mukharlyamov 2000",
}


def numbered(section: int, last: int, without: tuple[int, ...] = ()) -> set[str]:
    return {f"{section}.{i}" for i in range(1, last + 1) if i not in without}


#: All numbered equations of the papers.
EQUATIONS = {
    "000": {*numbered(1, 2), *numbered(2, 3), *numbered(3, 2), *numbered(4, 5), *numbered(5, 7),
            *numbered(6, 2), *numbered(7, 2)},
    "001": {str(i) for i in range(1, 50)},
    "002": {str(i) for i in range(1, 18)},
    "003": {*numbered(2, 3), *numbered(3, 5), *numbered(4, 21, without=(7,)), "6.1"},
    "004": {*numbered(1, 5), *numbered(2, 11), *numbered(3, 12), *numbered(5, 13)},
}  # fmt: skip
NAMED = {
    "000": {"Theorem 3.1", "Theorem 4.1", "Lemma 5.1", "Theorem 5.2", "Theorem 6.1"},
    "001": {"Algorithm 1", "Lemma 1", "Lemma 2", "Lemma 3"},
    "002": {"Theorem 1"},
    "003": {"Theorem 4.1", "Remark 4.2", "Theorem 4.3", "Theorem 4.4", "Theorem 4.5"},
    "004": {*(f"Theorem {i}" for i in range(1, 8)), "Definition 1", "Definition 2"},
}


def rows(paper: str) -> list[list[str]]:
    text = PAGE.read_text(encoding="utf-8")
    part = text.split(f"\n## {PAPERS[paper]}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def expanded(cell: str) -> set[str]:
    """The numbers of equations that a cell names; (3)–(5) are three of them."""
    found = set(re.findall(r"\((\d+(?:\.\d+)?)\)", cell))
    for first, last in re.findall(r"\(([\d.]+)\)–\(([\d.]+)\)", cell):
        head, _, low = first.rpartition(".")
        high = last.rpartition(".")[2]
        dot = "." if head else ""
        found |= {f"{head}{dot}{i}" for i in range(int(low), int(high) + 1)}
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_no_cell_is_empty(paper: str) -> None:
    assert rows(paper)
    for row in rows(paper):
        assert len(row) == 3, row
        assert all(row), row


@pytest.mark.parametrize("paper", PAPERS)
def test_every_equation_and_theorem_is_there(paper: str) -> None:
    items = [row[0] for row in rows(paper)]
    assert EQUATIONS[paper] - set().union(*map(expanded, items)) == set()
    assert {name for name in NAMED[paper] if not any(name in item for item in items)} == set()


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_is_there(paper: str) -> None:
    items = ", ".join(row[0] for row in rows(paper))
    listed = set(re.findall(r"Fig\. ([\d.]+\d|\d)", items))
    assert listed == {figure.number for figure in FIGURES if figure.paper == paper}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_tests_that_it_names_exist(paper: str) -> None:
    cells = " ".join(row[2] for row in rows(paper))
    named = set(re.findall(r"`(tests/\w+/test_\w+\.py)`", cells))
    assert named or paper == "004"
    assert {name for name in named if not (ROOT / name).exists()} == set()
