"""Figures of L. O. Jay: the generalized-alpha method with nonholonomic constraints."""

from __future__ import annotations

from comparisons.orders import Study, slope
from comparisons.papers.study import Finding, PaperFigure, convergence, convergence_figure
from genalpha.mechanisms.exponential import jay_test
from genalpha.mechanisms.rolling import rolling_disk

OPTIONS = {"scheme": "GenAlphaSOI2", "rho_inf": 0.2, "start": "plain"}


def _test() -> Finding:
    study = Study(jay_test(), 1.0, (10, 20, 40, 80, 160, 320), OPTIONS)
    return convergence(study, "test (7.1), rho_inf = 0.2, t = 1")


def _disk() -> Finding:
    numbers = (1000, 4000, 16000, 64000, 128000)
    study = Study(rolling_disk(), 10.0, numbers, OPTIONS, components=("q", "v", "psi"))
    h, errors = study.h, study.errors()
    found = convergence_figure(h, errors, "rolling disk (7.2), rho_inf = 0.2, t = 10")
    orders = [slope(h[: i + 1], errors["q"][: i + 1], 2) for i in range(1, len(numbers))]
    falling = ", ".join(f"{x:.2f}" for x in orders)
    return found._replace(
        text=f"The order of q falls towards 2 from run to run: {falling}. That is why h goes so "
        "far down."
    )


FIGURES = (
    PaperFigure(
        "000", "7.1",
        "Global errors of y, z, a, psi of (2.3) with rho_inf = 0.2 at t = 1 for the test (7.1), "
        "various constant h: order 2.",
        {"q": 2.0, "v": 2.0, "a": 2.0, "psi": 2.0}, _test,
    ),
    PaperFigure(
        "000", "7.2",
        "Global errors of y, z, psi of (2.3) with rho_inf = 0.2 at t = 10 for the rolling disk "
        "(7.2), various constant h: order 2. (Here with the term that the printed f_4 lacks.)",
        {"q": 2.0, "v": 2.0, "psi": 2.0}, _disk,
    ),
)  # fmt: skip
