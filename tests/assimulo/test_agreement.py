"""One mechanism object, many solvers, one motion."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.solvers import ODASSL, Dopri5, Radau5DAE

from genalpha.assimulo import IDA

pytestmark = pytest.mark.needs_assimulo

#: Solver, formulation, and how many tolerances the positions may be off after one second.
RUNS = [
    (Radau5DAE, "ind1", 20),
    (Radau5DAE, "ggl2", 200),
    (ODASSL, "ovstab2", 200),
    (ODASSL, "ovstab1", 200),
    (ODASSL, "ind2", 200),
    (IDA, "ind1", 200),
    (IDA, "ind2", 200),
    (IDA, "ggl2", 200),
    (Dopri5, "ode", 20),
]
TOLERANCE = 1e-6


def run(solver_class, problem, t_final, tolerance):
    solver = solver_class(problem)
    solver.verbosity = 50
    solver.atol, solver.rtol = tolerance, tolerance
    if solver_class is IDA:
        solver.suppress_alg = True
    t, y = solver.simulate(t_final, 20)[:2]
    # ODASSL overwrites its first row
    return np.array(t)[1:], np.array(y)[1:]


@pytest.mark.parametrize(("solver_class", "form", "factor"), RUNS)
def test_all_solvers_find_the_exact_motion(pendulum, solver_class, form, factor):
    t, y = run(solver_class, pendulum.problem(form), 1.0, TOLERANCE)
    exact = [pendulum.reference.motion(x) for x in t]
    assert len(t) == 20
    assert np.abs(y[:, :2] - [m.q for m in exact]).max() <= factor * TOLERANCE
    assert np.abs(y[:, 2:4] - [m.v for m in exact]).max() <= 10 * factor * TOLERANCE


@pytest.mark.parametrize(
    ("solver_class", "form"), [(Radau5DAE, "ind1"), (ODASSL, "ovstab2"), (IDA, "ind2")]
)
def test_nonholonomic_mechanisms_too(solver_class, form):
    from genalpha.mechanisms import knife_edge

    mechanism = knife_edge()
    t, y = run(solver_class, mechanism.problem(form), 1.0, TOLERANCE)
    exact = np.array([mechanism.reference.motion(x).q for x in t])
    assert np.abs(y[:, : mechanism.n_q] - exact).max() <= 200 * TOLERANCE


def test_sparse_problem_in_ida(linkage, sparse_linkage):
    results = []
    for mechanism in (linkage, sparse_linkage):
        solver = IDA(mechanism.problem("ind2"))
        solver.verbosity, solver.suppress_alg = 50, True
        solver.atol = solver.rtol = 1e-8
        solver.simulate(0.5, 5)
        results.append((solver.linear_solver, solver.y, solver.statistics["nsteps"]))
    (dense, y, _), (sparse, y_sparse, _) = results
    assert (dense, sparse) == ("DENSE", "SPARSE")
    assert np.abs(y - y_sparse)[:18].max() <= 1e-5
