"""Events of all kinds, in all output modes, for any sign and direction of time."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from assimulo.exception import TerminateSimulation
from assimulo.problem import Explicit_Problem, Implicit_Problem

from genalpha import Mechanism
from genalpha.errors import AccumulatingEventsError, CallbackError, InvalidOptionError
from genalpha.mechanisms.bouncing import Stop, bouncing_pendulum
from tests.driver.impacts import random_case

from .conftest import GRAVITY, residual

pytestmark = pytest.mark.needs_assimulo


def watched(problem, *functions, handle=None):
    """Give a problem event functions of (t, y, yd, sw), and a record of events."""
    problem.seen = []
    problem.state_events = lambda t, y, yd, sw: np.array([f(t, y, yd, sw) for f in functions])

    def handle_event(solver, event_info):
        problem.seen.append((solver.t, event_info))
        if handle is not None:
            handle(solver, event_info)

    problem.handle_event = handle_event
    return problem


def at_time(time):
    return lambda t, y, yd, sw: t - time


class TestLocation:
    @pytest.mark.parametrize("start", [0.0, -3.0, 1000.0])
    @pytest.mark.parametrize("direction", [1, -1])
    @pytest.mark.parametrize("where", [1e-9, 0.0137, 0.05, 0.1 - 1e-9])
    def test_time_of_an_event(self, make, mechanism, start, direction, where):
        shifted = mechanism.replace(t0=start, force=lambda t, q, v: mechanism.force(0.0, q, v))
        time = start + direction * where
        problem = watched(shifted.problem("ind3"), at_time(time))
        solver = make(problem, backward=direction < 0)
        t, _, _ = solver.simulate(start + direction * 0.1, 3)
        ((found, info),) = problem.seen
        assert abs(found - time) <= 1e-12 * max(1.0, abs(time))
        assert info == [[direction], False]
        assert t[-1] == start + direction * 0.1

    def test_state_of_an_event_is_on_the_constraints(self, make, mechanism):
        problem = watched(mechanism.problem("ind3"), lambda t, y, yd, sw: y[1] + 0.05)
        solver = make(problem, h=2e-2)
        _, y, yd = solver.simulate(0.3)
        time = problem.seen[0][0]
        rows = [i for i, t in enumerate(solver.t_sol) if t == time]
        event = y[rows[0]]
        assert abs(event[1] + 0.05) < 1e-14
        assert abs(event[0] ** 2 + event[1] ** 2 - 1) < 1e-14
        assert abs(event[0] * event[2] + event[1] * event[3]) < 1e-14
        assert np.array_equal(yd[rows[0]][:2], event[2:4])

    def test_first_of_several_in_one_step_wins(self, make, problem):
        times = (0.0338, 0.0332, 0.0335, 0.2)
        watched(problem, *(at_time(x) for x in times))
        solver = make(problem)
        solver.simulate(0.1, 4)
        assert solver.statistics["nstateevents"] == 3
        # three per step, some forty per event, and five to see how values scatter there
        assert 39 <= solver.statistics["nstatefcns"] < 220
        assert np.allclose([t for t, _ in problem.seen], sorted(times[:3]), atol=1e-12)
        assert [info[0] for _, info in problem.seen] == [[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]

    def test_events_at_the_same_time_come_together(self, make, problem):
        watched(problem, at_time(0.033), at_time(0.07), lambda t, y, yd, sw: 2 * t - 0.066)
        make(problem).simulate(0.05)
        assert [info for _, info in problem.seen] == [[[1, 0, 1], False]]

    def test_event_on_an_output_point(self, make, problem):
        watched(problem, at_time(0.0375))
        t, _, _ = make(problem).simulate(0.1, 8)
        assert abs(problem.seen[0][0] - 0.0375) < 1e-15
        assert sorted(set(np.round(t, 12))) == list(np.round(np.linspace(0, 0.1, 9), 12))

    def test_an_event_at_the_end(self, make, problem):
        watched(problem, at_time(0.1 - 1e-13))
        t, _, _ = make(problem).simulate(0.1)
        assert len(problem.seen) == 1 and t[-1] == 0.1


class TestOutputAtEvents:
    @pytest.mark.parametrize("continuously", [False, True])
    @pytest.mark.parametrize("store", [False, True])
    def test_results(self, make, problem, continuously, store):
        """With output points: the points, and the event before and after if it is stored."""
        watched(problem, at_time(0.0312))
        solver = make(problem, report_continuously=continuously, store_event_points=store)
        t, _, _ = solver.simulate(0.1, 4)
        others = [x for x in t if abs(x - 0.0312) > 1e-9]
        assert np.allclose(others, np.linspace(0, 0.1, 5), atol=1e-15)
        # integrate itself must end on the event, continuously reported runs need not show it
        assert len(t) - len(others) == (not continuously) + 2 * store
        assert all(np.diff(t) >= 0)

    def test_every_step(self, make, problem):
        watched(problem, at_time(0.0312))
        t, _, _ = make(problem).simulate(0.1)
        assert np.allclose(
            t, [0, 0.01, 0.02, 0.03, 0.0312, 0.0312, *np.arange(0.0412, 0.1, 0.01), 0.1]
        )

    def test_interpolation_after_an_event(self, make, problem):
        def stop(solver, info):
            raise TerminateSimulation

        watched(problem, at_time(0.0312), handle=stop)
        solver = make(problem)
        t, y, _ = solver.simulate(0.1)
        assert solver.t == t[-1] == pytest.approx(0.0312, abs=1e-12)
        # velocities of GenAlphaI3 are off the constraints by O(h^2), an event's are on them
        assert np.allclose(solver.interpolate(0.0312), y[-1], atol=3e-4)
        assert np.allclose(solver.interpolate(0.03), y[-2], atol=1e-15)
        assert solver.simulate(0.05)[0][-1] == 0.05, "a terminated simulation can go on"


class TestHandling:
    def test_switches_reach_all_callbacks(self, make, plain):
        seen = {"res": set(), "events": set()}

        def res(t, y, yd, sw):
            seen["res"].add(tuple(sw))
            value = residual(t, y, yd)
            value[3] -= 0.0 if sw[0] else 0.5 * GRAVITY
            return value

        def flip(solver, info):
            assert isinstance(solver.sw, list)
            solver.sw[0] = False

        problem = watched(plain(res, sw0=[True]), at_time(0.05), handle=flip)
        events = problem.state_events
        problem.state_events = lambda t, y, yd, sw: (
            seen["events"].add(tuple(sw)) or events(t, y, yd, sw)
        )
        solver = make(problem, h=1e-3)
        _, y, _ = solver.simulate(0.1)
        assert seen["res"] == seen["events"] == {(True,), (False,)}
        speed = 0.05 * GRAVITY + 0.05 * 0.5 * GRAVITY
        assert y[-1][3] == pytest.approx(-speed, rel=1e-2)
        solver.reset()
        assert solver.sw == [True]

    def test_switches_without_state_events(self, make, plain):
        problem = plain(lambda t, y, yd, sw: residual(t, y, yd), sw0=[True])
        assert make(problem).simulate(0.05)[0][-1] == 0.05

    def test_state_events_without_switches(self, make, plain):
        problem = watched(plain(), at_time(0.033))
        make(problem).simulate(0.05)
        assert len(problem.seen) == 1

    def test_new_data_of_the_problem(self, make, plain):
        """A mass that an event changes, although it was constant until then."""
        data = {"mass": 1.0}

        def res(t, y, yd):
            value = residual(t, y, yd)
            value[2:4] += (data["mass"] - 1.0) * yd[2:4]
            return value

        def heavier(solver, info):
            data["mass"] = 4.0

        problem = watched(plain(res), at_time(0.05), handle=heavier)
        _, y, _ = make(problem, h=1e-3).simulate(0.1)
        assert y[-1][3] == pytest.approx(-1.25 * 0.05 * GRAVITY, rel=1e-2)

    def test_a_new_mechanism(self, make, problem, mechanism):
        def lighter(solver, info):
            solver.problem.mechanism = mechanism.replace(force=lambda t, q, v: np.zeros(2))

        watched(problem, at_time(0.05), handle=lighter)
        _, y, _ = make(problem, h=1e-3).simulate(0.1)
        assert y[-1][3] == pytest.approx(-0.05 * GRAVITY, rel=1e-2)

    def test_impact_velocities_are_kept_if_consistent(self, make, problem):
        def bounce(solver, info):
            solver.y[2:4] *= -0.7

        watched(problem, at_time(0.0533), handle=bounce)
        solver = make(problem)
        t, y, _ = solver.simulate(0.06)  # one step after the event
        before, after = (row for x, row in zip(t, y, strict=True) if x == problem.seen[0][0])
        assert np.array_equal(after[2:4], -0.7 * before[2:4])
        assert np.allclose(solver.interpolate(problem.seen[0][0]), [*after[:4], y[-1][4]], atol=0.5)
        assert np.array_equal(solver.interpolate(problem.seen[0][0])[:4], after[:4])

    def test_impact_velocities_are_made_consistent(self, make, problem):
        def shove(solver, info):
            solver.y[2] += 1.0  # mostly along the rod

        watched(problem, at_time(0.0533), handle=shove)
        solver = make(problem)
        _, y, _ = solver.simulate(0.1)
        tolerance = 1e-2 if type(solver).__name__ == "GenAlphaI3" else 1e-12
        last = y[-1]
        assert abs(last[0] * last[2] + last[1] * last[3]) < tolerance
        assert abs(last[0] ** 2 + last[1] ** 2 - 1) < 1e-12

    def test_positions_off_the_constraints_are_refused(self, make, problem):
        def shove(solver, info):
            solver.y[0] += 0.1

        watched(problem, at_time(0.0533), handle=shove)
        with pytest.raises(ValueError, match="rod"):
            make(problem).simulate(0.1)

    def test_make_consistent_in_handle_event(self, make, problem):
        def shove(solver, info):
            solver.y[:4] = [0.6, -0.79, 1.0, 0.0]
            solver.make_consistent()

        watched(problem, at_time(0.0533), handle=shove)
        t, y, _ = make(problem).simulate(0.1)
        row = y[[i for i, x in enumerate(t) if x == problem.seen[0][0]][-1]]
        assert abs(row[0] ** 2 + row[1] ** 2 - 1) < 1e-14
        assert row[4] == pytest.approx(row[2] ** 2 + row[3] ** 2 - GRAVITY * row[1])

    @pytest.mark.parametrize("continuously", [False, True])
    def test_terminate(self, make, problem, continuously):
        def stop(solver, info):
            raise TerminateSimulation

        watched(problem, at_time(0.0533), handle=stop)
        solver = make(problem, report_continuously=continuously)
        t, _, _ = solver.simulate(0.1)
        assert t[-1] == solver.t == pytest.approx(0.0533, abs=1e-12)

    def test_options_may_change_at_events(self, make, problem):
        def finer(solver, info):
            solver.h = 1e-3

        watched(problem, at_time(0.05), handle=finer)
        solver = make(problem)
        solver.simulate(0.06)
        assert solver.statistics["nsteps"] == 5 + 10

    def test_an_exception_in_handle_event(self, make, problem):
        def fail(solver, info):
            raise KeyError("mine")

        watched(problem, at_time(0.05), handle=fail)
        solver = make(problem)
        with pytest.raises(KeyError, match="mine"):
            solver.simulate(0.1)
        assert solver.t_sol[-1] == pytest.approx(0.05, abs=1e-12)


class TestTimeAndStepEvents:
    @pytest.mark.parametrize("ncp", [0, 7])
    @pytest.mark.parametrize("continuously", [False, True])
    def test_time_events(self, make, problem, ncp, continuously):
        times = [0.0, 0.023, 0.05, 0.0999]
        problem.seen = []
        problem.time_events = lambda t, y, yd, sw: next(
            (x for x in times[len(problem.seen) :] if x >= t), None
        )
        problem.handle_event = lambda solver, info: problem.seen.append((solver.t, info))
        solver = make(problem, report_continuously=continuously)
        t, _, _ = solver.simulate(0.1, ncp)
        assert problem.seen == [(x, [[], True]) for x in times]
        assert solver.statistics["ntimeevents"] == 4 and t[-1] == 0.1
        if ncp:
            assert set(np.round(np.linspace(0, 0.1, 8), 12)) <= set(np.round(t, 12))

    def test_a_time_event_that_has_passed(self, make, problem):
        problem.time_events = lambda t, y, yd, sw: 0.05 if t < 0.05 else 0.02
        problem.handle_event = lambda solver, info: None
        with pytest.raises(CallbackError, match=r"0\.02, which has passed"):
            make(problem).simulate(0.1)

    def test_time_events_backward_are_refused(self, make, problem):
        problem.time_events = lambda t, y, yd, sw: None
        with pytest.raises(InvalidOptionError, match="backward"):
            make(problem, backward=True).simulate(-0.1)

    @pytest.mark.parametrize("ncp", [0, 7])
    def test_step_events(self, make, problem, ncp):
        seen, handled = [], []

        def step_events(solver):
            seen.append(solver.t)
            return len(seen) == 3

        problem.step_events = step_events
        problem.handle_event = lambda solver, info: handled.append((solver.t, info))
        solver = make(problem)
        t, _, _ = solver.simulate(0.1, ncp)
        assert np.allclose(seen, np.arange(1, 11) * 0.01)
        assert handled == [(seen[2], [[], False])]
        assert solver.statistics["nstepevents"] == 1 and t[-1] == 0.1

    def test_explicit_problem_with_events(self, make):
        """A ball that bounces; rhs and events have the explicit signatures."""
        ball = Explicit_Problem(lambda t, y: np.array([y[1], -10.0]), [1.0, 0.0])
        hits = []
        ball.state_events = lambda t, y, sw: np.array([y[0]])

        def bounce(solver, info):
            if info[0][0] < 0:
                hits.append(solver.t)
                solver.y[1] *= -1.0

        ball.handle_event = bounce
        fall = np.sqrt(0.2)
        for ncp in (0, 10):
            hits.clear()
            solver = make(ball, h=1e-2)
            t, y = solver.simulate(2.0, ncp)
            assert np.allclose(hits, fall * np.array([1, 3]), atol=1e-10)
            assert t[-1] == 2.0 and y[:, 0].min() > -1e-12
            assert "handle_result" not in vars(ball)


def test_200_impacts(make):
    """A pendulum that hits a stop at its lowest point loses none of the impacts."""
    stop = Stop(angle=0.0, restitution=0.97)
    mechanism = bouncing_pendulum(stop, length=0.1, angle0=0.5)

    def rebound(solver, info):
        if info[0][0] < 0:
            hits.append(solver.t)
            solver.y[2:4] = stop.rebound(solver.t, solver.y[:2], solver.y[2:4])

    hits: list[float] = []
    problem = watched(
        mechanism.problem("ind3"),
        lambda t, y, yd, sw: stop.gap(t, y[:2], y[2:4]),
        handle=rebound,
    )
    half_period = np.pi * np.sqrt(0.1 / 9.81)
    solver = make(problem, h=half_period / 12)
    solver.simulate(206 * half_period, 10)
    waits = np.diff(hits) / half_period
    assert len(hits) >= 200
    assert waits.min() > 0.98 and waits.max() < 1.08


class TestHandlersOfNewUsers:
    """A ball, g = y; the handlers look at signs or not."""

    FALL = np.sqrt(0.2)

    def bounce(self, make, handle, end, **options):
        ball = Explicit_Problem(lambda t, y: np.array([y[1], -10.0]), [1.0, 0.0])
        hits = []

        def handle_event(solver, info):
            hits.append(solver.t)
            handle(solver.y)

        ball.state_events = lambda t, y, sw: np.array([y[0]])
        ball.handle_event = handle_event
        solver = make(ball, **options)
        try:
            solver.simulate(end)
        finally:
            self.hits, self.lowest = np.array(hits), min(y[0] for y in solver.y_sol)

    @pytest.mark.parametrize("h", [None, 0.01, 0.3])
    @pytest.mark.parametrize("blind", [True, False])
    def test_a_ball_that_keeps_its_speed(self, make, h, blind):
        def handle(y):
            y[0] = y[0] if blind else 0.0
            y[1] = -y[1] if blind else abs(y[1])

        self.bounce(make, handle, 5.0, h=h)
        assert self.hits == pytest.approx(self.FALL * np.arange(1, 12, 2), abs=1e-10)
        assert self.lowest > -1e-12

    @pytest.mark.parametrize("h", [None, 0.01])
    @pytest.mark.parametrize("rate", [0.5, 0.8])
    def test_a_ball_that_comes_to_rest(self, make, h, rate):
        def handle(y):
            if rate == 0.5:
                y[1] *= -rate if y[1] < 0.0 else 1.0
            else:
                y[:] = 0.0, rate * abs(y[1])

        with pytest.raises(AccumulatingEventsError, match=f"each wait {rate} times"):
            self.bounce(make, handle, 5.0, h=h)
        waits = 2.0 * self.FALL * rate ** np.arange(1, len(self.hits) + 1)
        # the last one was not handled: the error came before
        exact = self.FALL + np.append(0.0, np.cumsum(waits))[: len(self.hits)]
        assert len(self.hits) > 15
        assert self.hits == pytest.approx(exact, abs=1e-10)
        assert self.lowest > -1e-12

    @pytest.mark.parametrize("h", [None, 0.01])
    @pytest.mark.parametrize("rate", [0.0, 1e-10, 1e-6, 1e-4, 1e-3])
    @pytest.mark.parametrize("explicit", [True, False])
    def test_a_ball_that_is_stopped_does_not_fall_through(self, make, h, rate, explicit):
        def handle(solver, info):
            solver.y[1] *= -rate

        if explicit:
            ball = Explicit_Problem(lambda t, y: np.array([y[1], -10.0]), [1.0, 0.0])
            ball.state_events = lambda t, y, sw: np.array([y[0]])
        else:
            ball = Implicit_Problem(
                lambda t, y, yd, sw=None: np.array([yd[0] - y[1], yd[1] + 10.0]),
                [1.0, 0.0],
                [0.0, -10.0],
            )
            ball.state_events = lambda t, y, yd, sw: np.array([y[0]])
        ball.handle_event = handle
        solver = make(ball, h=h)
        with pytest.raises(AccumulatingEventsError, match=r"state_events\[0\].* rest"):
            solver.simulate(1.0)
        assert min(y[0] for y in solver.y_sol) > -1e-12

    def test_a_switch_says_what_follows(self, make):
        """A trap door: the ball is stopped, then the floor is gone."""

        def handle(solver, info):
            solver.y[1], solver.sw = 0.0, [True]

        ball = Explicit_Problem(lambda t, y, sw: np.array([y[1], -10.0]), [1.0, 0.0], sw0=[False])
        ball.state_events = lambda t, y, sw: np.array([y[0]])
        ball.handle_event = handle
        _, y = make(ball).simulate(1.0)
        assert y[-1, 0] < -0.5

    def test_oscillations_within_a_step(self, make):
        ball = Explicit_Problem(lambda t, y: np.array([y[1], -10.0]), [1.0, 0.0])
        times = []
        ball.state_events = lambda t, y, sw: np.array([np.sin(1e4 * t)])
        ball.handle_event = lambda solver, info: times.append(solver.t)
        make(ball, h=0.01).simulate(0.05)
        assert times == pytest.approx(np.pi / 1e4 * np.arange(1, 160), abs=1e-14)


class TestNeverAHang:
    @pytest.mark.parametrize("apart", [1e-16, 1e-20, 1e-300])
    def test_time_events_that_are_next_to_each_other(self, make, problem, apart):
        problem.time_events = lambda t, y, yd, sw: t + apart
        problem.handle_event = lambda solver, info: None
        with pytest.raises(CallbackError, match=r"time_events returned .* 100 times in a row"):
            make(problem).simulate(1.0)

    def test_time_events_that_always_return_the_same_time(self, make, problem):
        problem.time_events = lambda t, y, yd, sw: 0.05
        problem.handle_event = lambda solver, info: None
        with pytest.raises(CallbackError, match=r"returned t = 0\.05, .* 100 times in a row"):
            make(problem).simulate(0.1)

    def test_a_number_of_events_that_changes(self, make, problem):
        watched(problem, at_time(0.03))
        problem.state_events = lambda t, y, yd, sw: np.ones(1 if t < 0.05 else 2)
        with pytest.raises(CallbackError, match="state_events: 2 functions at t = 0"):
            make(problem).simulate(0.1)

    @pytest.mark.parametrize("right", [*range(2, 9), 12, 20])
    @pytest.mark.parametrize("other", [0, 2])
    def test_a_number_of_events_that_changes_at_any_call(self, make, problem, right, other):
        calls = itertools.count()
        watched(problem, at_time(0.03))
        problem.state_events = lambda t, y, yd, sw: np.ones(1 if next(calls) < right else other)
        with pytest.raises(CallbackError, match=f"state_events: {other} functions at t = "):
            make(problem).simulate(0.1)

    def test_a_mechanism_of_other_sizes(self, make, problem, mechanism):
        def free(solver, info):
            solver.problem.mechanism = Mechanism(
                force=mechanism.force, q0=mechanism.q0, v0=mechanism.v0
            )

        watched(problem, at_time(0.05), handle=free)
        with pytest.raises(CallbackError, match="of other sizes"):
            make(problem).simulate(0.1)


class TestOutputOutsideTheRun:
    @pytest.mark.parametrize("times", [[0.05, 0.02], [0.05, 0.2], [np.nan]])
    def test_output_points(self, make, problem, times):
        with pytest.raises(InvalidOptionError, match="ncp_list"):
            make(problem).simulate(0.1, ncp_list=times)

    @pytest.mark.parametrize("end", [np.inf, np.nan])
    def test_the_end(self, make, problem, end):
        with pytest.raises(InvalidOptionError, match="tfinal"):
            make(problem).simulate(end)

    def test_interpolation(self, make, problem):
        solver = make(problem)
        solver.simulate(0.1)
        for t in (0.085, 0.11):
            with pytest.raises(ValueError, match="outside the last step"):
                solver.interpolate(t)


@pytest.mark.parametrize("seed", range(int(os.environ.get("GENALPHA_IMPACTS", "100")) // 10))
def test_random_impacts(make, seed):
    """None lost, none double, at the exact times, forward and backward."""
    case = random_case(np.random.default_rng(1000 + seed), 10)
    n, hits = case.mechanism.n_q, []

    def rebound(solver, info):
        hits.append(solver.t)
        solver.y[n : 2 * n] = case.after(solver.t, solver.y[:n], solver.y[n : 2 * n])

    problem = watched(
        case.mechanism.problem("ind3"),
        lambda t, y, yd, sw: case.gap(t, y[:n], y[n : 2 * n]),
        handle=rebound,
    )
    solver = make(problem, h=None if seed % 2 else 0.11, backward=case.direction < 0)
    solver.simulate(case.end)
    assert len(hits) == len(case.times)
    assert hits == pytest.approx(case.times, abs=1e-10 * max(1.0, abs(case.end)), rel=0)
