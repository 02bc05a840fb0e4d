"""Figures of L. O. Jay and D. Negrut 2008: generalized-alpha-SOI2."""

from __future__ import annotations

from typing import Any

import numpy as np

from comparisons.orders import Study, alternating
from comparisons.papers.study import Finding, PaperFigure, convergence, new_figure
from genalpha.driver import integrate
from genalpha.mechanisms.exponential import jay_negrut_test
from genalpha.mechanisms.slidercrank import slider_crank
from genalpha.mechanisms.stiff_pendulum import pendulum_jn
from genalpha.numerics.coefficients import Coefficients

RHO = 0.2
SOI2 = {"scheme": "GenAlphaSOI2"}
ALL = ("q", "v", "a", "lam", "psi")
PAIRS = (10, 20, 40, 80, 160, 320, 640)
#: The paper does not print its alpha.
HHT = Coefficients.hht(-0.1)
STEP = 2.0**-10
#: Accuracy of Newton's iteration that leaves rounding errors only.
FULL = 1e-13


def _test(adjust_steps: bool) -> Finding:
    options = {"rho_inf": RHO, "start": "plain", "adjust_steps": adjust_steps, **SOI2}
    study = Study(jay_negrut_test(), 1.0, PAIRS, options, alternating)
    which = "with" if adjust_steps else "without"
    return convergence(study, f"test (15), steps h/3, 2h/3, {which} (14)")


def _pendulum() -> Finding:
    study = Study(
        pendulum_jn(), 2.0, (50, 100, 200, 400, 800, 1600, 3200),
        {"rho_inf": RHO, "start": "plain", **SOI2}, alternating, components=("q", "v", "lam"),
    )  # fmt: skip
    return convergence(study, "pendulum (16), steps h/3, 2h/3, t = 2")


def _pin_rates(scheme: str, h: float) -> np.ndarray:
    """Velocity of the pin at O: the rates of the crank's two constraints."""
    o = slider_crank()
    solution = integrate(o, 1.0, scheme, h, coefficients=HHT, newton_accuracy=FULL, start="plain")
    return np.array(
        [
            o.holonomic_rate(t, q, v)[:2]
            for t, q, v in zip(solution.t, solution.q, solution.v, strict=True)
        ]
    )


def _phase_plot(scheme: str, rates: np.ndarray, marks: str) -> Any:
    """Draw the two rates against each other."""
    figure, axes = new_figure(f"slider-crank, {scheme} with HHT coefficients, h = 2^-10")
    axes.plot(rates[:, 0], rates[:, 1], marks, lw=0.7, ms=3)
    axes.ticklabel_format(scilimits=(-2, 2))
    axes.set_xlabel("rate of the constraint in x (m/s)", fontsize=8)
    axes.set_ylabel("rate of the constraint in y (m/s)", fontsize=8)
    return figure


def _index_3() -> Finding:
    rates, finer = (_pin_rates("GenAlphaI3", h) for h in (STEP, STEP / 2.0))
    largest, smaller = np.abs(rates).max(), np.abs(finer).max()
    return Finding(_phase_plot("GenAlphaI3", rates, "-"), {}, (
        f"Largest violation: {largest:.1e} m/s. This cannot be compared with the paper's 1e-6, "
        f"because it is another mechanism. With half the step it is {smaller:.1e} m/s, less by "
        f"the factor {largest / smaller:.1f}: it is of order h², and how large it is depends on "
        "how fast the mechanism moves. Confirmed are a violation that stays bounded and that is "
        "far above rounding, unlike that of the next figure; the paper's number is not."
    ))  # fmt: skip


def _index_2() -> Finding:
    rates = _pin_rates("GenAlphaSOI2", STEP)
    text = f"Largest violation: {np.abs(rates).max():.1e} m/s. The mechanism is that of Fig. 6."
    return Finding(_phase_plot("GenAlphaSOI2", rates, "."), {}, text)


ERRORS = "Global errors of y, z, a, lambda, psi of generalized-alpha-SOI2 (rho_inf = 0.2)"
FIGURES = (
    PaperFigure(
        "002", "1",
        f"{ERRORS} at t = 1 for the test (15), steps alternating between h/3 and 2h/3, with the "
        "adjusting formulas (14): order 2.",
        dict.fromkeys(ALL, 2.0), lambda: _test(True),
    ),
    PaperFigure(
        "002", "2",
        f"{ERRORS} at t = 1 for the test (15), steps alternating between h/3 and 2h/3, without "
        "(14): order 1 in a, lambda, psi.",
        {"q": 2.0, "v": 2.0, "a": 1.0, "lam": 1.0, "psi": 1.0}, lambda: _test(False),
    ),
    PaperFigure(
        "002", "4",
        "Global errors of y, z, lambda of generalized-alpha-SOI2 (rho_inf = 0.2) at t = 2 for the "
        "pendulum (16), steps alternating between h/3 and 2h/3, with (14a): order 2.",
        {"q": 2.0, "v": 2.0, "lam": 2.0}, _pendulum,
    ),
    PaperFigure(
        "002", "6",
        "Velocity constraint violation of HHT-I3 on a slider-crank, at the pin between crank and "
        "ground, h = 2^-10: a limit cycle of magnitude about 1e-6. (The paper prints neither the "
        "parameters of its model, for which it refers to another paper, nor alpha: here the "
        "slider-crank of Arnold and Brüls, alpha = -0.1.)", {}, _index_3,
    ),
    PaperFigure(
        "002", "7",
        "The same of HHT-SOI2: random points within machine precision.",
        {}, _index_2,
    ),
)  # fmt: skip
