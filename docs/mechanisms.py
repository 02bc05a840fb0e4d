"""Fill the page of mechanisms while the documentation is built: its table and its pictures.

Everything comes from `genalpha.mechanisms.catalogue()`: sizes, kind and fastest rate are found
by evaluating each mechanism at its start, the pictures are drawn along its reference solution.
"""

from __future__ import annotations

import io
import sys
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from mkdocs.structure.files import File, Files

from genalpha.mechanisms import catalogue
from genalpha.mechanisms.sketches import sketch
from genalpha.model import Mechanism

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `comparisons`
from comparisons.table import grid
from comparisons.table import markdown as markdown_of

PAGE = "mechanisms.md"
#: Last time of the pictures.
T_END = {"andrews_squeezer": 0.03, "andrews_absolute": 0.03, "heavy_top": 0.3,
         "flexible_pendulum": 0.15, "rolling_disk": 3.0, "knife_edge": 6.0, "chaplygin_sleigh": 4.0,
         "pendulum_jn": 1.0, "bouncing_pendulum": 3.0, "rocking_block": 3.0, "clutch": 3.5,
         "car_axis": 3.0}  # fmt: skip


@cache
def mechanism_of(name: str) -> Mechanism:
    """Build each mechanism once."""
    return catalogue()[name]()


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def fastest_rate(mechanism: Mechanism) -> float:
    """Largest eigenvalue (1/s) of the motion linearized at five instants, constraints kept."""
    times = np.linspace(0.0, T_END.get(mechanism.name, 1.5), 5)
    return max(_fastest_rate(mechanism, t) for t in times)


def _fastest_rate(mechanism: Mechanism, t: float) -> float:
    q, v, vdot, lam, psi = mechanism.reference.motion(t)
    rows = mechanism.holonomic_jacobian(t, q), mechanism.nonholonomic_jacobian(t, q, v)
    _, sizes, basis = np.linalg.svd(np.vstack([dense(row) for row in rows]))
    free = basis[int((sizes > 1e-9 * sizes.max(initial=0.0)).sum()) :].T
    if free.shape[1] == 0:
        return 0.0
    mass, stiffness, damping = (
        free.T @ dense(matrix) @ free
        for matrix in (
            mechanism.mass(t, q),
            mechanism.stiffness(t, q, v, vdot, lam, psi),
            mechanism.damping(t, q, v, vdot, lam, psi),
        )
    )
    zero, one = np.zeros_like(mass), np.eye(len(mass))
    lower = np.linalg.solve(mass, np.hstack([-stiffness, -damping]))
    return float(np.abs(np.linalg.eigvals(np.vstack([np.hstack([zero, one]), lower]))).max())


def kind(mechanism: Mechanism) -> str:
    """What is special about it, found by evaluating it."""
    still = mechanism.holonomic_rate(0.1, mechanism.q0, np.zeros(mechanism.n_q))
    words = {
        "rheonomic": bool(np.any(still != 0.0)),
        "nonholonomic": mechanism.n_psi > 0,
        "own reaction": "reaction" in mechanism.given,
        "redundant rows": mechanism.redundant == "least",
        "variable mass": mechanism.constant_mass is None,
        "sparse": mechanism.is_sparse,
        "conserves energy": mechanism.energy is not None,
    }
    return ", ".join(word for word, holds in words.items() if holds)


def table() -> str:
    """The table of all mechanisms in Markdown."""
    rows = []
    for name in catalogue():
        mechanism = mechanism_of(name)
        summary = catalogue()[name].__doc__.splitlines()[0].removeprefix("Return ")
        cells = (
            f"[`{name}`](#{name})", summary,
            f"{mechanism.n_q},&nbsp;{mechanism.n_lam},&nbsp;{mechanism.n_psi}",
            kind(mechanism), f"{fastest_rate(mechanism):.1f}", mechanism.reference.source,
            f"{mechanism.reference.digits:g}",
        )  # fmt: skip
        rows.append(cells)
    headers = ("mechanism", "what it is", "n,&nbsp;m,&nbsp;l", "kind", "rate (1/s)", "reference",
               "digits")  # fmt: skip
    return markdown_of(grid(headers, rows, left=len(headers) - 1))


def picture(name: str) -> str:
    """Draw the mechanism at some instants, and its coordinates in time; returns SVG."""
    mechanism = mechanism_of(name)
    times = np.linspace(0.0, T_END.get(name, 1.5), 61)
    motions = [mechanism.reference.motion(t) for t in times]
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    drawn = bool(sketch(mechanism, 0.0, mechanism.q0))
    axes = figure.subplots(1, 2 if drawn else 1, squeeze=False)[0]
    if drawn:
        axes[0].set_aspect("equal", adjustable="datalim")
        for i in range(0, len(times), 10):
            shade = 0.15 + 0.85 * i / (len(times) - 1)
            for line in sketch(mechanism, times[i], motions[i].q):
                axes[0].plot(*line.T, "o-", color="C0", alpha=shade, markersize=2.5)
        if name in ("knife_edge", "chaplygin_sleigh"):
            axes[0].plot(*np.array([motion.q[:2] for motion in motions]).T, color="C1")
    for j in range(min(mechanism.n_q, 9)):
        axes[-1].plot(times, [motion.q[j] for motion in motions], label=f"q[{j}]", linewidth=1.0)
    axes[-1].set_xlabel("t")
    axes[-1].legend(fontsize="x-small", ncols=3)
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def gallery() -> str:
    """A section with picture and API documentation for each mechanism."""
    sections = []
    for name in catalogue():
        sections.append(
            f"### {name} {{ #{name} }}\n\n"
            f"![{name}: drawing and motion](mechanisms/{name}.svg)\n\n"
            f"::: genalpha.mechanisms.{name}\n    options:\n      show_root_heading: false\n"
            "      show_root_toc_entry: false\n"
        )
    return "\n".join(sections)


def on_files(files: Files, config: dict[str, str], **_: object) -> Files:
    """Add the pictures to the site (called by MkDocs)."""
    for name in catalogue():
        path = f"mechanisms/{name}.svg"
        files.append(File.generated(config, path, content=picture(name)))
    return files


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Put table and sections in the place of their markers (called by MkDocs)."""
    if page.file.src_uri != PAGE:
        return markdown
    return markdown.replace("<!-- table -->", table()).replace("<!-- sections -->", gallery())
