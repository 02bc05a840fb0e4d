"""Outlines at equal intervals of time as one SVG file that moves by itself: no script, no library.

Lines are polylines whose points are animated (SMIL, which all browsers have); the path of a point
is one line that is uncovered as time goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

Array = np.ndarray

#: Pixels of the longer side; the file scales to any size.
SIZE = 400.0
MARGIN = 14.0
#: Lines of more points are curves, whose points are not marked.
MOST_JOINTS = 9
COLORS = ("#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#8c564b", "#e377c2")
TRAIL = "#9aa5b1"

_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0f} {h:.0f}" \
width="{w:.0f}" height="{h:.0f}" fill="none" stroke-linejoin="round" stroke-linecap="round">
<title>{title}</title>
<defs>{markers}</defs>
"""
_MARKER = (
    '<marker id="m{i}" viewBox="-5 -5 10 10" markerWidth="3.4" markerHeight="3.4">'
    '<circle r="4" fill="{color}"/></marker>'
)


def moving_svg(
    outlines: Sequence[Sequence[Array]], seconds: float, title: str, trail: bool = False
) -> str:
    """Return the text of an SVG file.

    Parameters
    ----------
    outlines : sequence of frames
        Each frame is a list of polylines, (k, 2) arrays; the same number of them in all frames.
    seconds : float
        From the first frame to the last; then it begins again.
    title : str
        What a screen reader tells.
    trail : bool, optional
        Whether the last point of the last line leaves its path.
    """
    pixels, (width, height) = _scaled(outlines)
    used = range(min(len(COLORS), len(pixels[0])))
    markers = "".join(_MARKER.format(i=i, color=COLORS[i]) for i in used)
    parts = [_HEAD.format(w=width, h=height, title=escape(title), markers=markers)]
    if trail:
        parts.append(_trail([frame[-1][-1] for frame in pixels], seconds))
    for i in range(len(pixels[0])):
        parts.append(_line([frame[i] for frame in pixels], i % len(COLORS), seconds))
    return "".join([*parts, "</svg>\n"])


def _scaled(outlines: Sequence[Sequence[Array]]) -> tuple[list[list[Array]], Array]:
    """Return the frames in pixels, y downwards, and the size of the picture."""
    points = np.concatenate([line for outline in outlines for line in outline])
    low, high = points.min(axis=0), points.max(axis=0)
    scale = SIZE / (float((high - low).max()) or 1.0)
    size = scale * (high - low) + 2.0 * MARGIN
    corner = np.array([low[0], high[1]])
    flip = np.array([scale, -scale])
    return [[(line - corner) * flip + MARGIN for line in outline] for outline in outlines], size


def _line(frames: Sequence[Array], color: int, seconds: float) -> str:
    """Return a polyline that moves."""
    texts = [" ".join(f"{x:.1f},{y:.1f}" for x, y in points) for points in frames]
    mark = f"url(#m{color})"
    joints = f'marker-start="{mark}" marker-mid="{mark}" marker-end="{mark}" '
    few = len(frames[0]) <= MOST_JOINTS
    # a line whose number of points changes cannot be blended from frame to frame
    mode = "linear" if len({len(points) for points in frames}) == 1 else "discrete"
    motion = ""
    if len(set(texts)) > 1:
        motion = (
            f'<animate attributeName="points" dur="{seconds:g}s" repeatCount="indefinite" '
            f'calcMode="{mode}" values="{";".join(texts)}"/>'
        )
    return (
        f'<polyline stroke="{COLORS[color]}" stroke-width="{3 if few else 2}" '
        f'{joints if few else ""}points="{texts[0]}">{motion}</polyline>\n'
    )


def _trail(path: Sequence[Array], seconds: float) -> str:
    """Return the path of a point, uncovered along its length as time goes on."""
    steps = np.linalg.norm(np.diff(np.array(path), axis=0), axis=1)
    covered = 1.0 - np.concatenate([[0.0], np.cumsum(steps)]) / (steps.sum() or 1.0)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    return (
        f'<polyline stroke="{TRAIL}" stroke-width="1.3" pathLength="1" stroke-dasharray="1" '
        f'stroke-linecap="butt" points="{points}"><animate attributeName="stroke-dashoffset" '
        f'dur="{seconds:g}s" repeatCount="indefinite" '
        f'values="{";".join(f"{x:.4f}" for x in covered)}"/></polyline>\n'
    )
