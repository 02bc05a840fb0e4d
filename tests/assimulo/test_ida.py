"""The adapter to scikit-sundae's IDA: Assimulo's calls, options, events, failures."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.exception import TerminateSimulation
from assimulo.problem import Explicit_Problem, Implicit_Problem
from scipy import sparse

from genalpha.assimulo import IDA, IDAError
from genalpha.errors import InvalidOptionError, UnsupportedProblemError

pytestmark = pytest.mark.needs_assimulo


def decay(**attributes):
    """y' = -y, z = y^2."""
    problem = Implicit_Problem(
        lambda t, y, yd: np.array([yd[0] + y[0], y[1] - y[0] ** 2]), [1.0, 1.0], [-1.0, -2.0]
    )
    problem.algvar = [1, 0]
    for key, value in attributes.items():
        setattr(problem, key, value)
    return problem


def quiet(problem, **options):
    solver = IDA(problem)
    solver.verbosity = 50
    for key, value in options.items():
        setattr(solver, key, value)
    return solver


class Falling(Implicit_Problem):
    """A ball that falls from 1 m, with an event at the ground and a switch."""

    t0 = -3.0  # negative times are where Assimulo's own search for events hangs

    def __init__(self, restitution=None):
        Implicit_Problem.__init__(self, y0=[1.0, 0.0], yd0=[0.0, -10.0], t0=self.t0, sw0=[True])
        self.restitution, self.seen = restitution, []

    def res(self, t, y, yd, sw):
        assert sw == [True]
        return np.array([yd[0] - y[1], yd[1] + 10.0])

    def state_events(self, t, y, yd, sw):
        return np.array([y[0], 5.0])

    def handle_event(self, solver, event_info):
        self.seen.append((solver.t, event_info))
        if self.restitution is None:
            raise TerminateSimulation
        if event_info[0][0] < 0:
            solver.y = np.array([0.0, -self.restitution * solver.y[1]])


def test_solution_output_and_statistics():
    solver = quiet(decay(), atol=1e-9, rtol=1e-9)
    t, y, yd = solver.simulate(2.0, 10)
    assert t == pytest.approx(np.linspace(0.0, 2.0, 11))
    assert y[:, 0] == pytest.approx(np.exp(-np.array(t)), abs=1e-7)
    assert y[:, 1] == pytest.approx(np.exp(-2.0 * np.array(t)), abs=1e-7)
    assert yd[:, 0] == pytest.approx(-np.exp(-np.array(t)), abs=1e-6)
    assert (solver.t, len(solver.t_sol)) == (2.0, 11)
    statistics = solver.statistics
    assert 20 < statistics["nsteps"] < 400
    assert statistics["nfcns"] >= statistics["nsteps"]
    assert statistics["nfcnjacs"] == 2 * statistics["njacs"] > 0
    for key in ("nerrfails", "nniters", "nnfails", "nlus"):
        assert statistics[key] is None


def test_every_step_and_chosen_points_agree():
    steps = quiet(decay())
    t, _, _ = steps.simulate(1.0)
    assert len(t) == steps.statistics["nsteps"] + 1
    chosen = quiet(decay())
    t, y, _ = chosen.simulate(1.0, ncp_list=[0.25, 0.5])
    assert t == [0.0, 0.25, 0.5, 1.0]
    assert chosen.statistics["nsteps"] == steps.statistics["nsteps"]
    assert chosen.y[0] == pytest.approx(steps.y[0], rel=1e-12)
    assert y[1, 0] == pytest.approx(np.exp(-0.25), abs=1e-5)


def test_report_continuously_gives_the_same():
    t, y, _ = quiet(decay(), report_continuously=True).simulate(1.0, 4)
    t_normal, y_normal, _ = quiet(decay()).simulate(1.0, 4)
    assert t == t_normal
    assert y == pytest.approx(y_normal, rel=1e-12)


def test_second_simulate_continues_and_reset_starts_again():
    solver = quiet(decay(), atol=1e-9, rtol=1e-9)
    solver.simulate(1.0)
    t, _, _ = solver.simulate(2.0)
    assert t[0] == 1.0
    assert solver.y[0] == pytest.approx(np.exp(-2.0), abs=1e-7)
    solver.reset()
    t, _, _ = solver.simulate(0.5)
    assert t[0] == 0.0


def test_backward_integration():
    solver = quiet(decay(), atol=1e-9, rtol=1e-9, backward=True)
    t, y, _ = solver.simulate(-1.0, 4)
    assert t == pytest.approx([0.0, -0.25, -0.5, -0.75, -1.0])
    assert y[:, 0] == pytest.approx(np.exp(-np.array(t)), abs=1e-6)
    solver = quiet(decay(), backward=True, report_continuously=True)
    with pytest.raises(InvalidOptionError, match="backward"):
        solver.simulate(-1.0, 4)


def test_interpolation_reaches_over_the_last_step_only():
    solver = quiet(decay(), atol=1e-9, rtol=1e-9)
    t, _, _ = solver.simulate(1.0)
    middle = 0.5 * (t[-1] + t[-2])
    assert solver.interpolate(middle)[0] == pytest.approx(np.exp(-middle), abs=1e-7)
    assert solver.interpolate(middle, 1)[0] == pytest.approx(-np.exp(-middle), abs=1e-6)
    with pytest.raises(ValueError, match="outside"):
        solver.interpolate(t[-2] - 0.1)


def test_given_jacobian_dense_and_sparse():
    calls = []

    def jac(c, t, y, yd):
        calls.append(c)
        return np.array([[1.0 + c, 0.0], [-2.0 * y[0], 1.0]])

    dense = quiet(decay(jac=jac))
    assert (dense.usejac, dense.linear_solver) == (True, "DENSE")
    dense.simulate(1.0)
    assert dense.statistics["nfcnjacs"] == 0
    assert len(calls) > 2
    thin = quiet(decay(jac=lambda *x: sparse.csc_matrix(jac(*x))))
    assert thin.linear_solver == "SPARSE"
    thin.simulate(1.0)
    assert thin.y == pytest.approx(dense.y, rel=1e-9)
    before = len(calls)
    differenced = quiet(decay(jac=jac), usejac=False)
    before = len(calls)
    differenced.simulate(1.0)
    assert len(calls) == before


def test_a_growing_sparsity_pattern_is_named():
    def jac(c, t, y, yd):
        late = 1e-3 if t > 0.1 else 0.0
        return sparse.csc_array(np.array([[1.0 + c, late], [-2.0 * y[0], 1.0]]))

    with pytest.raises(UnsupportedProblemError, match=r"\[0, 1\].*DENSE"):
        quiet(decay(jac=jac)).simulate(1.0)

    def stored(c, t, y, yd):
        full = jac(c, t, y, yd).toarray().T.ravel()
        return sparse.csc_array((full, [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))

    quiet(decay(jac=stored)).simulate(1.0)  # the advice that the error gives


def test_suppressed_variables_do_not_cut_the_step():
    """A fast algebraic ripple costs steps only if it is tested."""

    def ripple():
        problem = Implicit_Problem(
            lambda t, y, yd: np.array([yd[0] + y[0], y[1] - np.sin(200.0 * t)]),
            [1.0, 0.0],
            [-1.0, 200.0],
        )
        problem.algvar = [1, 0]
        return problem

    tested, untested = quiet(ripple()), quiet(ripple(), suppress_alg=True)
    tested.simulate(1.0)
    untested.simulate(1.0)
    assert untested.statistics["nsteps"] < 0.2 * tested.statistics["nsteps"]
    assert untested.y[0] == pytest.approx(np.exp(-1.0), abs=1e-4)
    assert (untested.atol == 1e-6).all()


def test_tolerance_of_one_component():
    loose, tight = (quiet(decay(), atol=[x, 1e-3], rtol=1e-12) for x in (1e-4, 1e-9))
    loose.simulate(1.0)
    tight.simulate(1.0)
    assert tight.statistics["nsteps"] > 2 * loose.statistics["nsteps"]


def test_first_maximal_step_and_order():
    t, _, _ = quiet(decay(), inith=1e-5).simulate(1.0)
    assert t[1] == pytest.approx(1e-5)
    free, short = quiet(decay(), maxh=np.inf), quiet(decay(), maxh=0.01)
    free.simulate(1.0)
    short.simulate(1.0)
    assert short.statistics["nsteps"] >= 100 > free.statistics["nsteps"]
    low = quiet(decay(), maxord=1)
    low.simulate(1.0)
    assert low.statistics["nsteps"] > 3 * free.statistics["nsteps"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("atol", -1.0),
        ("atol", [1.0, 1.0, 1.0]),
        ("rtol", "small"),
        ("maxord", 6),
        ("maxsteps", 0.5),
        ("maxh", -1),
        ("algvar", [2, 0]),
        ("usejac", True),
        ("linear_solver", "SPGMR"),
        ("linear_solver", "SPARSE"),
    ],
)
def test_bad_options_are_refused_and_change_nothing(option, value):
    solver = quiet(decay())
    before = np.copy(solver.options[option])
    with pytest.raises(InvalidOptionError, match=option):
        setattr(solver, option, value)
    assert (solver.options[option] == before).all()


def test_make_consistent():
    problem = decay(y0=np.array([1.0, 0.3]), yd0=np.array([0.0, 0.0]))
    solver = quiet(problem)
    flag, y, yd = solver.make_consistent("IDA_YA_YDP_INIT")
    assert flag == 0
    assert y == pytest.approx([1.0, 1.0], abs=1e-6)
    assert yd[0] == pytest.approx(-1.0, abs=1e-6)
    assert solver.y is y
    with pytest.raises(InvalidOptionError, match="IDA_Y_INIT"):
        solver.make_consistent("guess")


def test_make_consistent_fails_with_an_exception(capsys):
    problem = Implicit_Problem(lambda t, y, yd: np.array([y[0] ** 2 + 1.0]), [1.0], [0.0])
    problem.algvar = [0]
    with pytest.raises(IDAError, match=r"t = 0"):
        quiet(problem).make_consistent("IDA_YA_YDP_INIT")


def test_state_event_is_located_and_can_end_the_run():
    problem = Falling()
    solver = quiet(problem, atol=1e-12, rtol=1e-12)
    t, y, _ = solver.simulate(0.0, 30)
    hit = -3.0 + np.sqrt(0.2)
    assert t[-1] == pytest.approx(hit, abs=1e-10)
    assert y[-1, 0] == pytest.approx(0.0, abs=1e-10)
    assert problem.seen == [(t[-1], [[-1, 0], False])]
    assert solver.statistics["nstateevents"] == 1
    assert t[1] - t[0] == pytest.approx(0.1)


def test_events_restart_from_the_changed_state():
    problem = Falling(restitution=1.0)
    solver = quiet(problem, atol=1e-12, rtol=1e-12)
    solver.simulate(3.0)
    hits = [t for t, info in problem.seen if info[0][0] < 0]
    fall = np.sqrt(0.2)
    assert hits == pytest.approx([-3.0 + fall * (2 * k + 1) for k in range(len(hits))], abs=1e-9)
    assert len(hits) == 7
    assert solver.t == 3.0


def test_switches_that_an_event_changes_reach_the_residual():
    class Brake(Implicit_Problem):
        """Growth until y = 2, then rest."""

        def res(self, t, y, yd, sw):
            return yd - (y if sw[0] else 0.0)

        def state_events(self, t, y, yd, sw):
            return np.array([y[0] - 2.0])

        def handle_event(self, solver, event_info):
            solver.sw[0] = False
            solver.yd = np.zeros(1)

    solver = quiet(Brake(y0=[1.0], yd0=[1.0], sw0=[True]), atol=1e-10, rtol=1e-10)
    solver.simulate(2.0)
    assert solver.y == pytest.approx([2.0], abs=1e-8)


def test_an_end_that_is_only_rounding_away():
    """IDA itself refuses to start so close to its end."""
    t0 = 1000.0
    problem = decay(t0=t0)
    solver = quiet(problem)
    end = np.nextafter(t0, np.inf)
    t, y, _ = solver.simulate(end, 1)
    assert t[0] == t0 and set(t) <= {t0, end}  # newer Assimulos see that nothing is left to do
    assert y[-1] == pytest.approx(y[0])


def test_time_events():
    problem = decay()
    problem.time_events = lambda t, y, yd, sw: 0.5 if t < 0.5 else None
    seen = []
    problem.handle_event = lambda solver, info: seen.append((solver.t, info))
    solver = quiet(problem, atol=1e-9, rtol=1e-9)
    solver.simulate(1.0, 3)
    assert seen == [(0.5, [[], True])]
    assert solver.y[0] == pytest.approx(np.exp(-1.0), abs=1e-7)


def test_explicit_problem_returns_two_things():
    problem = Explicit_Problem(lambda t, y: -y, [1.0])
    problem.jac = lambda t, y: np.array([[-1.0]])
    solver = quiet(problem, atol=1e-9, rtol=1e-9)
    t, y = solver.simulate(1.0, 4)
    assert y[:, 0] == pytest.approx(np.exp(-np.array(t)), abs=1e-7)
    assert solver.statistics["nfcnjacs"] == 0


def test_failure_is_an_exception_with_the_time_and_results_so_far(pendulum, capsys):
    solver = quiet(pendulum.problem("ind3"), suppress_alg=True, maxsteps=200)
    with pytest.raises(IDAError, match="t = 0") as failure:
        solver.simulate(2.0)
    assert 0.0 < failure.value.t < 2.0
    assert solver.t_sol[-1] == solver.t == failure.value.t
    assert len(solver.t_sol) == len(solver.y_sol) == len(solver.yd_sol) > 10


def test_failure_of_sundials_itself(capsys):
    problem = Implicit_Problem(  # without a solution from t = 0.5 on
        lambda t, y, yd: yd + y if t < 0.5 else y**2 + 1.0, [1.0], [-1.0]
    )
    solver = quiet(problem)
    with pytest.raises(IDAError, match=r"IDA stopped at t = 0\.[45]") as failure:
        solver.simulate(2.0)
    assert failure.value.flag < 0
    assert failure.value.t == solver.t_sol[-1] == solver.t


def test_maxsteps_counts_between_output_points():
    needed = quiet(decay())
    needed.simulate(1.0)
    limit = needed.statistics["nsteps"] - 5
    with pytest.raises(IDAError, match=f"maxsteps = {limit}"):
        quiet(decay(), maxsteps=limit).simulate(1.0)
    quiet(decay(), maxsteps=limit).simulate(1.0, 20)


class UnrelatedError(RuntimeError):
    """An exception of the user's own."""


@pytest.mark.parametrize("exception", [UnrelatedError, KeyboardInterrupt, ValueError])
def test_exceptions_of_callbacks_arrive_unchanged(exception):
    mine = exception("mine")

    def res(t, y, yd):
        if t > 0.5:
            raise mine
        return yd + y

    solver = quiet(Implicit_Problem(res, [1.0], [-1.0]))
    with pytest.raises(exception) as caught:
        solver.simulate(1.0)
    assert caught.value is mine
    assert len(solver.t_sol) > 2
    assert solver.t_sol[-1] <= 0.5
    solver.reset()
    solver.simulate(0.3)
    assert solver.t == 0.3


def test_recoverable_errors_cut_the_step():
    """The first trial step leads where res fails; smaller ones do not."""
    failures = []

    def res(t, y, yd):
        if y[0] < 0.2:
            failures.append(t)
            raise np.linalg.LinAlgError("too far")
        return yd + y

    solver = quiet(Implicit_Problem(res, [1.0], [-1.0]), inith=0.9, atol=1.0, rtol=1.0)
    solver.simulate(1.5)
    assert failures
    assert solver.t == 1.5


def test_what_it_cannot_solve_is_refused(pendulum):
    with pytest.raises(UnsupportedProblemError, match="ODASSL"):
        IDA(pendulum.problem("ovstab2"))
    crowded = Implicit_Problem(lambda t, y, yd: np.append(yd + y, 0.0), [1.0], [-1.0])
    with pytest.raises(UnsupportedProblemError, match="2 values for 1"):
        quiet(crowded).simulate(1.0)


def test_printing(capsys):
    solver = IDA(decay(name="decay"))
    solver.simulate(1.0)
    printed = capsys.readouterr().out
    for text in ("decay", "Number of steps", "IDA (SUNDIALS", "1e-06", "DENSE"):
        assert text in printed
    assert "nonlinear iterations" not in printed
