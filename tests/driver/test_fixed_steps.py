"""Given and equal steps, output times, the solution object, running backwards."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import integrate
from genalpha.numerics.accuracy import FULL
from tests.driver.support import SCHEMES, mechanism, oscillator, pendulum


@pytest.mark.parametrize("h", [0.1, -0.1, 1 / 3, 0.7 / 6, 1e-3])
@pytest.mark.parametrize("end", [1.0, -1.0, 0.7])
def test_grids(h, end):
    """Equal steps, the end hit exactly, and no tiny step before it, in both directions."""
    steps = integrate(oscillator(), end, h=h).steps
    assert (steps[0], steps[-1]) == (0.0, end)
    sizes = np.sign(end) * np.diff(steps)
    np.testing.assert_allclose(sizes[:-1], abs(h), rtol=1e-9)
    assert 0.01 * abs(h) < sizes[-1] <= 1.01 * abs(h)


def test_a_size_that_divides_gives_equal_steps():
    """Although 10 steps of 0.1 are not 1 in floating point."""
    for count in (3, 7, 10, 49, 1000):
        steps = integrate(oscillator(), 1.0, h=1.0 / count).steps
        assert steps.size == count + 1
        np.testing.assert_allclose(np.diff(steps), 1.0 / count, rtol=1e-10)


@pytest.mark.parametrize("rest", [1e-12, 1e-6, 0.005])
def test_a_tiny_rest_is_merged_with_the_last_step(rest):
    steps = integrate(oscillator(), 1.0 + rest * 0.1, h=0.1).steps
    assert steps.size == 11
    assert steps[-1] == 1.0 + rest * 0.1


def test_a_step_longer_than_the_interval():
    assert integrate(oscillator(), 0.3, h=1.0).steps.tolist() == [0.0, 0.3]


def test_starts_that_are_not_zero():
    o = oscillator().replace(t0=1e3)
    steps = integrate(o, 1001.0, h=0.1).steps
    assert (steps[0], steps[-1], steps.size) == (1e3, 1001.0, 11)


@pytest.mark.parametrize("error", [0.0, 4e-10, -4e-10])
def test_given_steps(error):
    """As many as given, and the last one ends at the end, whatever rounding has done to the sum.

    The sum may be wrong by 1e-9 of the interval, which is more than a small step resolves.
    """
    sizes = [(1.0 + error) * 1e-3 * x for x in (0.5, 1.5)] * 500
    steps = integrate(oscillator(), 1.0, h=sizes).steps
    assert steps.size == 1001
    assert steps[-1] == 1.0
    np.testing.assert_allclose(np.diff(steps), sizes, atol=1e-9)


def test_given_steps_backwards():
    steps = integrate(oscillator(), -1.0, h=[-0.3, -0.5, -0.2]).steps
    np.testing.assert_allclose(steps, [0.0, -0.3, -0.8, -1.0])


@pytest.mark.parametrize("h", [0.01, None, [0.3, 0.5, 0.2]])
def test_output_times_do_not_change_the_steps(h):
    free = integrate(pendulum(), 1.0, h=h)
    times = [0.0, 0.123, 0.5, 0.123, 1.0]  # in any order, twice if wanted
    asked = integrate(pendulum(), 1.0, h=h, t_eval=times)
    assert np.array_equal(asked.steps, free.steps)
    assert asked.t.tolist() == times
    for key in ("q", "v", "vdot", "lam", "psi"):
        assert np.array_equal(getattr(asked, key), getattr(free(times), key))
    assert np.array_equal(asked.q[-1], free.q[-1])
    assert asked.a.shape == (5, 2)
    assert np.array_equal(asked.a[-1], free.a[-1])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("which", [[10], [3, 4, 9], [9, 3, 3]])
def test_times_that_are_steps(scheme, which):
    """They are given back as they are, in the order in which they are asked for."""
    steps = integrate(pendulum(), 1.0, scheme, h=0.1)
    asked = integrate(pendulum(), 1.0, scheme, h=0.1, t_eval=steps.t[which])
    for name in ("t", "q", "v", "a"):
        assert np.array_equal(getattr(asked, name), getattr(steps, name)[which]), name
    for name in ("vdot", "lam"):
        assert np.allclose(getattr(asked, name), getattr(steps, name)[which], 1e-12), name


def test_shapes():
    solution = integrate(mechanism("jay_negrut_test"), 0.1, h=0.01)
    for key, size in (("q", 2), ("v", 2), ("vdot", 2), ("a", 2), ("lam", 1), ("psi", 1)):
        assert getattr(solution, key).shape == (11, size)
    assert solution.t.shape == solution.steps.shape == (11,)
    one, many = solution(0.05), solution([0.01, 0.05, 0.055])
    assert (one.q.shape, one.lam.shape) == ((2,), (1,))
    assert (many.q.shape, many.psi.shape) == ((3, 2), (3, 1))
    assert np.array_equal(many.q[1], one.q)
    assert solution.statistics.nsteps == 10
    assert repr(solution) == "<Solution of 'jay_negrut_test': 10 steps from t = 0 to 0.1>"


@pytest.mark.parametrize("end", [0.5, -0.5])
def test_outside_of_the_interval(end):
    solution = integrate(oscillator(), end, h=0.1)
    low, high = min(0.0, end), max(0.0, end)
    for t in (low - 0.01, high + 0.01, np.nan):
        with pytest.raises(ValueError, match="not in the integrated interval"):
            solution(t)
    assert solution(end).q[0] == solution.q[-1, 0]
    assert solution(0.0).q[0] == 1.0
    solution(0.0).q[:] = 7.0  # the caller's own
    assert solution(0.0).q[0] == 1.0


@pytest.mark.parametrize("end", [1.0, -1.0])
def test_between_the_steps(end):
    """The dense output is as good as the steps themselves, in both directions."""
    solution = integrate(oscillator(), end, h=0.01)
    t = np.linspace(0.0, end, 177)
    knots = solution(t)
    np.testing.assert_allclose(knots.q[:, 0], np.cos(t), atol=5e-5)
    np.testing.assert_allclose(knots.v[:, 0], -np.sin(t), atol=5e-5)
    np.testing.assert_allclose(knots.vdot[:, 0], -np.cos(t), atol=1e-4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_there_and_back(scheme):
    """Forth to t = 1, back to t = 0: what is left of the error is at most of second order.

    Much of it goes back on the way back. HHTI2 with b = 0 is even symmetric, where the forces are
    constant as here.
    """
    errors = []
    for h in (0.01, 0.005):
        o = mechanism("simple_pendulum")
        there = integrate(o, 1.0, scheme, h=h, newton_accuracy=FULL)
        back = o.replace(t0=1.0, q0=there.q[-1], v0=there.v[-1], lam0=there.lam[-1])
        if scheme == "GenAlphaI3":  # its velocity has drifted
            v = there.v[-1] - there.q[-1] * (there.q[-1] @ there.v[-1])
            back = back.replace(v0=v)
        end = integrate(back, 0.0, scheme, h=h, newton_accuracy=FULL)
        assert end.t[-1] == 0.0
        errors.append(np.linalg.norm(end.q[-1] - o.q0))
    assert errors[0] < 2e-5
    assert errors[1] < max(errors[0] / 3.5, 1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_backwards_is_a_motion_of_its_own(scheme):
    """Backwards in time a pendulum released at rest does what it does forwards."""
    forwards, backwards = (
        integrate(mechanism("simple_pendulum"), t, scheme, h=0.01) for t in (1, -1)
    )
    np.testing.assert_allclose(backwards.q, forwards.q, atol=1e-10)
    np.testing.assert_allclose(backwards.v, -forwards.v, atol=1e-10)


def test_statistics_are_true():
    """Residual evaluations and matrices, against the calls of the force and of the Jacobian."""
    calls = {"force": 0, "stiffness": 0}
    o = mechanism("simple_pendulum")

    def counted(key):
        function = getattr(o, key)

        def call(*arguments):
            calls[key] += 1
            return function(*arguments)

        return call

    watched = o.replace(force=counted("force"), stiffness=counted("stiffness"))
    calls.update(force=0, stiffness=0)
    s = integrate(watched, 0.5, "GenAlphaI3", h=0.01).statistics
    assert s.nsteps == 50
    assert s.nfcns == s.nniters
    assert calls["stiffness"] == s.njacs == s.nlus > 0
    # the start's accelerations, and those behind the first shifted `a`
    assert 0 <= calls["force"] - s.nfcns <= 4
    assert (s.nfcnjacs, s.nnfails, s.nerrfails) == (0, 0, 0)
    assert s.nniters <= 7 * 51
    bare = watched.replace(stiffness=None, damping=None)
    s = integrate(bare, 0.5, "GenAlphaI3", h=0.01).statistics
    assert s.nfcnjacs == 3 * s.njacs
