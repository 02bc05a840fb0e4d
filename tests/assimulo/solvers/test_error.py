"""The option `error`: the error of the result in the solver classes."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import HHTI2, GenAlphaI3, GenAlphaSOI2, Mechanism
from genalpha.driver.extrapolation import WantedErrorWarning
from genalpha.errors import InvalidOptionError
from tests.driver.extrapolation.test_events import flight
from tests.driver.support import mechanism


@pytest.mark.parametrize("kind", [GenAlphaI3, GenAlphaSOI2, HHTI2])
def test_the_result_has_the_wanted_error(kind):
    o = mechanism("simple_pendulum")
    solver = kind(o.problem("ind3"))
    assert solver.error is None
    solver.error = 1e-6
    t, y, _ = solver.simulate(1.0, 20)
    exact = [o.reference.motion(x) for x in t]
    q, v, lam = y[:, : o.n_q], y[:, o.n_q : 2 * o.n_q], y[:, 2 * o.n_q :]
    for x, name in ((q, "q"), (v, "v"), (lam, "lam")):
        true = np.array([getattr(motion, name) for motion in exact])
        assert np.abs(x - true).max() <= 1e-6 * np.abs(true).max(), name
    assert solver.statistics["nsteps"] > 100


def test_a_second_simulate_goes_on():
    o = mechanism("simple_pendulum")
    solver = HHTI2(o.problem("ind3"))
    solver.error = 1e-6
    solver.simulate(0.4)
    t, y, _ = solver.simulate(1.0)
    assert t[-1] == 1.0
    true = o.reference.motion(1.0).q
    assert np.abs(y[-1, : o.n_q] - true).max() <= 3e-6 * np.abs(true).max()


def test_a_state_event_cuts_the_window():
    """The pendulum's lowest point, found as exactly as the motion is known."""
    o = mechanism("simple_pendulum")
    problem = o.problem("ind3")
    found = []
    problem.state_events = lambda t, y, yd, sw: np.array([y[0]])
    problem.handle_event = lambda solver, info: found.append((solver.t, solver.y[0]))
    problem.sw0 = [True]
    solver = HHTI2(problem)
    solver.error = 1e-8
    solver.simulate(1.0)
    assert found
    for t, x in found:
        assert abs(x) < 1e-10
        assert abs(o.reference.motion(t).q[0]) < 1e-7


def between_circles(solver_class, end, error):
    """Fly to and fro between two circles, where small errors grow sixfold at each impact."""
    free = Mechanism(force=lambda t, q, v: np.zeros(2), q0=[0.0, 1e-7], v0=[1.0, 0.0], name="disks")
    centres = np.array([[2.0, 0.0], [-2.0, 0.0]])
    problem = free.problem("ind3")
    problem.sw0 = [True]

    def distances(t, y, yd, sw):
        return np.array([(y[:2] - c) @ (y[:2] - c) - 1.0 for c in centres])

    def bounce(solver, info):
        for i in np.flatnonzero(info[0]):
            n = solver.y[:2] - centres[i]
            v = solver.y[2:4]
            solver.y[2:4] = v - 2.0 * (n @ v) / (n @ n) * n

    problem.state_events, problem.handle_event = distances, bounce
    solver = solver_class(problem)
    solver.error = error
    _, y, _ = solver.simulate(end)
    return y[-1], flight(end, list(centres), free.q0, free.v0), solver


def test_errors_are_carried_over_events():
    """Impacts of which each makes errors larger: few are within the wanted error, many are not."""
    y, true, solver = between_circles(GenAlphaI3, 8.0, 1e-6)
    assert np.abs(y[:2] - true).max() <= 1e-6
    assert solver.statistics["nstateevents"] == 4
    with pytest.warns(WantedErrorWarning, match="errors of the motion before its start"):
        between_circles(GenAlphaI3, 20.0, 1e-9)


def test_error_and_h_do_not_go_together():
    solver = GenAlphaI3(mechanism("simple_pendulum").problem("ind3"))
    solver.error, solver.h = 1e-4, 1e-2
    with pytest.raises(InvalidOptionError, match=r"error and h = 0\.01 are given"):
        solver.simulate(0.1)
