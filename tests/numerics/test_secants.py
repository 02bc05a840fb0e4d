"""What matrices have missed is learnt, but not what is nothing but rounding errors."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import kernels
from genalpha.kernels import plain
from genalpha.numerics.secants import CLEAR, Secants

BOTH = pytest.mark.parametrize("secant", [kernels.secant, plain.secant])
D = np.array([1.0, -2.0, 0.5])


def after_two_corrections(missed, noise):
    """Return what becomes of D in the next iteration, where a share of the first was missed."""
    secants = Secants(learns=True)
    secants.begin()
    secants.accelerated(D.copy(), 3, 1.0, 1.0, noise)
    secants.accelerated(missed * D, 3, 1.0, 1.0, noise)
    assert secants.missed == pytest.approx(missed)
    secants.begin()
    return secants.accelerated(D.copy(), 3, 1.0, 1.0, noise)


@pytest.mark.parametrize("missed", [0.2, 0.02])
def test_what_was_missed_is_made_up_for(missed):
    noise = 0.9 * missed * np.linalg.norm(D) / CLEAR
    np.testing.assert_allclose(after_two_corrections(missed, noise), D / (1.0 - missed))


@pytest.mark.parametrize("missed", [1.0, 0.5, 0.02])
def test_rounding_errors_are_not_learnt(missed):
    noise = 1.1 * missed * np.linalg.norm(D) / CLEAR
    np.testing.assert_array_equal(after_two_corrections(missed, noise), D)


@BOTH
def test_what_is_missed_grows_with_the_age_up_to_a_factor(secant):
    """Another cause than age, just after the matrix was made, must not grow a billion times."""

    def corrected(then, age):
        return secant([(D, 0.02 * D, then)], D.copy(), 3, 1.0, age)

    np.testing.assert_allclose(corrected(1.0, 1.0), D / 0.98)
    np.testing.assert_allclose(corrected(1.0, 3.0), D / 0.94)
    np.testing.assert_allclose(corrected(1e-9, 1.0), D / (1.0 - 0.02 * plain.OLDER))
    np.testing.assert_allclose(corrected(0.0, 1.0), D / 0.98)


@BOTH
@pytest.mark.parametrize("missed", [-100.0, -3.0, 0.6])
def test_no_correction_is_taken_away(secant, missed):
    """The iteration would take it for the last one."""
    np.testing.assert_array_equal(secant([(D, missed * D, 1.0)], D.copy(), 3, 1.0, 1.0), D)
