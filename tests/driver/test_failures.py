"""What goes wrong on the way, and what is left of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from genalpha import integrate
from genalpha.errors import (
    CallbackError,
    ConvergenceError,
    InconsistentStartError,
    RedundantConstraintsError,
)
from tests.driver.support import SCHEMES, pendulum

EVERY = pytest.mark.parametrize("scheme", SCHEMES)
STEPS = pytest.mark.parametrize("h", [0.01, None])
T = 0.3  # when it happens
#: NumPy's own remarks on infinite values; the error that counts comes after them.
NUMPY_MAY_WARN = pytest.mark.filterwarnings("ignore::RuntimeWarning")


class OutOfFuelError(Exception):
    pass


def weight(t):
    return np.array([0.0, -9.81])


@EVERY
@STEPS
def test_what_a_callback_raises_passes_unchanged(scheme, h):
    error = OutOfFuelError("empty")

    def force(t, q, v):
        if t > T:
            raise error
        return weight(t)

    with pytest.raises(OutOfFuelError) as caught:
        integrate(pendulum(force), 1.0, scheme, h=h)
    assert caught.value is error


@EVERY
@STEPS
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@NUMPY_MAY_WARN
def test_nan_names_the_callback(scheme, h, bad):
    with pytest.raises(CallbackError, match=r"force returned (nan|inf) at t = ") as caught:
        integrate(
            pendulum(lambda t, q, v: np.array([0.0, -9.81 if t < T else bad])), 1.0, scheme, h=h
        )
    check_rest(caught.value)


def test_nan_in_a_constraint_names_it():
    o = pendulum(holonomic=lambda t, q: np.nan if t > T else 0.5 * (q @ q - 1.0))
    # or its Jacobian: from both comes what is not given, and is not finite beside that place
    with pytest.raises(CallbackError, match=r"\bholonomic\b.* returned nan"):
        integrate(o, 1.0, h=0.01)


@EVERY
def test_a_wrong_shape_on_the_way(scheme):
    def force(t, q, v):
        return weight(t) if t < T else np.zeros(3)

    with pytest.raises(
        CallbackError,
        match=r"step from t = 0.\d+ of size h = 0.01 failed: force returned shape \(3,\)",
    ) as caught:
        integrate(pendulum(force), 1.0, scheme, h=0.01)
    check_rest(caught.value)


@cache
def untroubled():
    return integrate(pendulum(), T + 0.01, h=0.001)


def check_rest(error):
    """The exception has the motion so far, up to the trouble."""
    solution = error.solution
    assert 0.5 * T < solution.t[-1] <= T + 1e-9
    np.testing.assert_allclose(solution.q[-1], untroubled()(solution.t[-1]).q, atol=2e-3)
    assert solution.statistics.nsteps == solution.t.size - 1
    solution(0.5 * solution.t[-1])


@EVERY
@NUMPY_MAY_WARN
def test_a_step_that_does_not_converge(scheme):
    """A force with a jump wherever the iteration goes."""

    def force(t, q, v):
        return weight(t) if t < T else 1e6 * np.sign(np.sin(1e9 * (q + v)))

    o = pendulum(
        force,
        stiffness=lambda t, q, v, vdot, lam, psi: lam[0] * np.eye(2),
        damping=lambda t, q, v, vdot, lam, psi: np.zeros((2, 2)),
    )
    with pytest.raises(ConvergenceError) as caught:
        integrate(o, 1.0, scheme, h=0.01)
    text = str(caught.value)
    for part in ("pendulum: the step from t = ", "h = 0.01", "corrections", "q[", "constraint rod"):
        assert part in text
    assert caught.value.solution.t[-1] == pytest.approx(T, abs=0.011)
    assert caught.value.solution.statistics.nnfails == 1


@EVERY
def test_a_singular_system_on_the_way(scheme):
    """The constraint loses its gradient at t = 0.3."""
    o = pendulum(holonomic_jacobian=lambda t, q: q if t < T else 0 * q)
    with pytest.raises(
        RedundantConstraintsError, match=r"gradient of rod is zero at t = 0\.3"
    ) as caught:
        integrate(o, 1.0, scheme, h=0.01, jacobian="every step")
    assert caught.value.solution.t[-1] <= T


@EVERY
@STEPS
def test_an_inconsistent_start(scheme, h):
    with pytest.raises(InconsistentStartError, match=r"violates constraint rod \(position level\)"):
        integrate(pendulum(q0=[1.001, 0.0]), 1.0, scheme, h=h)
    with pytest.raises(InconsistentStartError, match=r"the rate of constraint rod \(velocity"):
        integrate(pendulum(v0=[0.001, 1.0]), 1.0, scheme, h=h)


def test_a_failure_leaves_the_mechanism_usable():
    """Nothing half-updated survives: the same object runs again as if nothing had been."""
    trouble = [True]

    def force(t, q, v):
        return weight(t) * (np.nan if trouble[0] and t > T else 1.0)

    o = pendulum(force)
    with pytest.raises(CallbackError):
        integrate(o, 1.0, h=0.01)
    trouble[0] = False
    assert np.array_equal(integrate(o, 1.0, h=0.01).q, integrate(pendulum(), 1.0, h=0.01).q)


def test_a_kick_costs_smaller_steps_and_passes():
    """Adaptive steps get over a force that jumps: what fails at one size does not at another."""
    o = pendulum(lambda t, q, v: weight(t) + (100.0 if t > T else 0.0))
    solution = integrate(o, 0.6, rtol=1e-4, atol=1e-4)
    assert solution.t[-1] == 0.6
    sizes = np.diff(solution.steps)
    near = sizes[np.searchsorted(solution.steps, T) - 1]
    assert near < 0.5 * np.median(sizes[solution.steps[1:] < T])
