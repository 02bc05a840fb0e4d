"""Errors moved to the middle of their step."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from genalpha import Coefficients
from genalpha.numerics.local_error import AccelerationHistory, MeanHistory
from genalpha.numerics.trend import AHEAD, FALL, LATEST, LIMIT, Trend

ALONG, ACROSS = np.array([1.0, 0.0]), np.array([0.0, 1.0])
EVEN = np.ones(2)


def after(*phis, snap=ALONG):
    trend = Trend()
    for phi in phis:
        trend.append(phi, snap)
    return trend


def test_a_steady_trend_goes_on():
    """phi grows by 20 % per step, or falls as much; falls count by half."""
    assert after(1.0, 1.2).factor(1.44, ALONG, EVEN) == pytest.approx(1.2**AHEAD)
    assert after(1.44, 1.2).factor(1.0, ALONG, EVEN) == pytest.approx(1.2 ** (-AHEAD * FALL))


def test_the_last_step_counts_more():
    expected = AHEAD * (LATEST * np.log(1.5) + (1.0 - LATEST) * np.log(1.2))
    assert after(1.0, 1.2).factor(1.8, ALONG, EVEN) == pytest.approx(np.exp(expected))


def test_limits():
    assert after(1.0, 10.0).factor(100.0, ALONG, EVEN) == pytest.approx(LIMIT)
    assert after(1e6, 1e3).factor(1.0, ALONG, EVEN) == pytest.approx(1.0 / LIMIT)


def test_no_change_no_factor():
    """So that it vanishes with the step size, and asymptotic errors stay what they are."""
    assert after(2.0, 2.0).factor(2.0, ALONG, EVEN) == 1.0


def test_what_swings_has_no_trend():
    """Directions are those of v''' in units of what its components count."""
    trend = after(1.0, 2.0)
    assert trend.factor(4.0, -ALONG, EVEN) == 1.0
    assert trend.factor(4.0, ACROSS, EVEN) == 1.0
    both = trend.factor(2.2, ALONG + ACROSS, EVEN)
    assert 1.0 < both < trend.factor(2.2, ALONG + ACROSS, np.array([1.0, 100.0]))


def test_a_fall_is_believed_when_it_goes_on():
    assert after(1.0, 2.0).factor(1.5, ALONG, EVEN) == 1.0
    assert after(2.0, 1.5).factor(1.2, ALONG, EVEN) < 1.0
    assert after(2.0, 1.5).factor(1.9, ALONG, EVEN) > 1.0


@pytest.mark.parametrize("phi", [0.0, np.nan])
def test_no_trend_without_a_past_or_an_error(phi):
    assert after(1.0).factor(2.0, ALONG, EVEN) == 1.0
    assert after(1.0, 2.0).factor(phi, ALONG, EVEN) == 1.0
    trend = after(1.0, 2.0)
    trend.append(phi, ALONG)
    trend.append(3.0, None)
    assert trend.factor(9.0, ALONG, EVEN) == 1.0


@pytest.mark.parametrize("rho_inf", [0.0, 0.2, 0.8])
def test_means_of_accelerations(rho_inf):
    """v''' of equal steps is exact on cubics; what swings as (-rho_inf)^n hardly shows."""
    c = Coefficients.chung_hulbert(rho_inf)
    h, times = 0.1, np.arange(8) * 0.1

    def histories(swing):
        a = {t: np.array([3.0 * (t + c.alpha * h) ** 2]) for t in times}
        for n, t in enumerate(times):
            a[t] = a[t] + swing * (-rho_inf) ** n
        found = MeanHistory(c, 0.0, EVEN, EVEN), AccelerationHistory(0.0, EVEN, EVEN)
        for old, new in pairwise(times):
            state = SimpleNamespace(t=new, h=h, a=a[new], a_old=a[old])
            snaps = [history.derivatives(state)[1] for history in found]
            for history in found:
                history.append(state)
        return snaps

    assert histories(0.0)[0][0] == pytest.approx(6.0)
    if rho_inf > 0.5:
        mean, plain = (abs(x[0] - 6.0) for x in histories(1.0))
        assert 0.0 < mean < 0.4 * plain
