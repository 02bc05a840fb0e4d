"""Keep numbers in one piece on the pages: browsers break 1e-05 at its hyphen."""

from __future__ import annotations

import re

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?e-\d+(?!\w)")
#: Places whose text is not touched: code keeps its lines, formulas are MathML by now.
KEPT = re.compile(r"(<(pre|math|script|style|svg)\b.*?</\2>|<[^>]*>)", re.DOTALL)


def on_page_content(content: str, **_: object) -> str:
    """Wrap every such number of a page (called by MkDocs, after formulas.py)."""
    kept = {match.span() for match in KEPT.finditer(content)}
    made, end = [], 0
    for start, stop in sorted(kept):
        made += [_whole(content[end:start]), content[start:stop]]
        end = stop
    return "".join([*made, _whole(content[end:])])


def _whole(text: str) -> str:
    return NUMBER.sub(r'<span class="number">\g<0></span>', text)
