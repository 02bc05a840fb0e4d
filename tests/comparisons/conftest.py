from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from comparisons.cases import CASES
from comparisons.solvers import SOLVERS

PLUGIN = "tests.comparisons.wrong_solvers"


@pytest.fixture(scope="session")
def plugin() -> Iterator[str]:
    """The wrong solvers and the short pendulum, registered for the tests that ask for them."""
    solvers, cases = dict(SOLVERS), dict(CASES)
    importlib.import_module(PLUGIN)
    yield PLUGIN
    SOLVERS.clear()
    SOLVERS.update(solvers)
    CASES.clear()
    CASES.update(cases)


@pytest.fixture(scope="session")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("output")
