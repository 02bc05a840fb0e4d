"""The figures of the papers, drawn again."""

from comparisons.papers import (
    arnold_bruels,
    jay_negrut_2007,
    jay_negrut_2008,
    jay_nonholonomic,
    models,
)
from comparisons.papers.study import Finding, PaperFigure

_ALL = (
    *jay_nonholonomic.FIGURES,
    models.CRANK,
    models.ANDREWS,
    *arnold_bruels.FIGURES,
    models.PENDULUM_2008,
    models.RIGID_CRANK,
    *jay_negrut_2008.FIGURES,
    models.PENDULUM_2007,
    *jay_negrut_2007.FIGURES,
)
FIGURES: tuple[PaperFigure, ...] = tuple(
    sorted(_ALL, key=lambda figure: (figure.paper, float(figure.number)))
)

__all__ = ["FIGURES", "Finding", "PaperFigure"]
