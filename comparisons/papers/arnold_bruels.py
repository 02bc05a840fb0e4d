"""Figures of M. Arnold and O. Brüls 2007: slider-crank and Andrews' squeezing mechanism."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from comparisons.papers.study import (
    Finding,
    PaperFigure,
    convergence_figure,
    new_figure,
)
from genalpha.driver import Solution, UndampedWarning, integrate
from genalpha.mechanisms.sketches import sketch
from genalpha.mechanisms.slidercrank import slider_crank
from genalpha.mechanisms.squeezer_absolute import andrews_absolute
from genalpha.model import Mechanism

RHO = 0.7
#: Columns of the slider-crank: crank angle, sprung mass.
THETA1, X4 = 2, 7
#: Columns of the squeezer: rotation of body 1, joint P (called E in the test set).
BETA, P = 0, slice(23, 25)
#: Constraints that hold body 1: internal forces in x and y.
FORCES = slice(0, 2)
#: The start (3) of the paper, a0 = q''0.
START = "plain"
#: Errors of multipliers alternate from step to step: the largest one of the last so many is shown.
LAST = 5


def _crank_motion() -> Finding:
    o = slider_crank()
    solution = integrate(o, 1.0, "GenAlphaI3", 5e-3, rho_inf=RHO, start=START)
    figure, axes = new_figure("slider-crank, h = 5e-3, rho_inf = 0.7", columns=2)
    for ax, column, name in zip(axes, (THETA1, X4), ("theta_1 (rad)", "x_4 (m)"), strict=True):
        ax.plot(solution.t, solution.q[:, column], lw=1)
        ax.set_title(name, fontsize=8)
        ax.set_xlabel("t (s)", fontsize=8)
    true = o.reference.motion(1.0).q  # type: ignore[union-attr]
    end = solution.q[-1]
    return Finding(figure, {}, (
        f"At t = 1: theta_1 = {end[THETA1]:.4f} (exact {true[THETA1]:.4f}), "
        f"x_4 = {end[X4]:.4f} (exact {true[X4]:.4f})."
    ))  # fmt: skip


def _relative_errors(
    o: Mechanism,
    t: float,
    numbers: tuple[int, ...],
    column: int,
    name: str,
    trusted: int | None = None,
) -> Finding:
    """Relative errors of one coordinate and of the first multiplier at the end."""
    assert o.reference is not None
    true = o.reference.motion(t)
    assert true.q is not None
    assert true.lam is not None
    errors: dict[str, list[float]] = {name: [], "lam_1": []}
    for number in numbers:
        solution = integrate(o, t, "GenAlphaI3", t / number, rho_inf=RHO, start=START)
        lam = [o.reference.motion(x).lam[0] for x in solution.t[-LAST:]]
        errors[name].append(abs(solution.q[-1, column] / true.q[column] - 1.0))
        errors["lam_1"].append(np.abs((solution.lam[-LAST:, 0] - lam) / true.lam[0]).max())
    h = t / np.array(numbers)
    title = f"{o.name}, rho_inf = 0.7, t = {t:g} s"
    found = {x: np.array(values) for x, values in errors.items()}
    return convergence_figure(h, found, title, kind="relative error", last=trusted)


def _crank_convergence() -> Finding:
    return _relative_errors(
        slider_crank(), 1.0, (200, 400, 800, 1600, 3200, 6400), THETA1, "theta_1"
    )


def _squeezer_convergence() -> Finding:
    numbers = (100, 200, 400, 800, 1600, 3200, 12800, 51200, 204800)
    found = _relative_errors(andrews_absolute(), 0.03, numbers, BETA, "beta", trusted=6)
    text = (
        f"The orders are those of the six largest h; lam_1 is the largest error of the last {LAST} "
        "steps. With the smallest h it shows what the paper says of it: rounding errors of the "
        "constraints reach the multipliers divided by h²."
    )
    return found._replace(text=text)


@lru_cache(maxsize=2)
def _squeezer(rho_inf: float) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndampedWarning)  # it is what Fig. 8 is about
        return integrate(andrews_absolute(), 0.03, "GenAlphaI3", 3e-4, rho_inf=rho_inf, start=START)


def _snapshots() -> Finding:
    solution = _squeezer(RHO)
    chosen = np.linspace(0, len(solution.t) - 1, 9).round().astype(int)
    figure, axes = new_figure("squeezer, h = 3e-4, rho_inf = 0.7", rows=3, columns=3)
    for ax, i in zip(axes.flat, chosen, strict=True):
        for line in sketch(solution.mechanism, solution.t[i], solution.q[i]):
            ax.plot(line[:, 0], line[:, 1], "o-", ms=2, lw=1, color="#1f77b4")
        ax.set_title(f"t = {1e3 * solution.t[i]:.1f} ms", fontsize=8)
        ax.set_aspect("equal")
        ax.set_xlim(-0.09, 0.04)
        ax.set_ylim(-0.04, 0.08)
        ax.tick_params(labelsize=7)
    return Finding(
        figure, {}, "Lines join the joints of each body; the spring is drawn too. x and y in m."
    )


def _path() -> Finding:
    solution = _squeezer(RHO)
    figure, axes = new_figure("squeezer, h = 3e-4, rho_inf = 0.7", columns=2)
    _pair(axes[0], solution.t, solution.q[:, P], "position of P (m)")
    axes[1].plot(solution.t, solution.q[:, BETA], lw=1)
    axes[1].set_title("beta (rad)", fontsize=8)
    axes[1].set_xlabel("t (s)", fontsize=8)
    true = solution.mechanism.reference.motion(0.03).q  # type: ignore[union-attr]
    end = solution.q[-1, BETA]
    return Finding(figure, {}, f"beta at t = 0.03: {end:.4f} (exact {true[BETA]:.4f}).")


def _accelerations(rho_inf: float) -> Finding:
    solution = _squeezer(rho_inf)
    figure, axes = new_figure(f"squeezer, h = 3e-4, rho_inf = {rho_inf:g}", columns=2)
    _pair(axes[0], solution.t, solution.vdot[:, P], "acceleration of P (m/s²)")
    _pair(axes[1], solution.t, solution.lam[:, FORCES], "multipliers of body 1 (N)")
    swing = np.abs(np.diff(solution.lam[:, FORCES], n=2, axis=0)).max()
    other = np.abs(solution.a[1:, P] - solution.vdot[1:, P]).max()
    largest = np.abs(solution.vdot[:, P]).max()
    algorithmic = f"differs by up to {other:.0f} m/s²"
    if rho_inf == 1.0:
        algorithmic = "is the same, because alpha_m = alpha_f"
    return Finding(figure, {}, (
        f"Largest second difference of these multipliers from step to step: {swing:.3g} N. Drawn "
        f"is q'', up to {largest:.0f} m/s²; the algorithmic a of (3) {algorithmic}."
    ))  # fmt: skip


def _pair(ax: Any, t: np.ndarray, values: np.ndarray, title: str) -> None:
    ax.plot(t, values, lw=1, label=("x", "y"))
    ax.set_title(title, fontsize=8)
    ax.set_xlabel("t (s)", fontsize=8)
    ax.legend(fontsize=8)


FIGURES = (
    PaperFigure(
        "001", "2",
        "Slider-crank: crank angle theta_1 and position x_4 of the additional mass, "
        "h = 5e-3, rho_inf = 0.7.", {}, _crank_motion,
    ),
    PaperFigure(
        "001", "3",
        "Convergence of relative errors at t = 1 s for theta_1 and lambda_1: order 2.",
        {"theta_1": 2.0, "lam_1": 2.0}, _crank_convergence,
    ),
    PaperFigure(
        "001", "5", "Motion snapshots of the squeezing mechanism, h = 3e-4, rho_inf = 0.7.",
        {}, _snapshots,
    ),
    PaperFigure("001", "6", "(x, y)-position of point P and angle beta.", {}, _path),
    PaperFigure(
        "001", "7", "(x, y)-accelerations of point P and Lagrange multipliers.",
        {}, lambda: _accelerations(RHO),
    ),
    PaperFigure(
        "001", "8",
        "Without numerical damping (rho_inf = 1): accelerations of P and multipliers of the "
        "internal forces in body 1, strongly affected by numerical oscillations.",
        {}, lambda: _accelerations(1.0),
    ),
    PaperFigure(
        "001", "9",
        "Convergence of relative errors at t = 0.03 s for beta and lambda_1: order 2; for very "
        "small h the multipliers are more sensitive to numerical errors.",
        {"beta": 2.0, "lam_1": 2.0}, _squeezer_convergence,
    ),
)  # fmt: skip
