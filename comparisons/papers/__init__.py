"""The numerical figures of the papers, drawn again."""

from comparisons.papers import arnold_bruels, jay_negrut_2007, jay_negrut_2008, jay_nonholonomic
from comparisons.papers.study import Finding, PaperFigure

FIGURES: tuple[PaperFigure, ...] = (
    *jay_nonholonomic.FIGURES,
    *arnold_bruels.FIGURES,
    *jay_negrut_2008.FIGURES,
    *jay_negrut_2007.FIGURES,
)

__all__ = ["FIGURES", "Finding", "PaperFigure"]
