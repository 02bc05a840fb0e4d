"""Without compiled modules everything works, and gives the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from genalpha import imports, integrate, mechanisms
from genalpha.schemes import SCHEMES

COMPILED = pytest.mark.skipif(not imports.COMPILED, reason="the other tests ran plain already")
#: What must work plain: schemes, what they are made of, and the driver around them.
ESSENTIAL = (
    "tests/schemes",
    "tests/model/test_construction.py",
    "tests/numerics/test_newton.py",
    "tests/numerics/test_systems.py",
    "tests/driver/test_failures.py",
    "tests/driver/test_fixed_steps.py",
    "tests/driver/test_options.py",
    "tests/driver/test_redundant.py",
)


def run_plain(*arguments: str) -> str:
    """Run Python on the sources."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=Path(__file__).parents[1], capture_output=True,
        env={**os.environ, "GENALPHA_PLAIN": "1"}, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ends() -> dict[str, list[float]]:
    """Number of steps and last position of adaptive runs, by scheme."""
    found = {x: integrate(mechanisms.four_bar(), 0.2, x, rtol=1e-5) for x in SCHEMES}
    return {x: [s.steps.size, *s.q[-1]] for x, s in found.items()}


@COMPILED
def test_both_modes_find_the_same():
    script = "import json; from tests.test_without_compiler import ends; print(json.dumps(ends()))"
    plain, compiled = json.loads(run_plain("-c", script)), ends()
    assert plain.keys() == compiled.keys()
    for scheme in plain:
        assert plain[scheme][0] == compiled[scheme][0]
        np.testing.assert_allclose(plain[scheme], compiled[scheme], atol=1e-9)


@COMPILED
def test_the_essential_tests_pass_plain():
    told = run_plain("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *ESSENTIAL)
    assert int(told.split(" passed")[0].split()[-1]) > 200
