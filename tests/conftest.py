"""What all tests share: how a run without Assimulo leaves tests out, and says so.

Mark a test with ``@pytest.mark.needs_assimulo``, or a whole file with the line
``pytestmark = pytest.mark.needs_assimulo``; such a file may import Assimulo at its top, because
without Assimulo it is not even imported. ``pytest --without-assimulo`` plays a machine that has
no Assimulo.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest

os.environ["MPLBACKEND"] = "Agg"  # there may be no screen

WHOLE_FILE = re.compile(r"^pytestmark = .*needs_assimulo", re.MULTILINE)
WHY_MISSING = pytest.StashKey[str]()
LEFT_OUT = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--without-assimulo", action="store_true", help="behave as if Assimulo were not installed"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs_assimulo: left out where Assimulo is not installed")
    config.stash[LEFT_OUT] = []
    if config.getoption("--without-assimulo"):
        sys.modules["assimulo"] = None  # type: ignore[assignment]  # makes every import of it fail
        config.stash[WHY_MISSING] = "switched off by --without-assimulo"
    elif importlib.util.find_spec("assimulo") is None:
        config.stash[WHY_MISSING] = "Assimulo is not installed"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if WHY_MISSING not in config.stash or collection_path.suffix != ".py":
        return None
    if WHOLE_FILE.search(collection_path.read_text(encoding="utf-8")):
        config.stash[LEFT_OUT].append(collection_path.relative_to(config.rootpath).as_posix())
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if WHY_MISSING not in config.stash:
        return
    for item in items:
        if item.get_closest_marker("needs_assimulo"):
            item.add_marker(pytest.mark.skip(reason=config.stash[WHY_MISSING]))
            config.stash[LEFT_OUT].append(item.nodeid)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left_out = config.stash[LEFT_OUT]
    if left_out:
        terminalreporter.section(f"left out: {config.stash[WHY_MISSING]}")
        for name in left_out:
            terminalreporter.write_line(f"left out: {name}")
