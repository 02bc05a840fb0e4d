"""The constants of the local error in closed form; derivatives from past velocities."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from genalpha import Coefficients
from genalpha.numerics.local_error import (
    AccelerationHistory,
    ErrorConstants,
    TrueHistory,
    VelocityHistory,
    error_norm,
    generalized_alpha,
    multiplier_error,
)
from genalpha.numerics.weights import Tolerances

COEFFICIENTS = {
    "rho 0": Coefficients.chung_hulbert(0.0),
    "rho 0.5": Coefficients.chung_hulbert(0.5),
    "rho 0.8": Coefficients.chung_hulbert(0.8),
    "rho 0.9": Coefficients.chung_hulbert(0.9),
    "hht -0.1": Coefficients.hht(-0.1),
    "hht -0.3": Coefficients.hht(-0.3),
    "own": Coefficients(-0.1, 0.2, 0.6, 0.8),
}
EACH = pytest.mark.parametrize("c", COEFFICIENTS.values(), ids=COEFFICIENTS)


def test_chung_hulbert_constant_in_closed_form():
    for rho in (0.0, 0.3, 1.0):
        c = Coefficients.chung_hulbert(rho)
        assert generalized_alpha(c).position == pytest.approx(1 / 12 + c.alpha**2 / 4)
    trapezoidal = generalized_alpha(Coefficients.trapezoidal())
    assert trapezoidal.position == pytest.approx(1 / 12)
    assert trapezoidal.velocity == pytest.approx(1 / 12)


CUBIC = np.polynomial.Polynomial([1.0, -2.0, 3.0, 0.7])
TIMES = [0.0, 0.1, 0.4, 0.45, 0.9, 1.0]


def state(t):
    return SimpleNamespace(t=t, v=np.array([CUBIC(t)]))


def history_from(t):
    return VelocityHistory(t, np.array([CUBIC(t)]), np.array([CUBIC.deriv()(t)]))


def test_history_is_exact_on_cubic_velocities():
    """v''' at any steps; v'' at the mean of the three times that it is taken from."""
    history = history_from(0.0)
    for number, t in enumerate(TIMES[1:], 1):
        second, third = history.derivatives(state(t))
        # in the first step the start counts twice, with its slope
        times = [0.0, 0.0, t] if number == 1 else TIMES[number - 2 : number + 1]
        assert second[0] == pytest.approx(CUBIC.deriv(2)(np.mean(times)), rel=1e-10)
        if number == 1:
            assert third is None
        else:
            assert third[0] == pytest.approx(CUBIC.deriv(3)(0.0), rel=1e-9)
        history.append(state(t))


def test_history_backwards_and_rejected():
    """Steps may be negative; asking changes nothing, only appending does."""
    history = history_from(1.0)
    history.append(state(0.8))
    for t in (0.1, 0.3, 0.1):
        third = history.derivatives(state(t))[1]
        assert third[0] == pytest.approx(CUBIC.deriv(3)(0.0), rel=1e-9)


def test_true_accelerations_tell_the_same():
    """Of a cubic velocity: v'' in the middle of the step, v''' at any steps, also backwards."""
    for times in (TIMES, TIMES[::-1]):
        states = [SimpleNamespace(t=t, vdot=np.array([CUBIC.deriv()(t)])) for t in times]
        history = TrueHistory(states[0].t, states[0].vdot)
        for old, new in pairwise(states):
            for _ in range(2):  # asking changes nothing
                second, third = history.derivatives(new)
                middle = 0.5 * (old.t + new.t)
                assert second[0] == pytest.approx(CUBIC.deriv(2)(middle), rel=1e-10)
                if old is states[0]:
                    assert third is None
                else:
                    assert third[0] == pytest.approx(CUBIC.deriv(3)(0.0), rel=1e-9)
            history.append(new)


def test_accelerations_tell_the_derivatives_too():
    """Exact on cubics: an acceleration that is a parabola has its slope in the middle of a step."""
    slope = CUBIC.deriv()
    history = AccelerationHistory(0.0, np.zeros(1), np.zeros(1))

    def step(left, right):
        return SimpleNamespace(
            t=right, h=right - left, a=np.array([slope(right)]), a_old=np.array([slope(left)])
        )

    for number, (left, right) in enumerate(pairwise(TIMES)):
        second, third = history.derivatives(step(left, right))
        assert second[0] == pytest.approx(CUBIC.deriv(2)(0.5 * (left + right)), rel=1e-10)
        if number == 0:
            assert third is None
        else:
            assert third[0] == pytest.approx(CUBIC.deriv(3)(0.0), rel=1e-9)
        history.append(step(left, right))


def test_the_norm_takes_the_larger_error():
    """Root mean squares over atol + rtol max(|old|, |new|), of position and of velocity."""
    tolerances = Tolerances.split(0.1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 1, 1)
    old = SimpleNamespace(q=np.array([1.0, -20.0]), v=np.array([0.0, 3.0]))
    new = SimpleNamespace(q=np.array([-2.0, 5.0]), v=np.array([-1.0, 1.0]))
    constants = ErrorConstants(0.5, 0.25)
    jerk, snap = np.array([7.0, 9.0]), np.array([100.0, 300.0])
    position = 0.5 * 8.0 * np.sqrt(((7.0 / 1.2) ** 2 + (9.0 / 4.0) ** 2) / 2.0)
    velocity = 0.25 * 8.0 * np.sqrt(((100.0 / 3.1) ** 2 + (300.0 / 4.3) ** 2) / 2.0)
    for third, expected in ((None, position), (0.0 * snap, position), (snap, velocity)):
        found = error_norm(constants, tolerances, 2.0, jerk, third, old, new)
        assert found == pytest.approx(expected)


def test_multipliers_count_with_the_square_of_the_step():
    tolerances = Tolerances.split(0.1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 1, 1)
    lam, psi = (np.array([30.0]), np.array([10.0])), (np.array([0.0]), np.array([4.0]))
    assert multiplier_error(tolerances, 0.5, *lam, *psi) == pytest.approx(0.25 * 20.0 / 8.0)
    psi = (np.array([0.0]), np.array([40.0]))
    assert multiplier_error(tolerances, 0.5, *lam, *psi) == pytest.approx(0.25 * 40.0 / 10.0)
