"""The code blocks of the tutorial run, one after the other, and do what the text says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "pages"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_ASSIMULO = "# needs Assimulo"


def blocks(page):
    return BLOCK.findall((PAGES / page).read_text(encoding="utf-8"))


def run(some_blocks, space):
    for number, block in enumerate(some_blocks):
        exec(compile(block, f"tutorial, block {number}", "exec"), space)


@pytest.fixture
def plt():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_blocks_run_and_keep_their_promises(plt, capsys):
    space = {}
    run([block for block in blocks("tutorial.md") if NEEDS_ASSIMULO not in block], space)
    printed = capsys.readouterr().out
    assert "holonomic_jacobian[1, 0]" in printed
    assert "rod 2" in printed
    assert max(space["drift_q"]) < 1e-14
    assert max(space["drift_v"]) < 1e-11
    assert abs(space["energies"][-1] - space["energies"][0]) < 0.1
    assert len(plt.gcf().axes) == 3


def test_printed_text_is_what_the_page_shows(capsys):
    run(blocks("tutorial.md")[:1], {})
    shown = re.search(
        r"^```text\n(.*?)^```$", (PAGES / "tutorial.md").read_text("utf-8"), re.M | re.S
    )
    assert capsys.readouterr().out == shown[1]


@pytest.mark.needs_assimulo
def test_blocks_with_assimulo_run():
    found = blocks("tutorial.md")
    space = {}
    run(found[:1], space)
    last = [block for block in found if NEEDS_ASSIMULO in block]
    assert last
    run(last, space)
    assert np.abs(space["holonomic"](5.0, space["y"][-1, :4])).max() < 1e-9  # far below 1e-6


def test_the_example_of_the_first_page_runs():
    space = {}
    run(blocks("index.md"), space)
    solution = space["solution"]
    assert np.abs((solution.q**2).sum(axis=1) - 1.0).max() < 1e-6  # far below rtol = 1e-4
