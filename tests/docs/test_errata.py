"""Errata of the theory pages that can be put to the test."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import mechanisms
from genalpha.model.differences import directional_derivative
from genalpha.numerics.initial_values import accelerations


@pytest.mark.parametrize("alpha_m", [-0.5, 0.0, 0.3])
def test_lemma_5_1_of_jay(alpha_m):
    """(5.1) with our nu, for alpha_m = 0 too; the printed one is the same elsewhere."""
    random = np.random.default_rng(1)
    n, m, alpha_f, gamma = 4, 2, 0.2, 0.8
    M, F, K = np.eye(n) + 0.1 * random.normal(size=(n, n)), *random.normal(size=(2, n, m))
    K = K.T
    zero = np.zeros((m, m))
    left = np.block([[(1 - alpha_m) * M, -(1 - alpha_f) * F], [gamma * K, zero]])
    right = np.block([[-alpha_m * M, alpha_f * F], [-(1 - gamma) * K, zero]])
    inner = np.linalg.inv(K @ np.linalg.solve(M, F))
    Q = np.linalg.solve(M, F) @ inner @ K
    P = np.eye(n) - Q
    nu = (alpha_m - (1 - gamma) * (1 - alpha_m) / gamma) / (1 - alpha_f)
    if alpha_m:
        printed = alpha_m / (1 - alpha_f) * (1 - (1 - gamma) * (1 - alpha_m) / (gamma * alpha_m))
        assert nu == pytest.approx(printed)
    expected = np.block(
        [
            [alpha_m / (alpha_m - 1) * P + (gamma - 1) / gamma * Q, np.zeros((n, m))],
            [nu * inner @ K, alpha_f / (alpha_f - 1) * np.eye(m)],
        ]
    )
    np.testing.assert_allclose(np.linalg.solve(left, right), expected, atol=1e-12)


def deviation(o, t, x):
    """Mukharlyamov's g = (f, f_dot) of holonomic constraints."""
    q, v = np.split(x, 2)
    return np.concatenate([o.holonomic(t, q), o.holonomic_rate(t, q, v)])


def off(o):
    """A state off the constraints, where f_dot is not 0."""
    return np.concatenate([o.q0 + 0.05, o.v0 - [0.1, 0.2]])


def test_equation_3_12_of_mukharlyamov_lacks_the_time():
    """G x' is (f_dot, 0) - g_t for x' without gains, on a constraint that moves."""
    o, t = mechanisms.driven_pendulum(), 0.3
    x = off(o)
    q, v = np.split(x, 2)
    vdot, _, _ = accelerations(o, t, q, v, *o.multiplier_guess())
    rate = np.concatenate([v, vdot])
    along_x = directional_derivative(lambda s: deviation(o, t, x + s * rate))
    along_t = directional_derivative(lambda s: deviation(o, t + s, x))
    printed = np.concatenate([o.holonomic_rate(t, q, v), np.zeros(o.n_lam)])
    np.testing.assert_allclose(along_x + along_t, printed, atol=1e-6)
    assert np.abs(along_x - printed).max() > 1e-2


def test_what_ascher_and_others_take_out_of_the_state():
    """-gamma L (Z L)^-1 g, taken out of x', gives g' = -gamma g; it changes q' too."""
    o, gamma = mechanisms.simple_pendulum(), 3.0
    x = off(o)
    q, v = np.split(x, 2)
    g = deviation(o, 0.0, x)
    F, zero = o.holonomic_jacobian(0.0, q), np.zeros((o.n_lam, o.n_q))
    turned = directional_derivative(lambda s: o.holonomic_jacobian(0.0, q + s * v)[0])
    Z = np.block([[F, zero], [turned[None, :], F]])
    L = np.block([[F.T, zero.T], [zero.T, F.T]])
    taken = -gamma * L @ np.linalg.solve(Z @ L, g)
    assert taken.size == 2 * o.n_q  # no rate of g, which has 2 m components
    change = directional_derivative(lambda s: deviation(o, 0.0, x + s * taken))
    np.testing.assert_allclose(change, -gamma * g, rtol=1e-6)
    assert np.abs(taken[: o.n_q]).max() > 1e-3
