"""The papers' sketches of their models, drawn from the mechanisms of the package."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from comparisons.papers.study import Finding, PaperFigure, new_figure
from genalpha.mechanisms.sketches import sketch
from genalpha.mechanisms.slidercrank import slider_crank
from genalpha.mechanisms.squeezer import SqueezerParameters
from genalpha.mechanisms.squeezer_absolute import andrews_absolute
from genalpha.mechanisms.stiff_pendulum import pendulum_jn

Array = np.ndarray
BODY, GROUND, SPRING = "#1f77b4", "0.35", "#d62728"


def _label(ax: Any, text: str, at: Any, offset: tuple[float, float] = (4.0, 4.0)) -> None:
    ax.annotate(text, at, offset, textcoords="offset points", fontsize=8)


def _ground(ax: Any, at: Any, size: float) -> None:
    """Draw a fixed pin: a triangle that stands on hatched ground."""
    x, y = at
    ax.plot(*_closed([[0, 0], [-1, -1.4], [1, -1.4]], x, y, size), color=GROUND, lw=1)
    for i in range(5):
        left = x + size * (0.5 * i - 1.0)
        low = y - 1.4 * size
        ax.plot([left, left - 0.4 * size], [low, low - 0.4 * size], color=GROUND, lw=0.8)


def _closed(corners: Any, x: float, y: float, size: float) -> Array:
    points = np.array([x, y]) + size * np.array([*corners, corners[0]], dtype=float)
    return points.T


def _zigzag(start: Any, end: Any, width: float) -> Array:
    """Return a spring between two points, shape (2, k)."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    along = np.r_[0.0, 0.15, np.linspace(0.2, 0.8, 9), 0.85, 1.0]
    across = width * np.r_[0.0, 0.0, 0.0, np.tile([1.0, -1.0], 4)[:7], 0.0, 0.0, 0.0]
    normal = np.array([a[1] - b[1], b[0] - a[0]]) / np.hypot(*(b - a))
    return (a + np.outer(along, b - a) + np.outer(across, normal)).T


def _arc(ax: Any, centre: Any, radius: float, first: float, last: float, text: str) -> None:
    """Draw an angle from `first` to `last`, with an arrow at its end."""
    turn = np.linspace(first, last, 40)
    x, y = centre[0] + radius * np.cos(turn), centre[1] + radius * np.sin(turn)
    ax.plot(x[:-1], y[:-1], color="k", lw=0.8)
    arrow = {"arrowstyle": "->", "lw": 0.8}
    ax.annotate("", (x[-1], y[-1]), (x[-2], y[-2]), arrowprops=arrow)
    _label(ax, text, (x[20], y[20]))


def _bare(title: str) -> tuple[Any, Any]:
    figure, ax = new_figure(title)
    ax.set_aspect("equal")
    ax.axis("off")
    return figure, ax


def _crank(sprung: bool) -> Any:
    """Draw a slider-crank, with or without mass and spring at the slider."""
    l1 = 0.3
    rest = 0.22  # the model's spring has the length 0: drawn longer, so that it can be seen
    o = slider_crank(l1=l1, rest=rest, angle0=0.33 * pi)
    x1, y1, theta1, x2, y2, _, x3, x4, x5, y5 = o.q0
    figure, ax = _bare("slider-crank" + (" with a mass on a spring" if sprung else ""))
    ax.plot([-0.1, x4 + 0.12], [-0.052, -0.052], color=GROUND, lw=1)
    ax.plot([0, x5, x3], [0, y5, 0], "o-", color=BODY, lw=2.5, ms=6, mfc="w")
    box = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    ax.fill(*_closed(box, x3, 0.0, 0.045), fc="w", ec=BODY, lw=1.5)
    _ground(ax, (0.0, 0.0), 0.022)
    _arc(ax, (0, 0), 0.11, 0.0, theta1, r"$\theta_1$")
    _label(ax, "1", (x1, y1), (-12.0, 2.0))
    _label(ax, "2", (x2, y2))
    _label(ax, "3", (x3, 0.05), (-3.0, 2.0))
    if sprung:
        ax.plot(*_zigzag((x3 + 0.045, 0.0), (x4 - 0.05, 0.0), 0.018), color=SPRING, lw=1.2)
        ax.fill(*_closed(box, x4, 0.0, 0.05), fc="w", ec=BODY, lw=1.5)
        _label(ax, "4", (x4, 0.055), (-3.0, 2.0))
        _label(ax, "k", (0.5 * (x3 + x4), 0.02))
        _label(ax, "(x5, y5)", (x5, y5), (6.0, 2.0))
        _arc(ax, (0, 0), 0.06, -0.35 * pi, 0.3 * pi, "T")
        for x, y, text in ((x3, -0.1, "x3"), (x4, -0.15, "x4")):
            ax.annotate("", (x, y), (0.0, y), arrowprops={"arrowstyle": "->", "lw": 0.7})
            _label(ax, text, (x, y), (-14.0, 3.0))
        ax.set_ylim(-0.17, y5 + 0.05)
    else:
        _label(ax, "O", (0.0, 0.0), (-14.0, 3.0))
    return figure


def _spring_crank() -> Finding:
    return Finding(_crank(True), {}, (
        "Bodies 1 to 4, the hinge (x5, y5), the torque T. The model's spring is undeformed at the "
        "length 0, which the paper leaves open; it is drawn longer."
    ))  # fmt: skip


def _rigid_crank() -> Finding:
    return Finding(_crank(False), {}, (
        "The text version of the paper has the caption only: O is the pin whose velocity Figs. 6 "
        "and 7 show."
    ))  # fmt: skip


def _andrews() -> Finding:
    """Draw the seven bodies at the start, with the points' letters."""
    o, p = andrews_absolute(), SqueezerParameters()
    figure, ax = _bare("Andrews' squeezing mechanism at its start")
    *bodies, spring = sketch(o, 0.0, o.q0)
    for line in bodies:
        ax.plot(line[:, 0], line[:, 1], "o-", color=BODY, lw=2, ms=4, mfc="w")
    ax.plot(*_zigzag(spring[0], spring[1], 0.003), color=SPRING, lw=1.2)
    fixed: dict[str, Any] = {
        "O": (0.0, 0.0),
        "A": (p.xa, p.ya),
        "B": (p.xb, p.yb),
        "C": (p.xc, p.yc),
    }
    moving = dict(zip("FEGHD", o.q0[21:].reshape(5, 2), strict=True))
    for name, at in fixed.items():
        _ground(ax, at, 0.0022)
        _label(ax, name, at, (-12.0, 5.0))
    for name, at in moving.items():
        _label(ax, "P = E" if name == "E" else name, at, (-4.0, 7.0))
    centres = o.q0[7:21].reshape(7, 2)
    for i, at in enumerate(centres, start=1):
        ax.plot(*at, "k+", ms=4)
        _label(ax, str(i), at, (3.0, -9.0))
    _arc(ax, (0.0, 0.0), 0.012, 0.0, 0.4 * pi, r"$\beta$, torque")
    return Finding(figure, {}, (
        "Fixed points O, A, B, C, moving joints F, E, G, H, D; crosses are centres of mass of the "
        "bodies 1 to 7. Letters as in the test sets; the paper's P is E."
    ))  # fmt: skip


def _pendulum() -> Finding:
    """Draw the rod at an angle, with its spring and damper."""
    length, theta = 2.0, 1.5 * pi + 0.6
    tip = 2.0 * length * np.array([np.cos(theta), np.sin(theta)])
    figure, ax = _bare("pendulum with torsional spring and damper")
    ax.plot([0, tip[0]], [0, tip[1]], color=BODY, lw=6, solid_capstyle="round", alpha=0.5)
    ax.plot(0.5 * tip[0], 0.5 * tip[1], "k+", ms=8)
    _label(ax, "(x, y), m", 0.5 * tip, (8.0, 0.0))
    ax.plot([0, 1.2], [0, 0], color="k", lw=0.6)
    ax.plot([0, 0], [0, -4.0], color="k", lw=0.5, ls=":")
    _arc(ax, (0, 0), 0.8, 0.0, theta, r"$\theta$")
    turn = np.linspace(0.0, 4.0 * pi, 120)
    radius = np.linspace(0.1, 0.45, 120)
    ax.plot(radius * np.cos(turn), radius * np.sin(turn), color=SPRING, lw=1)
    _label(ax, "k, c", (0.1, 0.45), (8.0, 0.0))
    _label(ax, "L", 0.25 * tip, (7.0, 0.0))
    _label(ax, "L", 0.75 * tip, (7.0, 0.0))
    ax.annotate("g", (-1.6, -3.2), (-1.6, -2.2), arrowprops={"arrowstyle": "->"}, fontsize=8)
    _ground(ax, (0.0, 0.0), 0.16)
    o = pendulum_jn()
    return Finding(figure, {}, (
        f"Of length 2 L = 4, hinged at its end: the centre is at L (cos θ, sin θ), the moment of "
        f"inertia m L²/3 = {o.mass(0.0, o.q0)[2, 2]:.4g}. The spring is relaxed at θ = 3π/2 "
        "(dotted), where the motion starts."
    ))  # fmt: skip


CRANK = PaperFigure(
    "001", "1", "Slider-crank mechanism (a sketch of the model).", {}, _spring_crank
)
ANDREWS = PaperFigure(
    "001", "4", "Andrews' squeezing mechanism (a sketch of the model).", {}, _andrews
)
PENDULUM_2008 = PaperFigure(
    "002", "3",
    "A pendulum model; m = 5, L = 2, k = 3000, c = 100, g = 9.81, θ(0) = 3π/2, θ'(0) = 10 "
    "(a sketch of the model).", {}, _pendulum,
)  # fmt: skip
RIGID_CRANK = PaperFigure(
    "002", "5", "Slider crank mechanism (a sketch of the model).", {}, _rigid_crank
)
PENDULUM_2007 = PaperFigure(
    "003", "5.5", "Pendulum model (a sketch; the model is that of 002, Fig. 3).", {}, _pendulum
)
