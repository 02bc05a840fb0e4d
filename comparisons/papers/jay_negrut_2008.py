"""Figures of L. O. Jay and D. Negrut 2008: generalized-alpha-SOI2."""

from __future__ import annotations

import numpy as np

from comparisons.papers.study import Finding, PaperFigure, Runs, convergence, new_figure
from genalpha.driver import integrate
from genalpha.mechanisms.exponential import jay_negrut_test
from genalpha.mechanisms.slidercrank import slider_crank
from genalpha.mechanisms.stiff_pendulum import pendulum_jn
from genalpha.numerics.coefficients import Coefficients

RHO = 0.2
SHIFT = Coefficients.chung_hulbert(RHO).alpha
ALL = ("q", "v", "a", "lam", "psi")
PAIRS = (10, 20, 40, 80, 160, 320)
#: The paper does not print its alpha.
HHT = Coefficients.hht(-0.1)
STEP = 2.0**-10


def _test(adjust_steps: bool) -> Finding:
    options = {"rho_inf": RHO, "start": "plain", "adjust_steps": adjust_steps}
    runs = Runs(jay_negrut_test(), 1.0, PAIRS, ALL, "GenAlphaSOI2", options, SHIFT, alternates=True)
    which = "with" if adjust_steps else "without"
    return convergence(runs, f"test (15), steps h/3, 2h/3, {which} (14)")


def _pendulum() -> Finding:
    options = {"rho_inf": RHO, "start": "plain"}
    runs = Runs(
        pendulum_jn(), 2.0, (50, 100, 200, 400, 800, 1600), ("q", "v", "lam"), "GenAlphaSOI2",
        options, SHIFT, alternates=True,
    )  # fmt: skip
    return convergence(runs, "pendulum (16), steps h/3, 2h/3, t = 2")


def _pin_velocity(scheme: str) -> Finding:
    """Velocity of the pin at O: the rates of the crank's two constraints against each other."""
    o = slider_crank()
    solution = integrate(o, 1.0, scheme, STEP, coefficients=HHT)
    rates = np.array(
        [
            o.holonomic_rate(t, q, v)[:2]
            for t, q, v in zip(solution.t, solution.q, solution.v, strict=True)
        ]
    )
    figure, axes = new_figure(f"slider-crank, {scheme} with HHT coefficients, h = 2^-10")
    marks = "-" if scheme == "GenAlphaI3" else "."
    axes.plot(rates[:, 0], rates[:, 1], marks, lw=0.7, ms=3)
    axes.set_xlabel("velocity constraint in x", fontsize=8)
    axes.set_ylabel("velocity constraint in y", fontsize=8)
    return Finding(figure, {}, f"Largest violation: {np.abs(rates).max():.1e} m/s.")


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
        "Velocity constraint violation of HHT-I3 on a slider-crank, h = 2^-10: a limit cycle of "
        "magnitude about 1e-6. (Its model is in another paper: here that of Arnold and Brüls, "
        "alpha = -0.1.)", {}, lambda: _pin_velocity("GenAlphaI3"),
    ),
    PaperFigure(
        "002", "7",
        "The same of HHT-SOI2: random points within machine precision.",
        {}, lambda: _pin_velocity("GenAlphaSOI2"),
    ),
)  # fmt: skip
