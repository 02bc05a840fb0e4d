"""Damping and period of an oscillator, from the coefficients alone, beside known formulas."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Coefficients
from genalpha.numerics.amplification import amplification, overshoot

SETS = {
    "Chung and Hulbert 0": Coefficients.chung_hulbert(0.0),
    "Chung and Hulbert 0.5": Coefficients.chung_hulbert(0.5),
    "Chung and Hulbert 0.9": Coefficients.chung_hulbert(0.9),
    "HHT": Coefficients.hht(-0.2),
    "Newmark": Coefficients.newmark(0.3025, 0.6),
}
ALL = pytest.mark.parametrize("c", SETS.values(), ids=SETS.keys())


@ALL
def test_limits(c):
    found = amplification(c, np.array([1e-3, 1e5]))
    assert found.radius[0] == pytest.approx(1.0, abs=1e-3)
    assert found.radius[1] == pytest.approx(c.rho_inf, abs=1e-3)


def test_trapezoidal_rule_in_closed_form():
    """tan(Omega / 2) = omega h / 2, without any damping."""
    x = np.array([0.1, 1.0, 3.0])
    found = amplification(Coefficients.trapezoidal(), x)
    np.testing.assert_allclose(found.radius, 1.0, atol=1e-12)
    np.testing.assert_allclose(found.damping_ratio, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.period_error, x / (2.0 * np.arctan(x / 2.0)) - 1.0, atol=1e-12)


@ALL
def test_small_frequencies(c):
    """Damping xi = (gamma - gamma_2) omega h / 2 of the first order, otherwise of the third."""
    x = np.array([0.02, 0.04])
    found = amplification(c, x)
    first_order = 0.5 * (c.gamma - 0.5 + c.alpha) * x
    if c.is_second_order:
        ratio = found.damping_ratio[1] / found.damping_ratio[0]
        assert ratio == pytest.approx(8.0, rel=0.02)
    else:
        np.testing.assert_allclose(found.damping_ratio, first_order, rtol=1e-2)
    assert found.period_error[1] / found.period_error[0] == pytest.approx(4.0, rel=0.02)


def test_more_damping_for_smaller_rho_inf():
    x = np.geomspace(0.1, 100.0, 20)
    radii = [amplification(Coefficients.chung_hulbert(rho), x).radius for rho in (0.9, 0.5, 0.0)]
    for more, less in zip(radii[1:], radii, strict=False):
        assert np.all(more < less)


@pytest.mark.parametrize("c", [c for c in SETS.values() if c.is_second_order])
def test_overshoot(c):
    """None of q; that of v grows with omega h, but for the trapezoidal rule."""
    large, larger = (overshoot(c, x, 20) for x in (1e3, 1e4))
    assert large[0].max() == pytest.approx(1.0)
    assert larger[1].max() / large[1].max() == pytest.approx(10.0, rel=0.01)
    assert overshoot(Coefficients.trapezoidal(), 1e3, 200)[1].max() <= 1.0 + 1e-9
