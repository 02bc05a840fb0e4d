"""The page of the papers' figures: Markdown, with the measured orders, and its images."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from comparisons.environment import environment, now
from comparisons.papers import FIGURES
from comparisons.papers.open_questions import hht_multipliers, one_psi
from comparisons.papers.printed import Row
from comparisons.papers.study import Finding, PaperFigure
from comparisons.report import png
from comparisons.table import grid, markdown, number

DPI = 100
#: A measured order this near to the claimed one confirms it.
NEAR = 0.1
TITLES = {
    "000": "Jay: nonholonomic constraints",
    "001": "Arnold and Brüls 2007: index 3",
    "002": "Jay and Negrut 2008: generalized-alpha-SOI2",
    "003": "Jay and Negrut 2007: extended HHT",
}
INTRODUCTION = """\
# The papers' figures, drawn again

Every figure of the papers behind genalpha, computed with genalpha and drawn beside what its caption
says; sketches of models are drawn from the mechanisms of the package. `python -m comparisons papers
--docs` makes this page. Errors are Euclidean norms at the final time; an order is the slope between
the two finest runs, and confirmed if it is within 0.1 of the paper's. All runs start as the papers
do, with a := the initial acceleration (`start="plain"`). The papers are known to us as text without
pictures: compared is what captions and sentences say. The fifth paper (Mukharlyamov 2000) has no
figure. Where everything else of the papers is, says the [list of all items](theory/items.md).
"""
ONE_PSI = """\
## Open question 1: one psi in SOI2

Jay and Negrut 2008 leave "to be investigated" whether psi-tilde may be replaced by psi in (13d),
with (13b) and (13h) dropped. Both schemes, solved as printed by Newton's method to rounding
errors, constant steps, t = 1, errors at h = 1/160:
"""
ONE_PSI_ANSWER = """\
**It keeps second order** in q, v, lam and psi, on the paper's nonlinear test (15) and on a skate
that slides in a bowl (one holonomic and one nonholonomic constraint), with errors of the same size.
This is an experiment, not a proof. genalpha keeps (13) as printed: its psi-tilde costs one more
unknown per nonholonomic constraint, and only together with holonomic ones.
"""
MULTIPLIERS = """\
## Open question 2: the multiplier of the extended HHT

(3.4) has Lambda_0 and Lambda_1 in every step and no lambda at t_n. Largest errors of several
estimates over [0, 1], the first five steps left out, alpha = -0.1, h = 1/400:

- *Lambda_1* and the *mean* of both, taken for lambda at the end of the step (in the variant
  "midpoint" there is one multiplier only, and both are it);
- the mean taken for lambda in the *middle* of the step;
- the means of two steps *extrapolated* to the end;
- lambda from the constraints at *acceleration level* (3.2), which is what `HHTI2` reports.
"""


def write_page(
    folder: Path, figures: Iterable[PaperFigure] = FIGURES, tell: Callable[[str], None] = print
) -> Path:
    """Draw all figures, run the experiments, and write ``papers.md`` and ``images/``."""
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    parts, paper = [INTRODUCTION], ""
    for figure in figures:
        tell(f"{figure.paper}, Fig. {figure.number}")
        if figure.paper != paper:
            paper = figure.paper
            parts.append(f"## {TITLES[paper]}\n")
        finding = figure.study()
        (images / f"{figure.name}.png").write_bytes(png(finding.figure, DPI))
        parts.append(_section(figure, finding))
    tell("open questions")
    parts += [ONE_PSI, rows_table(("problem", "rho_inf", "scheme"), one_psi()), ONE_PSI_ANSWER]
    found = hht_multipliers()
    parts += [MULTIPLIERS, rows_table(("problem", "variant"), found), _best(found)]
    here = environment()
    parts.append(f"Made {now()[:10]} with genalpha {here['genalpha']} (code {here['code']}), "
                 f"numpy {here['numpy']}, scipy {here['scipy']}, on {here['cpu']}.\n")  # fmt: skip
    path = folder / "papers.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _section(figure: PaperFigure, finding: Finding) -> str:
    lines = [f"### Fig. {figure.number}", "", f"*The paper:* {figure.caption}", ""]
    panels = len([ax for ax in finding.figure.axes if ax.get_subplotspec()])
    wide = "{ .wide }" if panels > 1 else ""  # readable on a phone, too
    lines += [f"![Fig. {figure.number} of {figure.paper}](images/{figure.name}.png){wide}", ""]
    if finding.orders:
        verdict = "confirmed" if confirmed(figure, finding) else "not confirmed"
        lines += [orders_table(figure, finding), "", f"*The paper's orders are {verdict}.*", ""]
    if finding.text:
        lines += [f"*Here:* {finding.text}", ""]
    return "\n".join(lines)


def orders_table(figure: PaperFigure, finding: Finding) -> str:
    """Return measured beside claimed orders."""
    names = list(finding.orders)
    claimed = [number(figure.expected.get(x), "g").text for x in names]
    found = [number(finding.orders[x], ".2f").text for x in names]
    return markdown(grid(["order of", *names], [["paper", *claimed], ["here", *found]])).rstrip()


def confirmed(figure: PaperFigure, finding: Finding) -> bool:
    """Tell whether the measured orders are the claimed ones."""
    return all(abs(finding.orders[x] - p) <= NEAR for x, p in figure.expected.items())


def rows_table(headers: tuple[str, ...], rows: list[Row]) -> str:
    """Return an experiment's table: error and order of every variable."""
    names = list(dict.fromkeys(name for row in rows for name in row.errors))
    lines = [[*row.labels, *(_cell(row, x) for x in names)] for row in rows]
    return markdown(grid([*headers, *names], lines, left=len(headers)))


def _cell(row: Row, name: str) -> str:
    if name not in row.errors:
        return number(None).text
    return f"{row.errors[name]:.1e} ({row.orders[name]:.1f})"


def _best(rows: list[Row]) -> str:
    """Name the best estimate of lambda at t_n of every row."""
    at_end = [x for x in rows[0].errors if "middle" not in x]
    winners = [min(at_end, key=lambda x: row.errors[x]) for row in rows]
    counts = ", ".join(f"{x}: {winners.count(x)}" for x in at_end if x in winners)
    return f"Best estimate of lambda at t_n, by number of rows: {counts}.\n"
