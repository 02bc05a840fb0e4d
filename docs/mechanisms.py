"""Fill the page of mechanisms while the documentation is built: films, table and sections.

Everything comes from `genalpha.mechanisms.catalogue()`: sizes, kind and fastest rate are found
by evaluating each mechanism along its reference; `gallery` draws the pictures.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import numpy as np
from mkdocs.structure.files import File, Files

from genalpha.mechanisms import catalogue
from genalpha.model import Mechanism

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the package `comparisons`
sys.path.insert(0, str(Path(__file__).parent))
from gallery import curves_of, film, mechanism_of, pace, picture

from comparisons.table import grid
from comparisons.table import markdown as markdown_of

PAGE = "mechanisms.md"


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def fastest_rate(mechanism: Mechanism) -> float:
    """Largest eigenvalue (1/s) of the motion linearized at five instants, constraints kept."""
    times = np.linspace(0.0, curves_of(mechanism.name).t_end, 5)
    return max(_fastest_rate(mechanism, t) for t in times)


def _fastest_rate(mechanism: Mechanism, t: float) -> float:
    q, v, vdot, lam, psi, *states = mechanism.reference.motion(t)
    if states:  # they are velocities, as they are solved
        mechanism, (z, zdot) = mechanism.widened, states
        q, v, vdot = np.append(q, 0.0 * z), np.append(v, z), np.append(vdot, zdot)
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
    states = f"{mechanism.n_z} state{'s' * (mechanism.n_z > 1)}"
    words = {
        states: mechanism.n_z > 0,
        "rheonomic": bool(np.any(still != 0.0)),
        "nonholonomic": mechanism.n_psi > 0,
        "own reaction": "reaction" in mechanism.given,
        "redundant rows": mechanism.redundant == "least",
        "variable mass": mechanism.constant_mass is None,
        "sparse": mechanism.is_sparse,
        "conserves energy": bool(mechanism.energy),
    }
    return ", ".join(word for word, holds in words.items() if holds)


def table() -> str:
    """The table of all mechanisms in Markdown."""
    rows = []
    for name in catalogue():
        mechanism = mechanism_of(name)
        cells = (
            f"[`{name}`](#{name})", summary(name),
            f"{mechanism.n_q},&nbsp;{mechanism.n_lam},&nbsp;{mechanism.n_psi}",
            kind(mechanism), f"{fastest_rate(mechanism):.1f}", mechanism.reference.source,
            f"{mechanism.reference.digits:g}",
        )  # fmt: skip
        rows.append(cells)
    headers = ("mechanism", "what it is", "n,&nbsp;m,&nbsp;l", "kind", "rate (1/s)", "reference",
               "digits")  # fmt: skip
    return markdown_of(grid(headers, rows, left=len(headers) - 1))


def summary(name: str) -> str:
    """The first sentence of a mechanism's docstring."""
    first = catalogue()[name].__doc__.splitlines()[0].removeprefix("Return ")
    return first[:1].upper() + first[1:]


def cards() -> str:
    """All mechanisms in motion, each a link to its section."""
    found = [
        f'<a class="card" href="#{name}"><img src="mechanisms/{name}.svg" alt="{name} in motion" '
        f'loading="lazy"><b>{name}</b><span>{escape(summary(name).replace(chr(96), ""))}</span></a>'
        for name in catalogue()
        if film(name)
    ]
    return '<div class="cards">\n' + "\n".join(found) + "\n</div>\n"


def sections() -> str:
    """A section with film, curves and API documentation for each mechanism."""
    return "\n".join(_section(name) for name in catalogue())


def _section(name: str) -> str:
    pictures = [f"![{name}: {curves_of(name).what} over time](mechanisms/{name}-curves.svg)"]
    caption = "Curves: the reference solution."
    if film(name):
        pictures.insert(0, f"![{name} in motion](mechanisms/{name}.svg)")
        caption = f"Film: {pace(name)}. Both show the reference solution."
    return (
        f"### {name} {{ #{name} }}\n\n"
        f'<div class="pair" markdown>\n\n{" ".join(pictures)}\n\n</div>\n\n*{caption}*\n\n'
        f"::: {catalogue()[name].__module__}.{name}\n    options:\n      show_root_heading: false\n"
        "      show_root_toc_entry: false\n"
    )


def on_files(files: Files, config: dict[str, str], **_: object) -> Files:
    """Add the pictures to the site (called by MkDocs)."""
    for name in catalogue():
        made = {f"{name}.svg": film(name), f"{name}-curves.svg": picture(name)}
        for path, content in made.items():
            if content:
                files.append(File.generated(config, f"mechanisms/{path}", content=content))
    return files


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Put table and sections in the place of their markers (called by MkDocs)."""
    if page.file.src_uri != PAGE:
        return markdown
    made = {"cards": cards, "table": table, "sections": sections}
    for marker, make in made.items():
        markdown = markdown.replace(f"<!-- {marker} -->", make())
    return markdown
