"""Memory does not grow with the number of steps, nor with the number of solvers."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import pytest

import genalpha
from genalpha.mechanisms import simple_pendulum

pytestmark = pytest.mark.needs_assimulo

#: Prints by how many kB the process grows in a long run, after a short one.
SCRIPT = """
import resource
import sys

from assimulo.problem import Explicit_Problem

import genalpha

steps, continuously = int(sys.argv[1]), sys.argv[2] == "continuously"
problem = Explicit_Problem(lambda t, y: [y[1], -y[0]], [1.0, 0.0])
problem.handle_result = lambda solver, t, y: None
solver = genalpha.GenAlphaSOI2(problem)
solver.verbosity, solver.h, solver.report_continuously = 50, 1e-3, continuously


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


solver.simulate(2.0)
before = peak()
solver.simulate(2.0 + steps * 1e-3)
assert solver.statistics["nsteps"] == steps
print(peak() - before)
"""


@pytest.mark.parametrize(("mode", "steps"), [("every step", 100_000), ("continuously", 20_000)])
def test_memory_is_constant(mode, steps):
    pytest.importorskip("resource", reason="peaks are measured by Unix")
    command = [sys.executable, "-c", SCRIPT, str(steps), mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    grown = int(done.stdout.split()[-1])
    assert grown < 40 * steps / 1000, f"{grown} kB more; a step's results are about 400 bytes"


@pytest.mark.parametrize("name", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_solvers_of_residuals_are_freed(name):
    from assimulo.problem import Implicit_Problem

    own = simple_pendulum().problem("ind3")

    def res(t, y, yd):
        return own.res(t, y, yd)

    problem, freed = Implicit_Problem(res, own.y0, own.yd0, own.t0), weakref.ref(res)
    problem.algvar = own.algvar
    solver = getattr(genalpha, name)(problem)
    solver.verbosity = 50
    solver.simulate(0.1)
    del solver, problem, res
    gc.collect()
    assert freed() is None
