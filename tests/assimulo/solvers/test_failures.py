"""Failures: the right exception, the results so far, and a solver that can be used again."""

from __future__ import annotations

import numpy as np
import pytest
from assimulo.exception import AssimuloRecoverableError

from genalpha.errors import (
    CallbackError,
    ConvergenceError,
    InconsistentStartError,
    SingularSystemError,
)

pytestmark = pytest.mark.needs_assimulo

#: From here on the callback misbehaves.
LIMIT = 0.055


class UnexpectedError(Exception):
    pass


def after_limit(mechanism, misbehave, until=np.inf):
    def force(t, q, v):
        good = mechanism.force(t, q, v)
        return misbehave(good, q) if LIMIT < t < until else good

    return mechanism.replace(force=force).problem("ind3")


def raising(error):
    def misbehave(good, q):
        raise error

    return misbehave


def fails(solver, kind, **output):
    """Simulate until it fails; check what is left, and that the solver can be used again."""
    with pytest.raises(kind) as caught:
        solver.simulate(0.1, **output)
    assert len(solver.t_sol) == len(solver.y_sol) == len(solver.yd_sol) > 3
    assert 0.04 <= solver.t_sol[-1] <= LIMIT + 1e-3
    assert np.array_equal(solver.y, solver.y_sol[-1])
    assert not np.shares_memory(solver.y, solver.y_sol[-1])
    solver.reset()
    assert solver.simulate(0.03)[0][-1] == 0.03
    return caught.value


@pytest.mark.parametrize("error", [UnexpectedError("why"), KeyboardInterrupt(), ValueError("odd")])
@pytest.mark.parametrize("output", [{}, {"ncp": 20}])
@pytest.mark.parametrize("continuously", [False, True])
def test_an_exception_of_a_callback_arrives_unchanged(make, mechanism, error, output, continuously):
    solver = make(after_limit(mechanism, raising(error)), report_continuously=continuously)
    with pytest.raises(type(error)) as caught:
        solver.simulate(0.1, **output)
    assert caught.value is error
    assert len(solver.t_sol) == len(solver.y_sol) == (11 if output else 6)
    assert solver.t_sol[-1] == 0.05
    solver.reset()
    assert solver.simulate(0.03)[0][-1] == 0.03


@pytest.mark.parametrize(
    "error",
    [AssimuloRecoverableError("no"), ZeroDivisionError("no"), np.linalg.LinAlgError("no")],
)
def test_a_recoverable_error_shortens_the_step(make, mechanism, error):
    calls = []

    def misbehave(good, q):
        calls.append(1)
        raise error

    # passable by steps that avoid the bad interval
    solver = make(after_limit(mechanism, misbehave, until=0.0601))
    t, y, _ = solver.simulate(0.1)
    assert calls and t[-1] == 0.1 and min(np.diff(t)) < 0.9e-2
    undisturbed = make(mechanism.problem("ind3")).simulate(0.1)[1]
    assert np.allclose(y[-1][:4], undisturbed[-1][:4], atol=1e-3)
    # not passable at all
    solver = make(after_limit(mechanism, raising(error)))
    assert fails(solver, type(error)) is error


def test_a_recoverable_error_in_the_first_step(make, mechanism):
    def force(t, q, v):
        if 0.009 < t < 0.0101:
            raise ZeroDivisionError
        return mechanism.force(t, q, v)

    t = make(mechanism.replace(force=force).problem("ind3")).simulate(0.1)[0]
    assert t[-1] == 0.1


def test_nan(make, mechanism):
    error = fails(make(after_limit(mechanism, lambda good, q: good * np.nan)), CallbackError)
    for text in ("force", "nan", "t = 0.05", "h = 0.01"):
        assert text in str(error)


def test_wrong_shape(make, mechanism):
    error = fails(make(after_limit(mechanism, lambda good, q: np.zeros(3))), CallbackError)
    for text in ("force", "(3,)", "(2,)", "t = 0.05", "h = 0.01"):
        assert text in str(error)


def test_newton_failure(make, mechanism):
    def wild(good, q):
        return good + 1e9 * np.sin(1e6 * q[::-1]) * np.array([0.0, 1.0])

    error = fails(make(after_limit(mechanism, wild)), ConvergenceError)
    for text in ("t = 0.05", "h = 0.01", "q[1]", "constraint rod"):
        assert text in str(error)


def test_singular_matrix(make, mechanism):
    """Without mass, nothing balances a force along the circle. (With gravity, it would hang.)"""
    weightless = mechanism.replace(
        mass=lambda t, q: np.eye(2) * (t < LIMIT), force=lambda t, q, v: np.array([-q[1], q[0]])
    )
    error = fails(make(weightless.problem("ind3")), (SingularSystemError, ConvergenceError))
    for text in ("t = 0.05", "h = 0.01"):
        assert text in str(error)


def test_inconsistent_start(make, problem):
    solver = make(problem)
    solver.re_init(0.0, [1.1, 0, 0, 0, 0], np.zeros(5))
    with pytest.raises(InconsistentStartError, match="rod"):
        solver.simulate(0.1)
    flag, y, yd = solver.make_consistent("IDA_YA_YDP_INIT")
    assert flag == 0 and np.allclose(y, [1, 0, 0, 0, 0]) and np.array_equal(y, solver.y)
    assert np.array_equal(yd, solver.yd) and yd[3] == pytest.approx(-13.7503671)
    assert solver.simulate(0.1)[0][-1] == 0.1


def test_make_consistent_fails_with_an_exception(make, problem):
    solver = make(problem)
    with pytest.raises(ValueError, match="IDA_Y_INIT"):
        solver.make_consistent("IDA_Y_INIT")
    solver.re_init(0.0, np.zeros(5), np.zeros(5))
    with pytest.raises(InconsistentStartError):
        solver.make_consistent()


def test_make_consistent_keeps_what_is_fixed(make, problem):
    solver = make(problem)
    solver.re_init(0.0, [0.8, -0.65, 0.3, 1.0, 0], np.zeros(5))
    _, y, _ = solver.make_consistent(fixed_q=[0], fixed_v=[1])
    assert y[0] == 0.8 and y[1] == pytest.approx(-0.6)
    assert y[3] == 1.0 and y[2] == pytest.approx(0.75)
    assert y[4] == pytest.approx(y[2] ** 2 + y[3] ** 2 + 13.7503671 * 0.6)


def test_going_on_after_a_failure(make, mechanism):
    faulty = [True]

    def force(t, q, v):
        if t > LIMIT and faulty[0]:
            raise UnexpectedError
        return mechanism.force(t, q, v)

    for output in ({}, {"ncp": 17}):
        faulty[0] = True
        solver = make(mechanism.replace(force=force).problem("ind3"))
        with pytest.raises(UnexpectedError):
            solver.simulate(0.1, **output)
        faulty[0] = False
        t, y, _ = solver.simulate(0.1)
        assert 0.04 < t[0] < LIMIT and t[-1] == 0.1
        assert abs(y[-1][0] ** 2 + y[-1][1] ** 2 - 1) < 1e-12
