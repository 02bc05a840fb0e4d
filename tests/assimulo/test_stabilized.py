"""The stabilized problem and the solver classes in Assimulo."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.exception import TerminateSimulation
from assimulo.problem import Explicit_Problem
from assimulo.solvers import Dopri5, ExplicitEuler, RungeKutta4

from genalpha.assimulo.stabilized import StabilizedMechanism
from genalpha.assimulo.stabilized_solvers import StabilizedEuler, StabilizedRK2
from genalpha.errors import ConvergenceError, InvalidOptionError
from genalpha.stabilization.gains import Gains

pytestmark = pytest.mark.needs_assimulo

CLASSES = {"StabilizedEuler": StabilizedEuler, "StabilizedRK2": StabilizedRK2}
GAINS = Gains.baumgarte(10.0)


def quiet(solver, h=None):
    solver.verbosity = 50
    if h is not None:
        solver.h = h
    return solver


def swing(t, y):
    return np.array([y[1], -np.sin(y[0]) + 0.1 * t])


@pytest.mark.parametrize("solver", [Dopri5, RungeKutta4])
@pytest.mark.parametrize("name", ["assimulo_pendulum", "slider_crank", "rolling_disk"])
def test_other_solvers_take_the_problem(mechanism_called, name, solver):
    o = mechanism_called(name)
    problem = StabilizedMechanism(o, gains=GAINS)
    made = quiet(solver(problem))
    if solver is Dopri5:
        made.rtol, made.atol = 1e-8, 1e-10
    else:
        made.h = 5e-4
    t, y = made.simulate(0.1)
    exact = o.reference.motion(0.1)
    lam, psi = problem.multipliers(t, y)
    assert y[-1] == pytest.approx(np.concatenate([exact.q, exact.v]), abs=1e-5)
    assert np.append(lam[-1], psi[-1]) == pytest.approx(np.append(exact.lam, exact.psi), abs=1e-3)
    assert lam.shape == (len(t), o.n_lam)
    assert np.abs(problem.deviation(t, y)).max() < 1e-6


def test_multipliers_with_the_pull_are_those_of_3_11(mechanism_called, off_constraints):
    o = off_constraints(mechanism_called("assimulo_pendulum"), [1e-3, 0.0])
    problem = StabilizedMechanism(o, gains=GAINS)
    lam, _ = problem.multipliers(0.0, problem.y0)
    pulled, _ = problem.multipliers(0.0, problem.y0, control=True)
    q = o.q0
    assert pulled - lam == pytest.approx([100.0 * 1e-3 / (q @ q)], rel=1e-9)  # S = |q|^2


@pytest.mark.parametrize("scheme", CLASSES)
def test_the_classes_give_what_integrate_gives(mechanism_called, run, scheme):
    o, h = mechanism_called("slider_crank"), 2.0**-12
    solver = quiet(CLASSES[scheme](StabilizedMechanism(o, gains=GAINS)), h)
    t, y = solver.simulate(64 * h)
    s = run(o, 64 * h, scheme, h, gains=GAINS)
    assert np.array_equal(t, s.t)
    assert np.array_equal(y, np.hstack([s.q, s.v]))
    assert np.array_equal(solver.deviation.measured, s.deviation.measured)
    assert np.array_equal(solver.deviation.guaranteed, s.deviation.guaranteed)
    assert solver.statistics["nsteps"] == 64
    assert solver.statistics["nfcns"] == s.statistics.nfcns


@pytest.mark.parametrize("scheme", CLASSES)
def test_automatic_gains_bring_their_step_and_their_promise(mechanism_called, scheme):
    o = mechanism_called("assimulo_pendulum")
    problem = StabilizedMechanism(o, h=2e-3, t_final=1.0, eps=(1e-2, 1.0), scheme=scheme)
    solver = quiet(CLASSES[scheme](problem))
    assert solver.h == 2e-3
    solver.simulate(1.0)
    found = solver.deviation
    assert found.breach is None
    assert np.all(found.measured <= found.promised)
    assert np.all(found.promised <= [1e-2 * 1.000001, 1.000001])


def test_plain_problems_get_the_classical_methods_exactly():
    h, y0 = 2.0**-6, [1.0, 0.0]
    ours = quiet(StabilizedEuler(Explicit_Problem(swing, y0)), h)
    theirs = quiet(ExplicitEuler(Explicit_Problem(swing, y0)), h)
    assert np.array_equal(ours.simulate(1.0)[1], theirs.simulate(1.0)[1])
    assert ours.deviation is None
    for sigma, alpha in ((1.0, 0.5), (0.5, 1.0)):
        solver = quiet(StabilizedRK2(Explicit_Problem(swing, y0)), h)
        solver.sigma = sigma
        assert solver.alpha == alpha
        t, y = solver.simulate(1.0)
        x = np.array(y0)
        for i in range(64):
            k1 = swing(i * h, x)
            k2 = swing((i + alpha) * h, x + alpha * h * k1)
            x = x + h * (k2 if sigma == 1.0 else 0.5 * (k1 + k2))
            assert np.array_equal(y[i + 1], x)
        assert t[-1] == 1.0


def test_setting_alpha_sets_sigma():
    solver = StabilizedRK2(Explicit_Problem(swing, [1.0, 0.0]))
    solver.alpha = 2.0 / 3.0
    assert solver.sigma == pytest.approx(0.75)
    for name, value in (("sigma", 0.0), ("alpha", -1.0), ("sigma", np.nan), ("h", 0.0)):
        with pytest.raises(InvalidOptionError, match=name):
            setattr(solver, name, value)


def test_a_step_size_must_be_given_and_time_runs_forward():
    solver = quiet(StabilizedEuler(Explicit_Problem(swing, [1.0, 0.0])))
    solver.backward = True
    with pytest.raises(InvalidOptionError) as caught:
        solver.simulate(-1.0)
    assert len(caught.value.faults) == 2


def test_automatic_gains_need_a_step_and_an_end(mechanism_called):
    with pytest.raises(InvalidOptionError) as caught:
        StabilizedMechanism(mechanism_called("assimulo_pendulum"))
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("continuously", [False, True])
def test_output_points_are_interpolated(continuously):
    exact = quiet(RungeKutta4(Explicit_Problem(swing, [1.0, 0.0])))
    exact.h = 1e-3
    reference = exact.simulate(1.0)[1][-1]
    solver = quiet(StabilizedRK2(Explicit_Problem(swing, [1.0, 0.0])), 3e-3)
    solver.report_continuously = continuously
    t, y = solver.simulate(1.0, 7)
    assert t == pytest.approx(np.linspace(0.0, 1.0, 8))
    assert y[-1] == pytest.approx(reference, abs=1e-5)
    dense = quiet(StabilizedRK2(Explicit_Problem(swing, [1.0, 0.0])), 3e-3)
    times, states = dense.simulate(1.0)
    for i in range(8):  # between two steps, near both
        right = int(np.searchsorted(times, t[i]))
        near = np.abs(states[[max(0, right - 1), right]] - y[i]).max()
        assert near <= 3e-3 * 1.5
    t, _ = solver.simulate(1.5)
    assert t[0] == 1.0
    assert t[-1] == 1.5
    slope = solver.interpolate(1.499, 1)
    assert slope == pytest.approx(swing(1.499, solver.interpolate(1.499)), abs=1e-4)


class Bounce(Explicit_Problem):
    """A ball that falls to the floor in 1 s and bounces without loss."""

    def __init__(self):
        Explicit_Problem.__init__(self, y0=[0.5, 0.0])
        self.times, self.info = [], []

    def rhs(self, t, y, sw=None):
        return np.array([y[1], -1.0])

    def state_events(self, t, y, sw):
        return np.array([y[0]])

    def handle_event(self, solver, event_info):
        self.times.append(solver.t)
        self.info.append(list(event_info[0]))
        solver.y = np.array([1e-13, -solver.y[1]])  # from 0 on, rising would be an event too
        if len(self.times) == 2:
            raise TerminateSimulation


@pytest.mark.parametrize("scheme", CLASSES)
def test_state_events(scheme):
    problem = Bounce()
    solver = quiet(CLASSES[scheme](problem), 0.003)
    solver.simulate(5.0, 20)
    tolerance = 1e-9 if scheme == "StabilizedRK2" else 2e-2
    assert problem.times == pytest.approx([1.0, 3.0], abs=tolerance)
    assert problem.info == [[-1], [-1]]
    assert solver.statistics["nstateevents"] == 2


class Zigzag(Explicit_Problem):
    """y runs between 0 and 1; the switch says in which direction."""

    def __init__(self):
        Explicit_Problem.__init__(self, y0=[0.5], sw0=[True])

    def rhs(self, t, y, sw):
        return np.array([1.0 if sw[0] else -1.0])

    def state_events(self, t, y, sw):
        return np.array([1.0 - y[0] if sw[0] else y[0]])

    def handle_event(self, solver, event_info):
        solver.sw = [not solver.sw[0]]


def test_switches_reach_the_right_hand_side():
    _, y = quiet(StabilizedRK2(Zigzag()), 0.03).simulate(4.0, 16)
    assert y[:, 0].max() == pytest.approx(1.0, abs=1e-9)
    assert y[:, 0].min() == pytest.approx(0.0, abs=1e-9)
    assert y[-1] == pytest.approx([0.5], abs=1e-9)  # two periods of 2


def test_a_solution_that_is_not_finite_is_an_error_and_keeps_what_was_found():
    solver = quiet(StabilizedEuler(Explicit_Problem(lambda t, y: y**3, [1.0])), 0.1)
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ConvergenceError, match="not finite"),
    ):
        solver.simulate(10.0)
    assert len(solver.t_sol) > 3
    assert np.isfinite(solver.y_sol).all()


def test_stability_of_the_gains(mechanism_called):
    o = mechanism_called("assimulo_pendulum")
    constant = StabilizedMechanism(o, gains=Gains.baumgarte(3.0, 5.0))
    assert constant.stability().theorem == 3
    assert constant.stability().decay == pytest.approx(3.0)
    varying = StabilizedMechanism(
        o, gains=Gains(A10=-25.0, A11=lambda t, q, v: [[-10.0 - q[0] ** 2]])
    )
    t, y = quiet(Dopri5(varying)).simulate(1.0, 20)
    found = varying.stability(t, y)
    assert found.theorem == 4
    assert found.asymptotic
    assert varying.stability().asymptotic


def test_statistics_name_the_bound(mechanism_called, capsys):
    solver = StabilizedRK2(StabilizedMechanism(mechanism_called("knife_edge"), gains=GAINS))
    solver.h = 0.01
    solver.simulate(0.5)
    printed = capsys.readouterr().out
    for line in ("StabilizedRK2", "Step size             : 0.01", "Guaranteed deviation"):
        assert line in printed
