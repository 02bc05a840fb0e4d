"""Every class x every clause of what Assimulo asks of a solver class."""

from __future__ import annotations

from time import sleep

import numpy as np
import pytest
from assimulo.implicit_ode import Implicit_ODE
from assimulo.problem import Explicit_Problem, Overdetermined_Problem

from .conftest import GRAVITY, START, residual

pytestmark = pytest.mark.needs_assimulo

STATISTICS = ["nsteps", "nfcns", "njacs", "nfcnjacs", "nerrfails", "nlus", "nniters", "nnfails"]
STATISTICS += ["nstatefcns", "nstateevents", "ntimeevents", "nstepevents"]


class TestClass:
    def test_is_an_assimulo_solver(self, make, problem):
        solver = make(problem)
        assert isinstance(solver, Implicit_ODE)
        assert all(
            solver.supports[key]
            for key in ("report_continuously", "interpolated_output", "state_events")
        )

    def test_overdetermined_problem_of_any_number_of_rows(self, make, mechanism):
        solver = make(mechanism.problem("ovstab1"))
        assert solver.simulate(0.1)[1].shape == (11, 5)

        def doubled(t, y, yd):  # neq is not set, one row more than unknowns
            return np.append(residual(t, y, yd), y[0] * y[2] + y[1] * y[3])

        t, y, yd = make(Overdetermined_Problem(doubled, *START)).simulate(0.1)
        assert len(t) == 11 and y.shape == yd.shape == (11, 5)

    def test_explicit_problem_returns_t_and_y(self, make):
        spring = Explicit_Problem(lambda t, y: np.array([y[1], -y[0]]), [1.0, 0.0])
        t, y = make(spring, h=1e-3).simulate(1.0, 4)
        assert t[-1] == 1.0
        assert np.allclose(y[:, 0], np.cos(t), atol=1e-5)

    def test_residual_may_have_any_shape_and_overwrite_its_arguments(self, make, plain):
        def rough(t, y, yd):
            value = residual(t, y, yd).reshape(-1, 1)
            y[:], yd[:] = np.nan, np.nan
            return value

        _, y, yd = make(plain(rough)).simulate(0.2, 3)
        _, expected, expected_yd = make(plain()).simulate(0.2, 3)
        assert np.array_equal(y, expected) and np.array_equal(yd, expected_yd)

    def test_residual_is_looked_up_at_run_time(self, make, plain):
        solver = make(plain())

        def lighter(t, y, yd):
            return residual(t, y, yd) - np.array([0, 0, 0, 0.5 * GRAVITY, 0])

        solver.problem.res = lighter
        y = solver.simulate(0.2)[1]
        assert np.array_equal(y, make(plain(lighter)).simulate(0.2)[1])

    def test_start_and_first_row_stay_intact(self, make, problem):
        solver = make(problem)
        y0 = problem.y0.copy()
        _, y, yd = solver.simulate(0.3)
        assert np.array_equal(problem.y0, y0) and np.array_equal(solver.y0, y0)
        assert np.array_equal(y[0], y0) and np.array_equal(yd[0], problem.yd0)


class TestOutput:
    def test_every_step(self, make, problem):
        t, y, _ = make(problem).simulate(0.1)
        assert np.allclose(t, np.linspace(0, 0.1, 11), atol=1e-15) and t[-1] == 0.1
        assert y.shape == (11, 5)

    @pytest.mark.parametrize("continuously", [False, True])
    def test_output_points(self, make, problem, continuously):
        solver = make(problem, report_continuously=continuously)
        t, y, yd = solver.simulate(0.1, 7)
        assert np.array_equal(t, np.linspace(0, 0.1, 8))
        assert np.allclose(yd[:, :2], y[:, 2:4]) and not yd[:, 4:].any()

    @pytest.mark.parametrize("continuously", [False, True])
    def test_list_of_output_points(self, make, problem, continuously):
        solver = make(problem, report_continuously=continuously)
        t, y, _ = solver.simulate(0.1, 0, [0.03, 0.0312, 0.0317, 0.08])
        assert t == [0.0, 0.03, 0.0312, 0.0317, 0.08, 0.1]
        solver.reset()
        fine = solver.simulate(0.1, 0, [0.0312])[1]
        assert np.array_equal(fine[1], y[2])

    def test_output_does_not_change_the_steps(self, make, problem):
        solver = make(problem)
        end = solver.simulate(0.1)[1][-1]
        steps = solver.statistics["nsteps"]
        solver.reset()
        assert np.array_equal(solver.simulate(0.1, 37)[1][-1], end)
        assert solver.statistics["nsteps"] == steps == 10

    @pytest.mark.parametrize("ncp", [0, 5])
    @pytest.mark.parametrize("continuously", [False, True])
    def test_rows_are_independent_arrays(self, make, problem, ncp, continuously):
        solver = make(problem, report_continuously=continuously)
        solver.simulate(0.1, ncp)
        rows = [*solver.y_sol, *solver.yd_sol, solver.y, solver.yd]
        assert all(row.dtype == np.float64 for row in rows)
        pairs = [(a, b) for i, a in enumerate(rows) for b in rows[:i]]
        # the base class itself hands over the present y and yd as the first row
        shared = [(a, b) for a, b in pairs if np.shares_memory(a, b)]
        assert not shared

    @pytest.mark.parametrize("continuously", [False, True])
    def test_continuous_report_calls_handle_result_at_once(self, make, problem, continuously):
        solver = make(problem, report_continuously=continuously)
        seen, force = [], solver.problem.mechanism.force
        solver.problem.handle_result = lambda solver, t, y, yd: seen.append(t)
        solver.problem.mechanism = solver.problem.mechanism.replace(
            force=lambda t, q, v: seen.append("force") or force(t, q, v)
        )
        solver.simulate(0.03)
        between = [x for x in seen[seen.index(0.01) : seen.index(0.02)] if x == "force"]
        assert bool(between) is continuously

    def test_backward(self, make, problem):
        for continuously in (False, True):
            solver = make(problem, h=1e-3, report_continuously=continuously)
            forward = solver.simulate(0.2, 4)[1]
            solver.backward = True
            t, y, _ = solver.simulate(0.0, 4)
            assert np.allclose(t, [0.2, 0.15, 0.1, 0.05, 0.0], atol=1e-15) and t[-1] == 0.0
            assert np.allclose(y[:, :4], forward[::-1, :4], atol=1e-4)
            solver.re_init(0.2, forward[-1], np.zeros(5))
            solver.make_consistent()  # index 3 lets velocities drift
            assert solver.simulate(0.0, 0, [0.1])[0] == [0.2, 0.1, 0.0]

    def test_interpolation_is_exact_at_both_ends_and_of_high_order(self, make, mechanism):
        errors = []
        for h in (2e-2, 1e-2):
            solver = make(mechanism.problem("ind3"), h=h)
            _, y, yd = solver.simulate(0.4)
            assert np.array_equal(solver.interpolate(0.4), y[-1])
            assert np.allclose(solver.interpolate(solver.t_sol[-2]), y[-2], atol=1e-15)
            assert np.allclose(solver.interpolate(solver.t_sol[-2], 1), yd[-2], atol=1e-13)
            points = [y[-2], solver.interpolate(0.4 - 0.5 * h), y[-1]]
            left, middle, right = (p[0] ** 2 + p[1] ** 2 for p in points)
            errors.append(abs(middle - 0.5 * (left + right)))
        assert errors[1] < errors[0] / 7  # the scheme has order 2

    def test_plot(self, make, problem):
        import matplotlib.pyplot as plt

        plt.close("all")
        solver = make(problem)
        _, y, _ = solver.simulate(0.1, 5)
        solver.plot(mask=[1, 1, 0, 0, 0])
        lines = [line.get_ydata() for line in plt.gca().lines]
        plt.close("all")
        assert len(lines) == 2
        for i, line in enumerate(lines):
            assert np.array_equal(line, y[:, i])


class TestLifeCycle:
    def test_second_simulate_continues(self, make, problem):
        solver = make(problem)
        solver.simulate(0.1)
        t, y, _ = solver.simulate(0.2)
        assert t[0] == 0.1 and t[-1] == 0.2 and len(t) == 11
        assert np.allclose(y[-1][:4], make(problem).simulate(0.2)[1][-1][:4], atol=1e-3)

    def test_simulate_to_the_present_time(self, make, problem):
        solver = make(problem)
        solver.simulate(0.1)
        assert solver.simulate(0.1)[0] == [0.1]

    def test_reset(self, make, problem):
        solver = make(problem)
        first = solver.simulate(0.1)[1]
        solver.reset()
        assert np.array_equal(solver.simulate(0.1)[1], first)

    def test_re_init_takes_integers(self, make, problem):
        solver = make(problem)
        solver.simulate(0.1)
        solver.re_init(1, [0, -1, 1, 0, 0], [1, 0, 0, 0, 0])
        t, y, _ = solver.simulate(1.1)
        assert t[0] == 1.0 and np.array_equal(y[0], [0, -1, 1, 0, 0])
        assert y[-1][0] > 0.05

    def test_initialize_and_finalize(self, make, problem):
        calls = []
        problem.initialize = lambda solver: calls.append("initialize")
        problem.finalize = lambda solver: calls.append("finalize")
        make(problem).simulate(0.02)
        assert calls == ["initialize", "finalize"]

    def test_calling_the_solver(self, make, problem):
        assert make(problem)(0.1, 5)[0][-1] == 0.1


class TestStatistics:
    def test_all_counters(self, make, problem):
        solver = make(problem)
        solver.simulate(0.1)
        counted = {key: solver.statistics[key] for key in STATISTICS}
        assert counted["nsteps"] == 10
        assert counted["nniters"] == counted["nfcns"] > 10
        assert counted["njacs"] >= 1 and counted["nlus"] >= 1
        assert counted["nfcnjacs"] == 0, "the mechanism has all derivatives"
        others = ("nerrfails", "nnfails", "nstatefcns", "nstateevents", "ntimeevents")
        assert all(counted[key] == 0 for key in others)

    def test_each_simulation_counts_anew(self, make, problem):
        solver = make(problem)
        solver.simulate(0.1)
        solver.simulate(0.13)
        assert solver.statistics["nsteps"] == 3

    def test_differenced_jacobians_are_counted(self, make, plain):
        solver = make(plain())
        solver.simulate(0.1)
        assert solver.statistics["nfcnjacs"] > 0

    def test_printing(self, make, problem, capsys):
        solver = make(problem)
        solver.verbosity = 30
        solver.simulate(0.02)
        printed = capsys.readouterr().out
        for text in (
            "Final Run Statistics",
            "Number of steps",
            "Solver options:",
            type(solver).__name__,
            "h = 0.01",
            "Tolerances (absolute)   : 1e-06",
            "Tolerances (relative)   : 1e-06",
        ):
            assert text in printed
        solver.verbosity = 50
        solver.simulate(0.04)
        solver.print_statistics()
        assert capsys.readouterr().out == ""


class TestBaseOptions:
    def test_time_limit(self, make, mechanism):
        from assimulo.exception import TimeLimitExceeded

        def slow(t, q, v):
            sleep(1e-3)
            return mechanism.force(t, q, v)

        problem = mechanism.replace(force=slow).problem("ind3")
        solver = make(problem, h=1e-3, report_continuously=True, time_limit=0.2)
        with pytest.raises(TimeLimitExceeded):
            solver.simulate(1.0)  # at least a second on any machine
        assert len(solver.t_sol) > 1 and solver.t >= solver.t_sol[-1]  # few on a busy machine
        solver.time_limit = 0
        solver.h = 1e-2
        assert solver.simulate(solver.t + 0.1)[0][-1] > 0.1

    @pytest.mark.parametrize("clock_step", [True, False])
    def test_clock_step(self, make, problem, clock_step):
        solver = make(problem, report_continuously=True, clock_step=clock_step)
        times = []
        problem.handle_result = lambda *result: times.append(solver.get_elapsed_step_time())
        solver.simulate(0.1)
        assert len(times) == 11
        # Assimulo's word for "not measured" is -1
        assert all(0 < x < 5 if clock_step else x == -1 for x in times[2:])

    @pytest.mark.parametrize("display_progress", [True, False])
    def test_display_progress(self, make, problem, display_progress, capsys):
        solver = make(problem, report_continuously=True, display_progress=display_progress)

        def overdue(solver, *result):  # Assimulo tells progress every ten seconds only
            solver.display_counter = -1

        problem.handle_result = overdue
        solver.simulate(0.1)
        assert ("Integrator time:" in capsys.readouterr().out) == display_progress

    def test_verbosity(self, make, problem, capsys):
        solver = make(problem)
        solver.simulate(0.02)
        assert capsys.readouterr().out == ""
        solver.verbosity = 10
        solver.simulate(0.04)
        assert "Final Run Statistics" in capsys.readouterr().out
