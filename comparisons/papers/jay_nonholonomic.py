"""Figures of L. O. Jay: the generalized-alpha method with nonholonomic constraints."""

from __future__ import annotations

import numpy as np

from comparisons.papers.study import (
    Finding,
    PaperFigure,
    Runs,
    convergence,
    convergence_figure,
)
from genalpha.mechanisms.exponential import jay_test
from genalpha.mechanisms.rolling import rolling_disk
from genalpha.numerics.coefficients import Coefficients

RHO = 0.2
SHIFT = Coefficients.chung_hulbert(RHO).alpha
OPTIONS = {"rho_inf": RHO, "start": "plain"}


def _test() -> Finding:
    runs = Runs(
        jay_test(), 1.0, (10, 20, 40, 80, 160, 320), ("q", "v", "a", "psi"), "GenAlphaSOI2",
        OPTIONS, SHIFT,
    )  # fmt: skip
    return convergence(runs, "test (7.1), rho_inf = 0.2, t = 1")


def _disk() -> Finding:
    numbers = (1000, 4000, 16000, 64000, 128000)
    runs = Runs(rolling_disk(), 10.0, numbers, ("q", "v", "psi"), "GenAlphaSOI2", OPTIONS)
    h, errors = runs.errors()
    found = convergence_figure(h, errors, "rolling disk (7.2), rho_inf = 0.2, t = 10")
    q = np.log([error["q"] for error in errors])
    falling = ", ".join(f"{p:.2f}" for p in np.diff(q) / np.diff(np.log(h)))
    return found._replace(
        text=f"The order of q falls towards 2 from run to run: {falling}. That is why h goes so "
        "far down: the paper's own range of h cannot be read from its caption."
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
