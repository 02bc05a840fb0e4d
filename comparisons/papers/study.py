"""What the papers' figures have in common: convergence studies, their plots, their orders."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import matplotlib
import numpy as np

from comparisons.orders import Study, alternating, slope

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


def convergence(study: Study, title: str, over_mean: bool = False) -> Finding:
    """Run a convergence study and draw it; `over_mean`: over the mean size of alternating steps."""
    found, h, label = study.errors(), study.h, "h"
    if study.sizes is alternating:
        label = "h; the steps are h/3, 2h/3, h/3, ..."
    if over_mean:
        h, label = 0.5 * h, "mean step size h/2; the steps are h/3, 2h/3, h/3, ..."
    return convergence_figure(h, found, title, label)


def convergence_figure(
    h: Array,
    errors: Mapping[str, Array],
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
    for (name, values), line in zip(errors.items(), itertools.cycle(LINES), strict=False):
        orders[name] = slope(h[:last], values[:last], 2, ROUNDING)
        mark = MARKS.get(name, "^")
        axes.loglog(h, values, mark + line, label=f"{name}: {orders[name]:.2f}", fillstyle="none")
    top, bottom = (pick(x[i] for x in errors.values()) for i, pick in ((0, max), (-1, min)))
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


def new_figure(title: str, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """Return a figure with axes of a common look."""
    size = (SIZE[0] * (1.0 if columns == 1 else 1.5), SIZE[1] * (1.0 if rows == 1 else 1.5))
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    figure.suptitle(title, fontsize=9)
    for ax in np.atleast_1d(axes).flat:
        ax.grid(True, alpha=0.3)
        ax.tick_params(labelsize=8)
    return figure, axes
