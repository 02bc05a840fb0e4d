"""Errors moved to the middle of their step."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from genalpha import Coefficients
from genalpha.numerics.local_error import AccelerationHistory, MeanHistory
from genalpha.numerics.trend import AHEAD, STEEPEST, Trend, moved

ALONG, ACROSS = np.array([1.0, 0.0]), np.array([0.0, 1.0])
EVEN = np.ones(2)


def after(phi, snap=ALONG):
    trend = Trend()
    trend.append(phi, snap)
    return trend


def test_a_trend_goes_on():
    """phi grows by 20 % per step, or falls as much; the estimate is one step behind, and a bit."""
    for factor in (1.2, 1 / 1.2):
        change = after(2.0).change(2.0 * factor, ALONG, EVEN)
        assert change == pytest.approx(np.log(factor))
        for older in (0.0, 0.5):
            wanted = 0.5 * factor ** (AHEAD + older)
            assert moved(0.5, change, older) == pytest.approx(wanted)


def test_nothing_is_too_steep():
    assert after(1e-9).change(1.0, ALONG, EVEN) == STEEPEST
    assert after(1.0).change(1e-9, ALONG, EVEN) == -STEEPEST


def test_no_change_no_factor():
    """So that it vanishes with the step size, and asymptotic errors stay what they are."""
    assert moved(0.3, after(2.0).change(2.0, ALONG, EVEN), 0.5) == 0.3


def test_what_swings_has_no_trend():
    """Directions are those of v''' in units of what its components count."""
    trend = after(1.0)
    assert trend.change(4.0, -ALONG, EVEN) == 0.0
    assert trend.change(4.0, ACROSS, EVEN) == 0.0
    both = trend.change(2.2, ALONG + ACROSS, EVEN)
    assert 0.0 < both < trend.change(2.2, ALONG + ACROSS, np.array([1.0, 100.0]))


@pytest.mark.parametrize("phi", [0.0, np.nan])
def test_no_trend_without_a_past_or_an_error(phi):
    assert Trend().change(2.0, ALONG, EVEN) == 0.0
    assert after(1.0).change(phi, ALONG, EVEN) == 0.0
    assert after(phi).change(2.0, ALONG, EVEN) == 0.0
    assert after(1.0, None).change(2.0, ALONG, EVEN) == 0.0


@pytest.mark.parametrize("rho_inf", [0.0, 0.2, 0.8])
def test_means_of_accelerations(rho_inf):
    """v''' of equal steps is exact on cubics; what swings as (-rho_inf)^n does not show."""
    c = Coefficients.chung_hulbert(rho_inf)
    h, times = 0.1, np.arange(8) * 0.1

    def told(swing):
        found = MeanHistory(c, 0.0, EVEN, EVEN), AccelerationHistory(0.0, EVEN, EVEN)
        a = [np.array([3.0 * (t + c.alpha * h) ** 2]) for t in times]
        # the root is a double one
        a = [x + swing * (1.0 + n) * (-rho_inf) ** n for n, x in enumerate(a)]
        for n, (old, new) in enumerate(pairwise(a)):
            state = SimpleNamespace(t=times[n + 1], h=h, a=new, a_old=old)
            snaps = [history.derivatives(state)[1] for history in found]
            for history in found:
                history.append(state)
        return snaps

    assert told(0.0)[0][0] == pytest.approx(6.0)
    if rho_inf > 0.5:
        mean, plain = (abs(x[0] - 6.0) for x in told(1.0))
        assert mean < 1e-9 * plain


@pytest.mark.parametrize("rho_inf", [0.0, 0.8])
def test_means_of_unequal_steps(rho_inf):
    """A linear acceleration has its slope, and no second derivative, however steps change."""
    c = Coefficients.chung_hulbert(rho_inf)
    found = MeanHistory(c, 0.0, EVEN, EVEN)
    for old, new in pairwise([0.0, 0.1, 0.25, 0.3, 0.5, 0.51, 0.7]):
        h = new - old
        a_old, a = (np.array([2.0 + 5.0 * (t + c.alpha * h)]) for t in (old, new))
        state = SimpleNamespace(t=new, h=h, a=a, a_old=a_old)
        jerk, snap = found.derivatives(state)
        found.append(state)
    assert jerk[0] == pytest.approx(5.0)
    assert snap[0] == pytest.approx(0.0, abs=1e-9)
    assert found.older == 0.5


def test_a_jump_shows_at_once():
    """Of a mean it would be a share only."""
    h, found = 0.1, MeanHistory(Coefficients.chung_hulbert(0.8), 0.0, EVEN, EVEN)
    a = [np.array([0.1 * n]) for n in range(6)]
    a.append(a[-1] + 5.0)
    for n, (old, new) in enumerate(pairwise(a)):
        state = SimpleNamespace(t=h * (n + 1), h=h, a=new, a_old=old)
        jerk, snap = found.derivatives(state)
        found.append(state)
        assert jerk[0] == pytest.approx((new - old)[0] / h)
    assert snap[0] == pytest.approx((50.0 - 1.0) / h)
