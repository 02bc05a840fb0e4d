"""The papers' figures: the cheap ones run and confirm the papers' orders."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from comparisons.papers import FIGURES, open_questions, page
from comparisons.papers.printed import Row
from comparisons.papers.study import Finding, PaperFigure

CHEAP = {("000", "7.1"), ("002", "2"), ("003", "5.2")}
#: All figures of the papers; Mukharlyamov's has none.
WANTED = {
    "000": {"7.1", "7.2"},
    "001": {str(i) for i in range(1, 10)},
    "002": {str(i) for i in range(1, 8)},
    "003": {f"5.{i}" for i in range(1, 9)},
}


def test_every_figure_is_there() -> None:
    found: dict[str, set[str]] = {}
    for figure in FIGURES:
        found.setdefault(figure.paper, set()).add(figure.number)
    assert found == WANTED


@pytest.mark.parametrize(
    "figure",
    [figure for figure in FIGURES if (figure.paper, figure.number) in CHEAP],
    ids=lambda figure: figure.name,
)
def test_orders(figure: PaperFigure) -> None:
    finding = figure.study()
    plt.close(finding.figure)
    assert set(finding.orders) == set(figure.expected)
    assert page.confirmed(figure, finding)
    wrong = finding._replace(orders=dict.fromkeys(finding.orders, 0.5))
    assert not page.confirmed(figure, wrong)


@pytest.mark.parametrize("two_psi", [True, False])
def test_both_schemes_of_the_first_question(two_psi: bool) -> None:
    o = open_questions.jay_negrut_test()
    coarse, fine = (open_questions._soi2_errors(o, 0.2, 0.5, n, two_psi) for n in (10, 20))
    assert all(3.0 < coarse[x] / fine[x] < 5.5 for x in ("q", "v", "psi"))


@pytest.mark.parametrize("variant", ["end", "midpoint"])
def test_estimates_of_the_second_question(variant: str) -> None:
    o = open_questions.hht_test()
    coarse, fine = (open_questions._hht_errors(o, n, 0.0, variant) for n in (40, 80))
    ratios = {x: coarse[x] / fine[x] for x in coarse}
    assert all(1.8 < ratios[x] < 2.2 for x in ("Lambda_1", "mean"))  # first order
    second = ("mean, middle", "means extrapolated", "acceleration level")
    assert all(3.5 < ratios[x] < 4.5 for x in second)


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = Row(("a", "b"), {"x": 2.0, "y, middle": 1.0}, {"x": 1e-3, "y, middle": 1.0})
    monkeypatch.setattr(page, "one_psi", lambda: [row])
    monkeypatch.setattr(page, "hht_multipliers", lambda: [row])

    def study() -> Finding:
        return Finding(plt.figure(), {"q": 1.9}, "words")

    figure = PaperFigure("000", "7.1", "caption", {"q": 2.0}, study)
    text = page.write_page(tmp_path, [figure], tell=lambda _: None).read_text(encoding="utf-8")
    for expected in ("caption", "| here | 1.90 |", "confirmed", "words", "1.0e-03 (2.0)"):
        assert expected in text
    assert (tmp_path / "images" / "paper-000-7-1.png").exists()
