"""Figures of L. O. Jay and D. Negrut 2007: the extended HHT-alpha method."""

from __future__ import annotations

from typing import Any

import numpy as np

from comparisons.orders import Study, alternating, equal
from comparisons.papers.study import (
    Finding,
    PaperFigure,
    convergence,
    convergence_figure,
    new_figure,
)
from genalpha.driver import integrate
from genalpha.mechanisms.exponential import hht_test
from genalpha.mechanisms.stiff_pendulum import pendulum_jn
from genalpha.numerics.accuracy import FULL

ALPHA, B = -0.15, 0.3
NUMBERS = (10, 20, 40, 80, 160, 320, 640, 1280, 2560)
#: Column of the pendulum's angle.
THETA = 2


def _test(alternates: bool, **options: Any) -> Finding:
    options = {"scheme": "HHTI2", "alpha": ALPHA, "b": B, "start": "plain", **options}
    options["newton_accuracy"] = FULL  # the finest runs would show the default one
    study = Study(
        hht_test(), 1.0, NUMBERS, options, alternating if alternates else equal,
        components=("q", "v", "a"),
    )  # fmt: skip
    steps = "steps h/3, 2h/3" if alternates else "constant steps"
    return convergence(study, f"first test, alpha = -0.15, b = 0.3, {steps}", alternates)


def _angle() -> Finding:
    solution = integrate(pendulum_jn(), 4.0, "HHTI2", 1e-2, alpha=ALPHA, start="plain")
    figure, axes = new_figure("pendulum angle")
    axes.plot(solution.t, solution.q[:, THETA], lw=1)
    axes.set_xlabel("t (s)", fontsize=8)
    axes.set_ylabel("y_3 (rad)", fontsize=8)
    low, high = solution.q[:, THETA].min(), solution.q[:, THETA].max()
    return Finding(figure, {}, f"It stays between {low:.3f} and {high:.3f} (h = 1e-2).")


def _pendulum(alpha: float) -> Finding:
    o = pendulum_jn()
    true = o.reference.motion(2.0)  # type: ignore[union-attr]
    assert true.q is not None
    assert true.v is not None
    numbers = (100, 200, 400, 800, 1600, 3200, 6400, 12800)
    errors: dict[str, list[float]] = {"q": [], "v": []}
    for number in numbers:
        end = integrate(o, 2.0, "HHTI2", 2.0 / number, alpha=alpha, b=0.0, start="plain")
        errors["q"].append(abs(end.q[-1, THETA] - true.q[THETA]))
        errors["v"].append(abs(end.v[-1, THETA] - true.v[THETA]))
    found = {x: np.array(values) for x, values in errors.items()}
    title = f"pendulum, alpha = {alpha:g}, b = 0, t = 2"
    return convergence_figure(2.0 / np.array(numbers), found, title)


ERRORS = "Global errors of y, z, a at t = 1 for the first test, alpha = -0.15, b = 0.3"
TWO = {"q": 2.0, "v": 2.0, "a": 2.0}
FIGURES = (
    PaperFigure("003", "5.1", f"{ERRORS}: order 2.", TWO, lambda: _test(False)),
    PaperFigure(
        "003", "5.2", f"{ERRORS}, with modification (3.5): order 2.", TWO,
        lambda: _test(False, variant="predicted"),
    ),
    PaperFigure(
        "003", "5.3", f"{ERRORS}, steps alternating between h/3 and 2h/3, over the "
        "average step size h/2, unmodified a: order 1.",
        {"q": 1.0, "v": 1.0, "a": 1.0}, lambda: _test(True, adjust_steps=False),
    ),
    PaperFigure(
        "003", "5.4", f"{ERRORS}, steps alternating between h/3 and 2h/3 (drawn over h/2, too), a "
        "modified by (2.3): order 2.", TWO, lambda: _test(True),
    ),
    PaperFigure("003", "5.6", "Time evolution of the pendulum angle y_3 on [0, 4].", {}, _angle),
    PaperFigure(
        "003", "5.7", "Global errors of y_3, z_3 at t = 2, alpha = 0, b = 0: order 2.",
        {"q": 2.0, "v": 2.0}, lambda: _pendulum(0.0),
    ),
    PaperFigure(
        "003", "5.8", "Global errors of y_3, z_3 at t = 2, alpha = -0.3, b = 0: order 2.",
        {"q": 2.0, "v": 2.0}, lambda: _pendulum(-0.3),
    ),
)  # fmt: skip
