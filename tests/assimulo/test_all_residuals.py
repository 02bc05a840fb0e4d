"""Every mechanism of the catalogue as a plain residual: solved if, and as, the Mechanism is.

The whole grid, tolerances from 1e-3 to 1e-7, takes some minutes; here each mechanism has its turn.
"""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.problem import Implicit_Problem

import genalpha
from genalpha import integrate
from genalpha.errors import GenAlphaError, RedundantConstraintsError
from genalpha.mechanisms import catalogue
from genalpha.schemes import SCHEMES

pytestmark = pytest.mark.needs_assimulo

CATALOGUE = catalogue()
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)
#: Long enough for twenty steps or more.
ENDS = {"slider_crank": 0.02, "andrews_squeezer": 0.002, "andrews_absolute": 0.001}
ENDS |= {"heavy_top": 0.01, "flexible_pendulum": 0.01}


def plain(mechanism):
    own = mechanism.problem("ind3")
    problem = Implicit_Problem(lambda t, y, yd: own.res(t, y, yd), own.y0, own.yd0, own.t0)
    problem.redundant = mechanism.redundant
    return problem


def run(scheme, problem, tolerance, end):
    solver = getattr(genalpha, scheme)(problem)
    solver.verbosity, solver.rtol, solver.atol = 50, tolerance, tolerance
    solver.simulate(end)
    return solver


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", CATALOGUE)
def test_as_the_mechanism(name, scheme):
    o = CATALOGUE[name]()
    tolerance = TOLERANCES[(list(CATALOGUE).index(name) + list(SCHEMES).index(scheme)) % 4]
    end = o.t0 + ENDS.get(name, 0.1)
    try:
        wanted = integrate(o, end, scheme, rtol=tolerance, atol=tolerance)
    except GenAlphaError as error:
        with pytest.raises(type(error)):
            run(scheme, plain(o), tolerance, end)
        return
    solver = run(scheme, plain(o), tolerance, end)
    y = solver.y_sol
    assert solver.statistics["nsteps"] <= 1.3 * wanted.statistics.nsteps + 8
    size = np.maximum(1.0, np.abs(wanted.q[-1]))
    assert (np.abs(y[-1][: o.n_q] - wanted.q[-1]) <= 10.0 * tolerance * size).all()


def test_redundant_rows_are_named_with_their_cure():
    problem = plain(CATALOGUE["n_four_bar"]())
    problem.redundant = "error"
    with pytest.raises(RedundantConstraintsError, match=r"problem\.redundant = 'least'"):
        run("GenAlphaSOI2", problem, 1e-4, 0.1)
