"""The multistep form (14), (15), (18) of Arnold and Brüls: coefficients, and trajectories."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Coefficients, integrate, mechanisms

SETS = {
    "rho 0.7": Coefficients.chung_hulbert(0.7),
    "rho 0": Coefficients.chung_hulbert(0.0),
    "HHT": Coefficients.hht(-0.1),
    "any": Coefficients(0.1, 0.25, 0.4, 0.65),
}
ALL = pytest.mark.parametrize("c", SETS.values(), ids=SETS.keys())


def steps_of(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum of weights_k values_{n+k} for all n."""
    count = len(values) - len(weights) + 1
    return sum(w * values[k : k + count] for k, w in enumerate(weights))


@ALL
def test_consistency_conditions(c):
    """Order 2 of (14) and (15), and the conditions after (27) for j = 1, 2."""
    form, k2, k3 = c.multistep, np.arange(3), np.arange(4)
    assert form.a.sum() == pytest.approx(0.0, abs=1e-15)
    # (15): the exact solutions v = 1, t, t^2
    assert form.a @ k2 == pytest.approx(form.c.sum())
    assert form.a @ (k2 - 1) ** 2 == pytest.approx(2.0 * form.c @ (k2 - 1))
    # (14): q = t, t^2
    assert form.a @ k2 + form.u.sum() == pytest.approx(0.0, abs=1e-15)
    assert form.a @ (k2 - 1) ** 2 + form.u @ [-2, 0] == pytest.approx(2.0 * form.b.sum())
    # (18)
    assert form.a @ ((k2 - 1.0) ** 2 - (k2 - 2.0) ** 2) / 2.0 == pytest.approx(c.b_prime.sum())
    assert form.a @ ((k2 - 1.0) ** 3 - (k2 - 2.0) ** 3) / 6.0 == pytest.approx(c.b_prime @ (k3 - 2))


@ALL
def test_b_prime_follows_from_the_others(c):
    """(18) is the difference quotient of (14) with the velocities eliminated by (15)."""
    form = c.multistep
    # a(z) q' = h (b(z) (z - 1) - u(z) c(z) (z - 1) / a(z)) g, and a(z) = (z - 1) (-u)(z)
    shift = np.array([-1.0, 1.0])
    np.testing.assert_allclose(np.convolve(-form.u, shift) * [1, 1, 1], form.a, atol=1e-15)
    expected = np.convolve(form.b, shift) + np.r_[form.c, 0.0]
    np.testing.assert_allclose(c.b_prime, expected, atol=1e-14)


@ALL
@pytest.mark.parametrize("name", ["slider_crank", "jay_negrut_test"])
def test_trajectories_satisfy_it(name, c):
    """Also with a mass matrix that changes, and with nonholonomic constraints; without `a`."""
    o = getattr(mechanisms, name)()
    count, h = 40, 1e-2
    s = integrate(
        o, count * h, "GenAlphaI3", h, coefficients=c, start="plain", newton_accuracy=1e-13
    )
    form = c.multistep
    position = (
        steps_of(s.q, form.a) + h * steps_of(s.v[:-1], form.u) - h**2 * steps_of(s.vdot, form.b)
    )  # (14)
    velocity = steps_of(s.v, form.a) - h * steps_of(s.vdot, form.c)  # (15)
    quotients = np.diff(s.q, axis=0) / h  # (17)
    third = steps_of(quotients, form.a) - h * steps_of(s.vdot, c.b_prime)  # (18)
    for left_over, size in ((position, s.q), (velocity, s.v), (third, s.v)):
        assert np.abs(left_over).max() < 1e-12 * np.abs(size).max() / h
    # it is no form that anything satisfies: `a` in the place of vdot does not
    assert np.abs(steps_of(s.v, form.a) - h * steps_of(s.a, form.c)).max() > 1e-6
