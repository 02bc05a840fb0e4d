"""Without compiled modules everything works, and gives the same."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from genalpha import imports, integrate, mechanisms

SCRIPT = """
import numpy as np
from genalpha import imports, integrate, mechanisms

assert not imports.COMPILED
for scheme in ("GenAlphaI3", "GenAlphaSOI2", "HHTI2"):
    solution = integrate(mechanisms.four_bar(), 0.2, scheme, rtol=1e-5)
    print(solution.steps.size, *(repr(float(x)) for x in solution.q[-1]))
"""


@pytest.mark.skipif(not imports.COMPILED, reason="there is nothing to compare with")
def test_a_run_with_plain_kernels():
    environment = {**os.environ, "GENALPHA_PLAIN": "1"}
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    ).stdout
    lines = [np.array(line.split(), dtype=float) for line in told.splitlines()]
    for scheme, line in zip(("GenAlphaI3", "GenAlphaSOI2", "HHTI2"), lines, strict=True):
        solution = integrate(mechanisms.four_bar(), 0.2, scheme, rtol=1e-5)
        assert solution.steps.size == line[0]
        np.testing.assert_allclose(solution.q[-1], line[1:], atol=1e-9)
