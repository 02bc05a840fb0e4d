"""The ways in: integrate, mechanism.problem and the names of the package."""

from __future__ import annotations

import numpy as np
import pytest

import genalpha
from genalpha import Gains, integrate
from genalpha.errors import InvalidOptionError


@pytest.mark.parametrize("scheme", ["StabilizedEuler", "StabilizedRK2"])
def test_integrate_takes_the_schemes(mechanism_called, scheme):
    o = mechanism_called("assimulo_pendulum")
    times = [0.0, 0.1234, 0.5]
    s = integrate(o, 0.5, scheme, 1e-3, t_eval=times, gains=Gains.baumgarte(10.0))
    assert np.array_equal(s.t, times)
    exact = o.reference.motion(0.5)
    assert s.q[-1] == pytest.approx(exact.q, abs=5e-3)
    assert s.lam[-1] == pytest.approx(exact.lam, abs=0.2)
    assert s(0.3).q == pytest.approx(o.reference.motion(0.3).q, abs=5e-3)
    assert np.all(s.deviation.measured <= s.deviation.guaranteed)
    assert s.statistics.nsteps == 500


def test_integrate_checks_the_options(mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    with pytest.raises(InvalidOptionError, match="rho_inf"):
        integrate(o, 0.5, "StabilizedRK2", 1e-3, rho_inf=0.8)
    with pytest.raises(InvalidOptionError, match="gains"):
        integrate(o, 0.5, "GenAlphaSOI2", 1e-3, gains=Gains.none())


@pytest.mark.needs_assimulo
def test_mechanisms_give_the_problem_and_the_package_the_classes(mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    problem = o.problem("stabilized", gains=Gains.baumgarte(10.0), name="pulled")
    assert problem.form == "stabilized"
    assert problem.name == "pulled"
    solver = genalpha.StabilizedRK2(problem)
    solver.verbosity, solver.h = 50, 1e-3
    t, y = solver.simulate(0.5)
    s = integrate(o, 0.5, "StabilizedRK2", 1e-3, gains=Gains.baumgarte(10.0))
    assert np.array_equal(t, s.t)
    assert np.array_equal(y[:, :2], s.q)
    with pytest.raises(TypeError, match="gains"):
        o.problem("ode", gains=Gains.none())
