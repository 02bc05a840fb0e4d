r"""Turn the formulas of a page into MathML while the documentation is built.

Browsers render MathML themselves, so that a page read from disk needs no script and no network;
the site only brings a mathematical font along. A formula is ``$...$`` or ``$$...$$``, in the LaTeX
that latex2mathml knows; anything else stops the build.
"""

from __future__ import annotations

import html
import importlib.resources
import re
import shutil
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
FONT = "STIXTwoMath-Regular.ttf"  # named in formulas.css


def to_mathml(latex: str, display: str) -> str:
    """Convert one formula; refuse what the converter did not understand."""
    # latex2mathml knows align*, which is the same thing here, and not aligned.
    known = latex.replace("{aligned}", "{align*}")
    mathml = convert(known, display=display)
    if "\\" in mathml or "&amp;" in mathml:
        raise PluginError(f"latex2mathml does not understand this formula:\n{latex}")
    return mathml


def on_page_content(content: str, **_: object) -> str:
    """Convert every formula of a page (called by MkDocs)."""

    def convert_match(match: re.Match[str]) -> str:
        tag = match["tag"]
        display = "block" if tag == "div" else "inline"
        mathml = to_mathml(html.unescape(match["latex"]).strip(), display)
        return f'<{tag} class="formula">{mathml}</{tag}>'

    return FORMULA.sub(convert_match, content)


def on_post_build(config: dict[str, str], **_: object) -> None:
    """Put the font beside the style sheet; it ships with the package ziamath."""
    font = importlib.resources.files("ziamath") / "fonts" / FONT
    with importlib.resources.as_file(font) as path:
        shutil.copyfile(path, Path(config["site_dir"]) / FONT)
