"""What matrices have missed is learnt, but not what is nothing but rounding errors."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.numerics.secants import CLEAR, Secants

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
