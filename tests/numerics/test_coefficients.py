"""What the four numbers imply, apart from any trajectory."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genalpha import Coefficients
from genalpha.errors import InvalidOptionError

PROPERTY = settings(derandomize=True, max_examples=200, deadline=None)
unit = st.floats(0.0, 1.0)


@PROPERTY
@given(rho=unit)
def test_chung_hulbert(rho):
    c = Coefficients.chung_hulbert(rho)
    assert c.is_second_order
    assert c.is_zero_stable
    assert c.beta == pytest.approx((1.0 - c.alpha) ** 2 / 4.0, rel=1e-14)
    # the double root of the closed form is as exact as the square root of rounding
    assert c.rho_inf == pytest.approx(rho, abs=1e-7)
    assert np.abs(c.roots_at_infinity[0]) == pytest.approx(rho, abs=1e-14)


@pytest.mark.parametrize("rho", [0.0, 0.2, 0.5, 0.8, 0.9])
def test_chung_hulbert_has_a_triple_root(rho):
    """That is what is optimal about them: all roots at infinity are -rho_inf."""
    roots = Coefficients.chung_hulbert(rho).roots_at_infinity
    np.testing.assert_allclose(roots, -rho, atol=1e-7)


def test_chung_hulbert_as_printed():
    c = Coefficients.chung_hulbert(0.5)
    np.testing.assert_allclose(
        [c.alpha_m, c.alpha_f, c.gamma, c.beta], [0.0, 1 / 3, 5 / 6, 4 / 9], rtol=1e-15
    )
    assert Coefficients.chung_hulbert(1.0) == Coefficients(0.5, 0.5, 0.25, 0.5)


@PROPERTY
@given(alpha=st.floats(-1.0 / 3.0, 0.0))
def test_hht(alpha):
    c = Coefficients.hht(alpha)
    assert (c.alpha_m, c.alpha_f, c.alpha) == (0.0, -alpha, alpha)
    assert (c.beta, c.gamma) == ((1 - alpha) ** 2 / 4, 0.5 - alpha)
    assert c.is_second_order
    # Hilber, Hughes, Taylor: rho at infinity is (1 + alpha) / (1 - alpha)
    assert c.rho_inf == pytest.approx(
        max((1 + alpha) / (1 - alpha), -alpha / (1 + alpha)), abs=1e-7
    )


def test_newmark():
    assert Coefficients.trapezoidal() == Coefficients.newmark(0.25, 0.5)
    assert Coefficients.trapezoidal().rho_inf == pytest.approx(1.0)
    assert Coefficients.trapezoidal() == Coefficients.hht(0.0)
    assert Coefficients.stoermer().beta == 0.0
    assert Coefficients.stoermer().rho_inf == np.inf
    assert not Coefficients.newmark(0.3025, 0.6).is_second_order
    assert Coefficients.newmark(0.3025, 0.6).is_strictly_stable_at_infinity


@PROPERTY
@given(
    alpha_m=st.floats(-1.0, 0.49),
    alpha_f=st.floats(-0.5, 0.6),
    beta=st.floats(0.05, 1.5),
    gamma=st.floats(0.1, 1.5),
)
def test_roots_are_those_of_the_polynomial(alpha_m, alpha_f, beta, gamma):
    c = Coefficients(alpha_m, alpha_f, beta, gamma)
    polynomial = np.polynomial.Polynomial(c.b_prime)
    terms = np.abs(c.b_prime)
    for root in c.roots_at_infinity:
        scale = (terms * np.abs(root) ** np.arange(4)).sum()
        assert abs(polynomial(root)) <= 1e-12 * scale
    assert c.rho_inf == pytest.approx(np.abs(np.roots(c.b_prime[::-1])).max(), rel=1e-4)
    assert c.b_prime.sum() == pytest.approx(1.0, rel=1e-12)


@PROPERTY
@given(alpha_f=st.floats(-1.0, 0.499), below=st.floats(1e-3, 1.5), above=st.floats(1e-3, 2.0))
def test_conditions_23_and_20_guarantee_strict_stability(alpha_f, below, above):
    alpha_m = alpha_f - below
    c = Coefficients(alpha_m, alpha_f, 0.25 + below / 2 + above, 0.5 + below)
    assert c.satisfies_23
    assert c.is_second_order
    assert c.is_strictly_stable_at_infinity
    assert np.abs(np.roots(c.b_prime[::-1])).max() < 1.0


def test_conditions_23_fail_one_by_one():
    right = Coefficients(0.1, 0.2, 0.31, 0.6)
    assert right.satisfies_23
    assert not Coefficients(0.2, 0.2, 0.31, 0.5).satisfies_23  # alpha_m < alpha_f
    assert not Coefficients(0.4, 0.5, 0.31, 0.6).satisfies_23  # alpha_f < 1/2
    assert not Coefficients(0.1, 0.2, 0.29, 0.6).satisfies_23  # beta


def test_zero_stability():
    assert Coefficients(0.5, 0.5, 0.25, 0.5).is_zero_stable
    assert not Coefficients(0.51, 0.5, 0.25, 0.5).is_zero_stable


def test_contraction_factors():
    c = Coefficients(0.25, 0.4, 0.5, 0.8)
    assert c.r_gamma == pytest.approx(0.25)
    assert c.r_alpha_m == pytest.approx(1 / 3)
    assert c.r_alpha_f == pytest.approx(2 / 3)
    assert Coefficients(0.0, 0.0, 0.25, 0.0).r_gamma == np.inf


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_contraction_factors_of_chung_hulbert(rho):
    c = Coefficients.chung_hulbert(rho)
    assert c.r_alpha_f == pytest.approx(rho)
    assert max(c.r_gamma, c.r_alpha_m, c.r_alpha_f) < 1.0


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_rho_inf_out_of_range(bad):
    with pytest.raises(InvalidOptionError, match="rho_inf"):
        Coefficients.chung_hulbert(bad)


@pytest.mark.parametrize("bad", [-0.34, 0.01, np.nan])
def test_alpha_out_of_range(bad):
    with pytest.raises(InvalidOptionError, match="alpha"):
        Coefficients.hht(bad)


def test_all_faults_in_one_error():
    with pytest.raises(InvalidOptionError) as caught:
        Coefficients(1.0, np.inf, np.nan, 0.5)
    assert len(caught.value.faults) == 3


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Coefficients.trapezoidal().beta = 1.0
