"""What the papers' figures have in common: convergence studies, their plots, their orders."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import matplotlib
import numpy as np

from genalpha.driver import Solution, integrate
from genalpha.model import Mechanism

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

Array = np.ndarray

#: The papers' marks.
MARKS = {"q": "s", "v": "o", "a": "x", "lam": "+", "psi": "*"}
#: Lines that differ, because errors of q and v are often the same to the eye.
LINES = ("-", "--", "-", "-", "-")
SIZE = (5.6, 3.6)
#: Errors below this are rounding errors and say nothing about an order.
ROUNDING = 1e-12


class Finding(NamedTuple):
    """A figure, and what it shows in numbers."""

    figure: Any
    orders: dict[str, float]
    text: str


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper.

    Parameters
    ----------
    paper, number : str
    caption : str
        What the paper says about it, with its numbers.
    expected : dict
        The orders that the paper claims.
    study : callable() -> Finding
    """

    paper: str
    number: str
    caption: str
    expected: dict[str, float]
    study: Callable[[], Finding]

    @property
    def name(self) -> str:
        """A name for files."""
        return f"paper-{self.paper}-{self.number.replace('.', '-')}"


Errors = dict[str, float]


def alternating(t_final: float, pairs: int) -> Array:
    """Return step sizes h/3, 2h/3, h/3, ... with h = t_final / pairs."""
    h = t_final / pairs
    return np.tile([h / 3.0, 2.0 * h / 3.0], pairs)


def final_errors(
    solution: Solution,
    variables: Sequence[str],
    algorithmic: Callable[[Mechanism, float], Array] | None = None,
    shift: float = 0.0,
) -> Errors:
    """Return Euclidean norms of the errors at the end.

    Parameters
    ----------
    solution : Solution
    variables : sequence of "q", "v", "a", "lam", "psi"
    algorithmic : callable(mechanism, t), optional
        The true value of what `a` approximates; default the acceleration.
    shift : float
        alpha: `a` belongs to t + alpha h.
    """
    mechanism = solution.mechanism
    assert mechanism.reference is not None
    t = float(solution.t[-1])
    true = mechanism.reference.motion(t)
    errors = {}
    for name in variables:
        if name == "a":
            at = t + shift * float(np.diff(solution.steps)[-1])
            exact = (algorithmic or true_acceleration)(mechanism, at)
        else:
            exact = getattr(true, name)
        errors[name] = float(np.linalg.norm(getattr(solution, name)[-1] - exact))
    return errors


def true_acceleration(mechanism: Mechanism, t: float) -> Array:
    """Return the reference's acceleration."""
    assert mechanism.reference is not None
    vdot = mechanism.reference.motion(t).vdot
    assert vdot is not None
    return vdot


def true_force(mechanism: Mechanism, t: float) -> Array:
    """Return M^-1 force on the reference: what the `a` of the extended HHT approximates."""
    assert mechanism.reference is not None
    true = mechanism.reference.motion(t)
    return np.linalg.solve(mechanism.mass(t, true.q), mechanism.force(t, true.q, true.v))


class Runs(NamedTuple):
    """A convergence study: how to run, and what to compare."""

    mechanism: Mechanism
    t_final: float
    numbers: Sequence[int]
    variables: Sequence[str]
    scheme: str
    options: dict[str, Any]
    shift: float = 0.0
    alternates: bool = False
    algorithmic: Callable[[Mechanism, float], Array] | None = None
    #: Draw errors over the mean step size h/2 of alternating steps.
    over_mean: bool = False

    def errors(self) -> tuple[Array, list[Errors]]:
        """Return the step sizes h and the errors of all runs."""
        found = []
        for number in self.numbers:
            h = self.t_final / number
            sizes = alternating(self.t_final, number).tolist() if self.alternates else h
            solution = integrate(self.mechanism, self.t_final, self.scheme, sizes, **self.options)
            found.append(final_errors(solution, self.variables, self.algorithmic, self.shift))
        return self.t_final / np.array(self.numbers), found


def convergence(runs: Runs, title: str) -> Finding:
    """Run a convergence study and draw it."""
    h, errors = runs.errors()
    label = "h; the steps are h/3, 2h/3, h/3, ..." if runs.alternates else "h"
    if runs.over_mean:
        h, label = 0.5 * h, "mean step size h/2; the steps are h/3, 2h/3, h/3, ..."
    return convergence_figure(h, errors, title, label)


def convergence_figure(
    h: Array,
    errors: list[Errors],
    title: str,
    label: str = "h",
    kind: str = "global error",
    last: int | None = None,
) -> Finding:
    """Draw errors over step sizes, with lines of slope 2 and, if need be, 1; measure the orders.

    The orders are those of the first `last` runs.
    """
    figure, axes = new_figure(title)
    orders = {}
    for name, line in zip(errors[0], itertools.cycle(LINES), strict=False):
        values = np.array([error[name] for error in errors])
        orders[name] = order(h[:last], values[:last])
        mark = MARKS.get(name, "^")
        axes.loglog(h, values, mark + line, label=f"{name}: {orders[name]:.2f}", fillstyle="none")
    top, bottom = max(errors[0].values()), min(errors[-1].values())
    # beside the curves, not upon them
    axes.loglog(h, 2.0 * top * (h / h[0]) ** 2, "k:", lw=1, label="slope 2")
    if min(orders.values()) < 1.5:
        axes.loglog(h, 0.5 * bottom * (h / h[-1]), "k-.", lw=1, label="slope 1")
    axes.set_xlabel(label)
    if h[0] < 100.0 * h[-1]:  # few decades have few powers of ten
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(kind)
    figure.legend(fontsize=8, title="orders", title_fontsize=8, loc="outside right center")
    return Finding(figure, orders, "")


def order(h: Array, errors: Array) -> float:
    """Return the slope between the finest two runs that are no rounding errors."""
    usable = errors > ROUNDING
    if usable.sum() < 2:
        return float("nan")
    x, y = np.log(h[usable][-2:]), np.log(errors[usable][-2:])
    return float((y[1] - y[0]) / (x[1] - x[0]))


def new_figure(title: str, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """Return a figure with axes of a common look."""
    size = (SIZE[0] * (1.0 if columns == 1 else 1.5), SIZE[1] * (1.0 if rows == 1 else 1.5))
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    figure.suptitle(title, fontsize=9)
    for ax in np.atleast_1d(axes).flat:
        ax.grid(True, alpha=0.3)
        ax.tick_params(labelsize=8)
    return figure, axes
