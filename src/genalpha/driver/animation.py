"""A solution as a film of the mechanism's outline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genalpha.driver.moving_svg import moving_svg
from genalpha.driver.pictures import matplotlib
from genalpha.errors import InvalidOptionError

if TYPE_CHECKING:
    from genalpha.driver.solution import Solution

Array = np.ndarray
Sketch = Callable[[float, Array], Sequence[Array]]

#: A film is as long as the motion, but within these bounds, in seconds.
SHORTEST, LONGEST = 3.0, 20.0
FORMATS = (".gif", ".html", ".svg")
ENDINGS = ".gif, .html or .svg"


def animate(
    solution: Solution,
    path: str | Path | None,
    sketch: Sketch | None,
    seconds: float | None,
    fps: int,
    trail: bool,
) -> Any:
    """See `Solution.animate`."""
    _check(path, seconds, fps)
    first, last = float(solution.steps[0]), float(solution.steps[-1])
    length = float(np.clip(abs(last - first), SHORTEST, LONGEST)) if seconds is None else seconds
    times = np.linspace(first, last, max(2, round(length * fps)))
    outlines = [_outline(solution, t, sketch) for t in times]
    if path is not None and Path(path).suffix.lower() == ".svg":
        text = moving_svg(outlines, length, solution.mechanism.name, trail)
        Path(path).write_text(text, encoding="utf-8")
        return None
    plt = matplotlib("pyplot", "Solution.animate")
    figure, lines, title = _scene(plt, solution, outlines)
    tip = np.array([outline[-1][-1] for outline in outlines])
    path_of_tip = figure.axes[0].plot([], [], color="0.7", linewidth=0.8, zorder=0)[0]

    def draw(frame: int) -> list[Any]:
        if trail:
            path_of_tip.set_data(*tip[: frame + 1].T)
        for line, points in zip(lines, outlines[frame], strict=False):
            line.set_data(points[:, 0], points[:, 1])
        title.set_text(f"{solution.mechanism.name}, t = {times[frame]:.3f}")
        return [*lines, path_of_tip, title]

    film = matplotlib("animation", "Solution.animate").FuncAnimation(
        figure, draw, frames=len(times), interval=1000.0 / fps
    )
    if path is not None:
        _save(film, Path(path), fps)
        plt.close(figure)
    return film


def _check(path: str | Path | None, seconds: float | None, fps: int) -> None:
    faults = []
    if path is not None and Path(path).suffix.lower() not in FORMATS:
        faults.append(f"path = {str(path)!r}; expected a file name that ends with {ENDINGS}")
    if seconds is not None and not 0.0 < seconds < np.inf:
        faults.append(f"seconds = {seconds!r}; expected a positive number")
    if not 1 <= fps <= 100:
        faults.append(f"fps = {fps!r}; expected frames per second from 1 to 100")
    if faults:
        raise InvalidOptionError("animate", faults)


def _outline(solution: Solution, t: float, sketch: Sketch | None) -> list[Array]:
    """Return the outline at a time as polylines."""
    o, q = solution.mechanism, solution(t).q
    found: Sequence[Array] = o.outline(o, t, q) if o.outline and sketch is None else []
    if sketch is not None:
        found = sketch(t, q)
    lines = [np.asarray(line, dtype=float) for line in found]
    if lines and all(line.ndim == 2 and line.shape[1] == 2 for line in lines):
        return lines
    example = "sketch=lambda t, q: [np.array([[0, 0], q[:2]])]"
    if sketch is None:
        fault = f"there is no sketch of {o.name!r}; give one: {example}"
    else:
        shapes = [line.shape for line in lines]
        fault = f"sketch returned shapes {shapes}; expected arrays of shape (k, 2): {example}"
    raise InvalidOptionError("animate", [fault])


def _scene(plt: Any, solution: Solution, outlines: list[list[Array]]) -> tuple[Any, Any, Any]:
    """Return a figure that holds all outlines, its lines and its title."""
    figure, ax = plt.subplots(figsize=(5.0, 5.0), layout="constrained")
    points = np.concatenate([line for outline in outlines for line in outline])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, reach = 0.5 * (low + high), 0.55 * float((high - low).max()) or 1.0
    ax.set(aspect="equal", xlabel="x", ylabel="y")
    ax.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
    lines = [ax.plot([], [], "o-", linewidth=2.0, markersize=3.0)[0] for _ in outlines[0]]
    return figure, lines, ax.set_title(solution.mechanism.name)


def _save(film: Any, path: Path, fps: int) -> None:
    """Write the film as the ending of the file name says."""
    if path.suffix.lower() == ".gif":
        film.save(path, writer="pillow", fps=fps)
    else:
        path.write_text(film.to_jshtml(fps=fps), encoding="utf-8")
