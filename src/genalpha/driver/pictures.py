"""A solution at a glance: motion, multipliers, drift and steps in one figure."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genalpha.driver.derived import constraint_keys, multipliers

if TYPE_CHECKING:
    from genalpha.driver.solution import Solution

Array = np.ndarray

#: More curves than these are not told apart; then those are drawn that change most.
MOST_CURVES = 8
#: Points of a smooth curve.
POINTS = 600
#: What is drawn of zero, on a logarithmic scale.
SMALLEST = 1e-17


def matplotlib(part: str, what: str) -> Any:
    """Return a module of matplotlib, which is loaded when something is drawn; `what` needs it."""
    try:
        return importlib.import_module(f"matplotlib.{part}")
    except ImportError as error:
        raise ImportError(
            f"{what} needs matplotlib, which cannot be imported here: pip install matplotlib",
            name="matplotlib",
        ) from error


def plot(solution: Solution, figure: Any = None) -> Any:
    """See `Solution.plot`."""
    if figure is None:
        figure = matplotlib("pyplot", "Solution.plot").figure(
            figsize=(10.0, 6.5), layout="constrained"
        )
    axes = figure.subplots(2, 2, sharex=True)
    _motion(axes[0, 0], solution)
    _multipliers(axes[0, 1], solution)
    _drift(axes[1, 0], solution)
    plot_steps(solution, axes[1, 1], linewidth=1.0)
    axes[1, 1].set_title("steps (crosses: rejected)" if solution.statistics.rejections else "steps")
    for times in solution.t_events:
        for t in times:
            for ax in axes.flat:
                ax.axvline(t, color="0.8", linewidth=0.7, zorder=0)
    figure.suptitle(solution.mechanism.name)
    return figure


def plot_steps(solution: Solution, axes: Any, **style: Any) -> None:
    """See `Solution.plot_steps`."""
    sizes = np.abs(np.diff(solution.steps))
    # a size is drawn over the whole of its step
    (line,) = axes.plot(
        solution.steps, np.append(sizes, sizes[-1:]), **{"drawstyle": "steps-post", **style}
    )
    if solution.statistics.rejections:
        t, tried = zip(*solution.statistics.rejections, strict=True)
        axes.plot(t, tried, "x", color=line.get_color(), markersize=3)
    axes.set_yscale("log")
    axes.set(xlabel="t", ylabel="step size")


def _motion(ax: Any, solution: Solution) -> None:
    t = _fine(solution)
    _curves(ax, t, solution(t).q, solution.mechanism.coordinate_names, "coordinates")


def _fine(solution: Solution) -> Array:
    """Return times close enough for a smooth curve, the steps among them."""
    ends = solution.steps[0], solution.steps[-1]
    return np.unique(np.concatenate([solution.steps, np.linspace(*ends, POINTS)]))


def _multipliers(ax: Any, solution: Solution) -> None:
    points = solution.points()
    keys = constraint_keys(o for o, _ in points)
    if not keys:
        _curves(ax, solution.t, solution.v, solution.mechanism.coordinate_names, "velocities")
        return
    _curves(ax, solution.t, multipliers(points, keys), [key[1] for key in keys], "multipliers")


def _curves(ax: Any, t: Array, values: Array, names: Sequence[str], title: str) -> None:
    """Draw the columns that change most, in their order."""
    changes = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    chosen = np.sort(np.argsort(-changes, kind="stable")[:MOST_CURVES])
    for j in chosen:
        ax.plot(t, values[:, j], linewidth=1.0, label=names[j])
    ax.legend(fontsize="x-small", loc="best")
    if chosen.size < len(names):
        title = f"{chosen.size} of {len(names)} {title}, those that change most"
    ax.set_title(title)


def _drift(ax: Any, solution: Solution) -> None:
    """Draw what should be zero."""
    residuals = solution.residuals()
    drawn = {}
    if residuals.position.shape[1]:
        drawn["position constraints"] = residuals.largest("position")
    if residuals.names:
        drawn["velocity constraints"] = residuals.largest("velocity")
    if all(o.energy for _, o in solution.origin.phases):
        energy = solution.energy()
        drawn["change of energy"] = np.abs(energy - energy[0])
    for label, values in drawn.items():
        ax.semilogy(solution.t, np.maximum(values, SMALLEST), linewidth=1.0, label=label)
    if drawn:
        ax.legend(fontsize="x-small", loc="best")
    else:
        ax.text(0.5, 0.5, "no constraints, no energy", ha="center", transform=ax.transAxes)
    ax.set(title="largest residuals", xlabel="t")
