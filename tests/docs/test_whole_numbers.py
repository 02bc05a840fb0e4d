"""Numbers on the pages are not broken at their hyphens, and nothing else is touched."""

from __future__ import annotations

import importlib.util
from pathlib import Path

FILE = Path(__file__).parents[2] / "docs" / "whole_numbers.py"


def whole(content: str) -> str:
    spec = importlib.util.spec_from_file_location("whole_numbers", FILE)
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    return hook.on_page_content(content)


def test_numbers_in_text_and_tables() -> None:
    kept = '<span class="number">{}</span>'.format
    assert whole("<td>1e-05</td>") == f"<td>{kept('1e-05')}</td>"
    assert (
        whole("<p>from 1e-3 to -2.5e-08.</p>")
        == f"<p>from {kept('1e-3')} to {kept('-2.5e-08')}.</p>"
    )


def test_what_is_no_such_number() -> None:
    for content in (
        "<pre><code>h = 1e-3</code></pre>",
        '<a href="page.html#x-1e-05">here</a>',
        "<math><mn>1e-3</mn></math>",
        "pages 1-5, the form-1e-shop, v1.2e-3b",
    ):
        assert whole(content) == content
