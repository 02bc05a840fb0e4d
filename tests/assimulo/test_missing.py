"""Without Assimulo, every way in says what is missing and how to get it."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = "import sys\nsys.modules['assimulo'] = None\n"


@pytest.mark.parametrize(
    "way_in",
    [
        "import genalpha.assimulo",
        "from genalpha.mechanisms import simple_pendulum\nsimple_pendulum().problem('ind3')",
    ],
)
def test_the_error_names_the_ways_to_get_assimulo(way_in):
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + way_in], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    for advice in ("conda install -c conda-forge assimulo", "genalpha.build_assimulo", "integrate"):
        assert advice in done.stderr
