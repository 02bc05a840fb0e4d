"""What GenAlphaI3 does when the step size changes: gamma updated, or the drift of the velocity."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Coefficients, mechanisms
from genalpha.schemes.i3 import updated_gamma
from tests.schemes.support import steps


@pytest.mark.parametrize("rho_inf", [0.0, 0.2, 0.5, 0.9])
def test_gamma_of_equal_steps_is_that_of_20(rho_inf):
    c = Coefficients.chung_hulbert(rho_inf)
    gamma, offset = updated_gamma(c.alpha_m, c.alpha_f, c.alpha * 0.1, 0.1)
    assert gamma == pytest.approx(c.gamma)
    assert offset == pytest.approx(c.alpha * 0.1)


@pytest.mark.parametrize("rho_inf", [0.2, 0.5, 0.9])
def test_updated_gamma_makes_velocities_exact_for_linear_accelerations(rho_inf):
    """vdot = t: (3) and (5) with any step sizes, from a plain start too."""
    c = Coefficients.chung_hulbert(rho_inf)
    t, v, a, offset = 0.0, 0.0, 0.0, 0.0
    for h in (0.1, 0.25, 0.05, 0.2, 0.2, 0.01):
        gamma, offset = updated_gamma(c.alpha_m, c.alpha_f, offset, h)
        new = ((1 - c.alpha_f) * (t + h) + c.alpha_f * t - c.alpha_m * a) / (1 - c.alpha_m)  # (3)
        v += h * ((1 - gamma) * a + gamma * new)  # (5)
        t, a = t + h, new
        assert a == pytest.approx(t + offset)
        assert v == pytest.approx(0.5 * t**2)


@pytest.mark.parametrize("accuracy", [1e-4, 1e-9, 1e-13])
def test_drift_is_adjusted_as_accurately_as_a_step(accuracy):
    """The rate of g is scaled by (h / h_old)^2, to the accuracy of Newton's iteration."""
    o = mechanisms.four_bar()
    *_, (at_work, _, state, _) = steps(o, [1e-3] * 20, scheme="GenAlphaI3")
    at_work.relative = accuracy
    before = o.holonomic_rate(state.t, state.q, state.v)
    v, _ = at_work.adjusted(state, 2e-3)
    after = o.holonomic_rate(state.t, state.q, v)
    error = np.linalg.norm(after - 4.0 * before) / np.linalg.norm(3.0 * before)
    rounding = 1e-15 * np.abs(v).max() / np.linalg.norm(before)
    assert error <= accuracy + 100.0 * rounding


def test_drift_keeps_nonholonomic_constraints():
    """With both kinds, the direction is M^-1 [G; K]^T: k does not change."""
    o = mechanisms.jay_negrut_test()
    *_, (at_work, _, s, _) = steps(o, [1e-3] * 5, scheme="GenAlphaI3")
    v, _ = at_work.adjusted(s, 5e-4)
    assert np.abs(v - s.v).max() > 1e-9
    rate = o.holonomic_rate(s.t, s.q, s.v)
    np.testing.assert_allclose(o.holonomic_rate(s.t, s.q, v), 0.25 * rate, atol=1e-13)
    K = o.nonholonomic_jacobian(s.t, s.q, s.v)
    np.testing.assert_allclose(K @ (v - s.v), 0.0, atol=1e-15)
    G = o.holonomic_jacobian(s.t, s.q)
    R = o.reaction_jacobian(s.t, s.q, s.v, s.lam, s.psi)
    # M (v - s.v) lies in the span of the reactions, G alone not being enough
    moved = o.mass(s.t, s.q) @ (v - s.v)
    left = moved - R @ np.linalg.lstsq(R, moved, rcond=None)[0]
    assert np.abs(left).max() < 1e-12 * np.abs(moved).max()
    assert np.abs(G @ (v - s.v)).max() > 0.0
