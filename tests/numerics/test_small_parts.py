"""Accuracy, prediction, interpolation, weights."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from genalpha import mechanisms
from genalpha.kernels import error_weights, weighted_cosine, weighted_norm
from genalpha.numerics.accuracy import EPS, FULL, Scales, for_tolerance, of_rates, scales, size
from genalpha.numerics.coefficients import Coefficients
from genalpha.numerics.interpolation import Knot, interpolate
from genalpha.numerics.prediction import Past
from genalpha.numerics.systems import row_sizes

SCALES = Scales(noise=0.0, multiplier_noise=0.0, mass_over_gradient=0.1, rounding=EPS)


def test_size_of_a_correction_is_relative_or_rounding():
    x, q = np.array([3.0, 4.0]), np.array([0.0, 10.0])
    d = np.array([0.0, 1e-6])

    def found(relative, displacement, noise=0.0):
        return size(relative, replace(SCALES, noise=noise), d, x, q, displacement, 2, 0)

    assert found(1e-12, 1.0) == pytest.approx(1e-6 / (5e-12 + 10 * EPS), rel=1e-12)
    assert found(1e-12, 1e-14) == pytest.approx(1e-6 / (10 * EPS / 1e-14), rel=1e-6)
    assert found(1e-12, -1.0) == found(1e-12, 1.0)  # steps backwards
    assert found(0.0, 1.0, noise=1.0) == pytest.approx(1e-6)


def test_size_of_a_correction_of_multipliers():
    """They may be wrong by what accelerations may, in their units, or by a fraction."""
    x, q = np.array([5.0, 2.0, 40.0]), np.zeros(1)
    allowed = 1e-3 * 5.0 + EPS
    for d, scale in (
        ([0.0, 1.0, 0.0], 0.1 * allowed + 2e-3),
        ([0.0, 0.0, 1.0], 0.1 * allowed + 4e-2),
    ):
        assert size(1e-3, SCALES, np.array(d), x, q, 1.0, 1, 1) == pytest.approx(1.0 / scale)


def found_scales(o, solve, stiffness=0.5, rows=(0.5,), multipliers=(0.0,)):
    M, K = np.diag([4.0, 2.0]), np.diag([-3.0, 1.0])
    J = [[(1.0, np.array([[row, 0.0]]))] for row in rows]
    q, lam = np.array([3.0, 4.0]), np.array(multipliers)
    return scales(o, [(1.0, M)], [(stiffness, K)], J, q, 0.01, solve, lam)


def test_scales():
    """Noise of forces by their stiffness, that of constraints by solving with rounding errors."""
    o = mechanisms.simple_pendulum()

    def found(stiffness, solution):
        def solve(right):
            np.testing.assert_allclose(np.abs(right), [0.0, 0.0, EPS * 4.0 * 0.5])
            return np.array(solution)

        return found_scales(o, solve, stiffness)

    assert found(0.5, [0.0, 0.0, 7.0]) == Scales(1.5 / 4.0 * EPS * 5.0, 7.0, 4.0 / 0.5, o.rounding)
    assert found(1e9, [0.0, 0.0, 0.0]).noise == EPS * 5.0  # never more than that of the position
    assert found(0.5, [3.0, 4.0, 0.0]).noise == 5.0


@pytest.mark.parametrize("kind", [np.array, sparse.csc_array])
def test_rows_are_as_rough_as_their_own_units(kind):
    terms = [(2.0, kind([[0.0, -3.0], [1e-3, 0.0]])), (-1.0, kind([[1.0, 0.0], [0.0, 0.0]]))]
    np.testing.assert_allclose(row_sizes(terms), [7.0, 2e-3])
    seen = []

    def solve(right):
        seen.append(np.abs(right[2:]))
        return np.zeros(4)

    o = SimpleNamespace(n_q=2, n_moving=2, n_lam=2, n_psi=0, n_states=0, whole=None, rounding=EPS)
    found_scales(o, solve, rows=(1e6, 1e-6), multipliers=(0.0, 0.0))
    np.testing.assert_allclose(seen[0], EPS * 4.0 * np.array([1e6, 1e-6]))


def test_only_what_is_differenced_is_rough():
    """Positions by the constraints themselves, rates by whether someone gave them."""
    given = {"holonomic_jacobian"}
    o = SimpleNamespace(n_q=2, n_moving=2, n_lam=1, n_psi=0, n_states=0, whole=None, given=given)
    o.rounding = EPS
    exact = found_scales(o, lambda right: right)
    o.rounding, o.given = 1e-12, set()
    rough = found_scales(o, lambda right: right)
    assert rough == exact
    assert of_rates(o, rough) == replace(rough, rounding=1e-12, noise=1e-12 / EPS * rough.noise)
    o.given = {"holonomic_rate"}
    assert of_rates(o, rough) is rough
    pushed = found_scales(o, lambda right: right, multipliers=(1e6,)).noise
    assert pushed == pytest.approx(1e-12 * 0.5 * 1e6 / 4.0 * 0.01)  # reactions, as displacements


def test_accuracy_for_a_tolerance():
    assert for_tolerance(1e-6, 1e-3) == pytest.approx(1e-7)
    assert for_tolerance(1e-30, 1e-3) == FULL
    assert for_tolerance(1.0, 0.05) == 1e-3


def past_of(function, times):
    past = Past()
    for t in times:
        past.append(t, function(t))
    return past


def quintic(t):
    return np.array([1.0 + t - 2.0 * t**3 + t**5, t**2 - t**4])


def test_prediction_is_exact_for_polynomials_of_degree_5():
    """With uneven steps, from the last six of many; an oscillation is not looked for."""
    times = [-5.0, -4.0, -3.0, -1.0, -0.3, -0.2, 0.0, 0.1, 0.25, 0.3]
    past = past_of(quintic, times)
    for relation in ((), (2.4, 1.92, 0.512)):
        np.testing.assert_allclose(past.predicted(0.4, relation), quintic(0.4), rtol=1e-13)


@pytest.mark.parametrize("rho", [0.1, 0.8, 1.0])
@pytest.mark.parametrize("h", [0.1, -0.1])
def test_prediction_knows_the_oscillation(rho, h):
    """With equal steps, (-rho)^k, k (-rho)^k and k^2 (-rho)^k beside a polynomial."""
    relation = Coefficients.chung_hulbert(rho).relation_at_infinity

    def value(t):
        k = round(t / h)
        return quintic(t) + np.array([1.0 - 0.5 * k, 2.0 + 0.1 * k**2]) * (-rho) ** k

    past = past_of(value, h * np.arange(9))
    np.testing.assert_allclose(past.predicted(9 * h, relation), value(9 * h), rtol=1e-9)
    assert abs(past.predicted(9 * h) - value(9 * h)).max() > rho**9


def test_prediction_does_not_trust_noise():
    """A cubic through alternating values would be 15 times off, a line 3 times."""
    past = past_of(lambda t: np.array([(-1.0) ** round(t)]), [0.0, 1.0, 2.0, 3.0])
    assert abs(past.predicted(4.0)[0]) <= 3.0


def test_prediction_forgets_unknowns_of_another_number():
    past = past_of(lambda t: np.array([t]), [0.0, 1.0, 2.0])
    past.append(3.0, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(past.predicted(4.0), [1.0, 2.0])


def test_prediction_from_the_start_alone():
    np.testing.assert_array_equal(past_of(lambda t: np.ones(2), [0.0]).predicted(1.0), np.ones(2))


def knot(t, q, lam):
    """The motion q(t) with its derivatives, q being a Polynomial or a triple of functions."""
    values = [np.array([f(t)]) for f in q]
    return Knot(t, *values, np.array([lam(t)]), np.zeros(0))


def polynomial(*coefficients):
    p = np.polynomial.Polynomial(coefficients)
    return p, p.deriv(), p.deriv(2)


@pytest.mark.parametrize("t", [0.5, 0.6, 0.77, 1.3, 1.5])
@pytest.mark.parametrize("backwards", [False, True])
def test_exact_for_cubics_and_lines(t, backwards):
    q, lam = polynomial(1.0, -2.0, 3.0, -4.0), np.polynomial.Polynomial([2.0, 5.0])
    ends = [knot(0.5, q, lam), knot(1.3, q, lam)]
    found = interpolate(*(ends[::-1] if backwards else ends), t)
    assert found.t == t
    np.testing.assert_allclose(found.q, q[0](t), rtol=1e-13)
    np.testing.assert_allclose(found.v, q[1](t), rtol=1e-12)
    np.testing.assert_allclose(found.vdot, q[2](t), rtol=1e-12)
    np.testing.assert_allclose(found.lam, lam(t), rtol=1e-13)
    assert found.psi.shape == (0,)


def test_ends_are_exact_and_continuous():
    q = (np.sin, np.cos, lambda t: -np.sin(t))
    left, right = knot(0.1, q, np.exp), knot(0.4, q, np.exp)
    assert interpolate(left, right, 0.1) is left
    assert interpolate(left, right, 0.4) is right
    assert interpolate(left, left, 0.1) is left
    for end, inside in ((left, 0.1 + 1e-9), (right, 0.4 - 1e-9)):
        near = interpolate(left, right, inside)
        for a, b in zip(near[1:], end[1:], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-8)


def test_orders_on_a_smooth_motion():
    q = (np.sin, np.cos, lambda t: -np.sin(t))
    sizes = np.array([0.4, 0.2, 0.1, 0.05])
    errors = []
    for h in sizes:
        left, right = knot(0.7, q, np.exp), knot(0.7 + h, q, np.exp)
        worst = np.zeros(4)
        for s in np.linspace(0.05, 0.95, 19):
            t = 0.7 + s * h
            found, exact = interpolate(left, right, t), knot(t, q, np.exp)
            worst = np.maximum(
                worst, [abs(a - b)[0] for a, b in zip(found[1:5], exact[1:5], strict=True)]
            )
        errors.append(worst)
    slopes = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    np.testing.assert_allclose(slopes, [4.0, 3.0, 2.0, 2.0], atol=0.1)


def test_weights():
    w = error_weights(np.array([1.0, 2.0]), 0.1, np.array([10.0, -3.0]), np.array([-20.0, 1.0]))
    np.testing.assert_allclose(w, [3.0, 2.3])
    assert weighted_norm(np.array([3.0, 4.0]), np.array([1.0, 2.0])) == pytest.approx(
        np.sqrt((9 + 4) / 2)
    )
    assert weighted_norm(np.zeros(0), np.zeros(0)) == 0.0
    x, y, w = np.array([3.0, 0.0]), np.array([3.0, 4.0]), np.array([3.0, 4.0])
    assert weighted_cosine(x, y, w) == pytest.approx(np.sqrt(0.5))
    assert weighted_cosine(x, -x, w) == pytest.approx(-1.0)
    assert weighted_cosine(x, 0.0 * y, w) == 0.0
