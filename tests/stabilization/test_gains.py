"""Gains, the matrix (3.9), and what Theorems 3 to 5 say about it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from genalpha.errors import InvalidOptionError
from genalpha.stabilization.gains import (
    Gains,
    exponential_stability,
    lyapunov_stability,
    root_stability,
)

Q = np.zeros(3)


def test_blocks_take_the_places_of_3_9():
    blocks = {
        "A10": [[-1.0, 2.0], [0.0, -3.0]],
        "A11": [[-4.0, 0.0], [1.0, -4.0]],
        "A12": [[0.1], [0.2]],
        "A20": [[0.3, 0.4]],
        "A21": [[0.5, 0.6]],
        "A22": [[-2.0]],
    }
    matrix = Gains(**blocks).sized(2, 1)(0.0, Q, Q)
    zero, one = np.zeros((2, 2)), np.eye(2)
    expected = np.block(
        [
            [zero, one, np.zeros((2, 1))],
            [np.array(blocks["A10"]), np.array(blocks["A11"]), np.array(blocks["A12"])],
            [np.array(blocks["A20"]), np.array(blocks["A21"]), np.array(blocks["A22"])],
        ]
    )
    assert np.array_equal(matrix, expected)


def test_baumgarte_is_his_equation():
    """f'' + 2 alpha f' + beta^2 f = 0 and k' + rate k = 0, solved independently."""
    A = Gains.baumgarte(3.0, 5.0, 7.0).sized(1, 1)(0.0, Q, Q)
    y0 = np.array([0.1, -0.2, 0.3])
    exact = solve_ivp(
        lambda t, y: [y[1], -6.0 * y[1] - 25.0 * y[0], -7.0 * y[2]], (0.0, 0.5), y0, rtol=1e-10,
        atol=1e-12,
    ).y[:, -1]  # fmt: skip
    assert expm(0.5 * A) @ y0 == pytest.approx(exact, abs=1e-8)
    critical = Gains.baumgarte(3.0).sized(1, 1)(0.0, Q, Q)
    assert np.array_equal(critical, [[0, 1, 0], [-9, -6, 0], [0, 0, -3]])


def test_blocks_may_be_functions_of_the_state():
    gains = Gains(A10=lambda t, q, v: -t * np.eye(2), A11=-2.0, A22=lambda t, q, v: [[-q[0]]])
    sized = gains.sized(2, 1)
    assert sized.constant is None
    matrix = sized(3.0, np.array([5.0]), np.array([0.0]))
    assert np.array_equal(matrix[2:4, :2], -3.0 * np.eye(2))
    assert matrix[4, 4] == -5.0
    assert np.array_equal(sized.pattern()[2:4], [[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]])


def test_all_blocks_that_do_not_fit_are_named():
    gains = Gains(A10=[-1.0], A11=np.nan, A12=3.0, A22="strong")
    with pytest.raises(InvalidOptionError) as caught:
        gains.sized(2, 1)
    assert len(caught.value.faults) == 4
    for name, fault in zip(("A10", "A11", "A12", "strong"), caught.value.faults, strict=True):
        assert name in fault


def test_a_function_of_wrong_shape_is_named_when_it_is_called():
    with pytest.raises(ValueError, match=r"A22 .* shape \(1, 1\)"):
        Gains(A22=lambda t, q, v: [1.0, 2.0]).sized(0, 1)(0.0, Q, Q)


def test_gains_that_push_away_are_refused():
    with pytest.raises(InvalidOptionError, match="deviations grow"):
        Gains(A10=-4.0, A11=0.1).sized(1, 0)
    with pytest.raises(InvalidOptionError, match="alpha = -1"):
        Gains.baumgarte(-1.0)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e7])
def test_marginal_gains_are_allowed_at_every_scale(scale):
    assert Gains.none().sized(2, 1).constant is not None
    for ratio in (0.5, 1.0, 2.0):  # over-, critically, underdamped
        Gains.baumgarte(scale, ratio * scale).sized(2, 1)


def test_theorem_3_knows_the_roots():
    A = Gains.baumgarte(3.0, 5.0, 4.0).sized(1, 1).constant
    found = root_stability(A)
    assert found.asymptotic
    assert found.decay == pytest.approx(3.0)  # roots -3 +- 4i, -4
    for t in (0.1, 0.3, 1.0):
        assert np.linalg.norm(expm(t * A), 2) <= found.factor * np.exp(-found.decay * t) * 1.001
    none = root_stability(Gains.none().sized(1, 1).constant)
    assert none.bounded
    assert not none.asymptotic


def test_theorem_4_bounds_a_system_that_varies():
    def A(t):
        return np.array([[0.0, 1.0], [-4.0 - np.sin(3.0 * t), -4.0]])

    found = lyapunov_stability([A(t) for t in np.linspace(0.0, 2.1, 50)])
    assert found.asymptotic
    y0 = np.array([1.0, -1.0])
    run = solve_ivp(lambda t, y: A(t) @ y, (0.0, 4.0), y0, rtol=1e-9, atol=1e-12)
    bound = found.factor * np.linalg.norm(y0) * np.exp(-found.decay * run.t)
    assert np.all(np.linalg.norm(run.y, axis=0) <= bound)


def test_theorem_4_needs_the_symmetric_part():
    """Sylvester's minors of -L A~ itself, as printed, are all positive here, and V grows."""
    A = -np.array([[1.0, 10.0], [0.0, 1.0]])
    minors = [-A[0, 0], np.linalg.det(-A)]
    assert min(minors) > 0.0
    assert not lyapunov_stability([A, A], np.eye(2)).asymptotic
    x = np.array([1.0, -1.0])
    assert x @ A @ x > 0.0
    with pytest.raises(InvalidOptionError, match="positive definite"):
        lyapunov_stability([A], -np.eye(2))


def test_theorem_5_bounds_the_decay_that_the_printed_rate_does_not():
    """W = w0^2 E, L = diag(1, 2), k = 1: alpha_1 decays as exp(-w0^2 t) exactly."""
    w0, L = 0.3, np.diag([1.0, 2.0])
    W = w0**2 * np.eye(2)
    found = exponential_stability([-W @ L], [W], L)
    assert found.asymptotic
    assert found.decay == pytest.approx(w0**2)
    printed = 1.0 * w0 * 1.0**2 / 2.0
    assert printed > w0**2  # faster than the solution


def test_theorem_5_is_not_applied_to_other_gains():
    W, L = np.eye(2), np.diag([1.0, 2.0])
    assert not exponential_stability([-np.array([[1.0, 0.5], [0.0, 2.0]])], [W], L).asymptotic
    assert not exponential_stability([W @ L], [W], L).asymptotic  # pushes away
