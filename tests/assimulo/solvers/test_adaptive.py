"""Adaptive steps inside Assimulo: the default, when no h is given."""

from __future__ import annotations

import re

import numpy as np
import pytest
from assimulo.exception import AssimuloRecoverableError

from genalpha.errors import GenAlphaError

from .test_events import at_time, watched

pytestmark = pytest.mark.needs_assimulo


def test_is_the_default(solver_class, problem, mechanism):
    solver = solver_class(problem)
    solver.verbosity = 50
    t, y, _ = solver.simulate(0.5)
    assert solver.h is None and len(set(np.round(np.diff(t), 9))) >= 4
    assert np.allclose(y[-1][:2], mechanism.reference.motion(0.5).q, atol=1e-4)


@pytest.mark.parametrize("form", ["ind3", "ggl2", "ode"])
def test_tolerances(make, mechanism, form):
    errors, steps = [], []
    for tolerance in (1e-3, 1e-5):
        problem = mechanism.problem(form)
        solver = make(problem, h=None, rtol=tolerance, atol=np.full(problem.y0.size, tolerance))
        t, y = solver.simulate(1.0, 20)[:2]
        # the largest of twenty: one may be small by chance
        exact = [mechanism.reference.motion(x).q for x in t]
        errors.append(abs(y[:, :2] - exact).max())
        steps.append(solver.statistics["nsteps"])
    assert errors[1] < 0.1 * errors[0] and steps[1] > 2 * steps[0]


def test_every_entry_of_atol_counts(make, problem):
    steps = []
    for atol in ([1e-3] * 5, [1e-7, 1e-3, 1e-3, 1e-3, 1e-3]):
        solver = make(problem, h=None, rtol=0.0, atol=atol)
        solver.simulate(0.3)
        steps.append(solver.statistics["nsteps"])
    assert steps[1] > 2 * steps[0]


def test_first_and_largest_step(make, problem):
    t, _, _ = make(problem, h=None, inith=1e-5, rtol=1e-2, atol=1e-2, maxh=0.01).simulate(0.2)
    assert t[1] == pytest.approx(1e-5) and max(np.diff(t)) <= 0.01 + 1e-12
    unlimited = [make(problem, h=None, maxh=x).simulate(0.2)[0] for x in (0.0, np.inf)]
    assert unlimited[0] == unlimited[1]


@pytest.mark.parametrize("continuously", [False, True])
def test_maxsteps(make, problem, continuously):
    solver = make(problem, h=None, maxsteps=10, rtol=1e-8, report_continuously=continuously)
    with pytest.raises(GenAlphaError, match="maxsteps = 10"):
        solver.simulate(1.0, 2)
    solver.reset()
    assert solver.simulate(0.1)[0][-1] == 0.1, "every step is a result"


def test_options_of_the_controller_arrive(make, problem):
    def steps(**options):
        solver = make(problem, h=None, **{"rtol": 1e-5, "atol": 1e-5, **options})
        solver.simulate(0.3)
        return solver.statistics["nsteps"]

    default = steps()
    assert steps(safe=0.5) > 1.3 * default
    assert steps(inith=1e-6, fac2=1.3) > steps(inith=1e-6) + 10
    strict = {"rtol": 0.0, "atol": [1e-3] * 4 + [1e-9]}  # only the multiplier has to be exact
    assert steps(suppress_alg=False, **strict) > 2 * steps(**strict)


def test_statistics_of_step_sizes(make, problem, capsys):
    solver = make(problem, h=None, verbosity=30)
    t, _, _ = solver.simulate(0.3)
    printed = capsys.readouterr().out
    smallest, largest = np.diff(t).min(), np.diff(t).max()
    assert (
        f"Smallest and largest step                       : {smallest:.3g}, {largest:.3g}"
        in printed
    )
    solver.simulate(0.4)
    both = f": {smallest:.3g}, {largest:.3g}"
    assert both not in capsys.readouterr().out, "each simulation counts anew"


def test_events_and_output(make, problem):
    watched(problem, at_time(0.0312), lambda t, y, yd, sw: y[1] + 0.5)
    t, _, _ = make(problem, h=None, store_event_points=False).simulate(0.4, 4)
    assert abs(problem.seen[0][0] - 0.0312) < 1e-12 and len(problem.seen) == 2
    assert set(np.round(np.linspace(0, 0.4, 5), 12)) <= set(np.round(t, 12))


def test_backward(make, mechanism):
    solver = make(mechanism.problem("ind3"), h=None, backward=True)
    t, y, _ = solver.simulate(-0.5, 5)
    assert t[-1] == -0.5 and np.allclose(y[-1][:2], mechanism.reference.motion(0.5).q, atol=1e-4)


@pytest.mark.parametrize("error", [AssimuloRecoverableError, ZeroDivisionError])
def test_recoverable_errors(make, mechanism, error):
    def force(t, q, v):
        if 0.05 < t < 0.05 + 1e-6:
            raise error
        return mechanism.force(t, q, v)

    solver = make(mechanism.replace(force=force).problem("ind3"), h=None, maxh=0.01)
    assert solver.simulate(0.1)[0][-1] == 0.1

    def never(t, q, v):
        if t > 0.05:
            raise error("here")
        return mechanism.force(t, q, v)

    solver = make(mechanism.replace(force=never).problem("ind3"), h=None)
    with pytest.raises(GenAlphaError, match=r"t = (0\.0\d+).*here") as caught:
        solver.simulate(0.1)
    # differences look ahead by so little
    assert abs(float(re.findall(r"t = ([\d.]+)", str(caught.value))[0]) - 0.05) < 1e-8
    assert 0.04 < solver.t_sol[-1] <= 0.05


def test_newton_failure_at_the_smallest_step(make, mechanism):
    def force(t, q, v):
        wild = 1e12 * np.sin(1e15 * q[::-1]) if t > 0.05 else 0.0
        return mechanism.force(t, q, v) + wild

    solver = make(mechanism.replace(force=force).problem("ind3"), h=None)
    with pytest.raises(GenAlphaError) as caught:
        solver.simulate(0.1)
    for text in ("t = 0.05", "size"):
        assert text in str(caught.value)
