"""The controller, on errors that behave as C h^3; landing on the end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genalpha.numerics.step_control import CAUTIOUS, GAIN, SILENT, Controller, landing

#: Where a steady error settles.
SETTLED = 0.25 * 0.9**3


def test_the_formula():
    """(aim/e)^(gain/3) exp(-trend/3); the first step goes all the way."""
    controller = Controller()
    assert controller.aim == pytest.approx(SETTLED)
    assert controller.accepted(0.4, 0.0) == pytest.approx((SETTLED / 0.4) ** (1 / 3))
    expected = (SETTLED / 0.2) ** (GAIN / 3) * 1.5 ** (-1 / 3)
    assert controller.accepted(0.2, np.log(1.5)) == pytest.approx(expected)


def test_small_changes_are_not_made():
    assert Controller(keep=(0.7, 1.3)).accepted(0.5, 0.0) == 1.0
    expected = (SETTLED / 0.5) ** (1 / 3)
    assert Controller(keep=(0.9, 1.3)).accepted(0.5, 0.0) == pytest.approx(expected)
    assert Controller().accepted(1.02 * SETTLED, 0.0) == 1.0
    assert Controller().accepted(1.05 * SETTLED, 0.0) < 1.0


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    errors=st.lists(st.floats(0.0, 1e8), min_size=1, max_size=20),
    trends=st.lists(st.floats(-50.0, 50.0), min_size=20, max_size=20),
)
def test_limits(errors, trends):
    controller = Controller(fac1=0.3, fac2=2.0)
    for error, trend in zip(errors, trends, strict=False):
        if error <= 1.0:
            assert 0.3 <= controller.accepted(error, trend) <= 2.0
        else:
            assert 0.3 <= controller.rejected(error) <= 0.9


def test_an_error_that_says_nothing():
    """The step may grow, but not as if all were well for ever."""
    for error in (0.0, 0.5 * SILENT):
        assert Controller().accepted(error, 0.0) == CAUTIOUS < Controller().fac2
        assert Controller(fac2=1.5).accepted(error, -9.0) == 1.5
    assert Controller().rejected(np.inf) == 0.2
    assert Controller().rejected(np.nan) == 0.2


def test_no_increase_right_after_a_rejection():
    for fail in (lambda c: c.rejected(3.0), lambda c: c.failed(), lambda c: c.cut(0.3)):
        controller = Controller()
        assert fail(controller) < 1.0
        assert controller.accepted(1e-3, 0.0) == 1.0
        assert controller.accepted(1e-3, 0.0) > 1.0  # but then


def test_restart_forgets():
    controller = Controller()
    controller.accepted(1e-3, 0.2)
    controller.rejected(9.0)
    controller.restart()
    assert controller.accepted(0.1, 0.3) == Controller().accepted(0.1, 0.3)


def run(controller, h, error_of, count=80):
    """Drive a controller on a model of the error; return the sizes, errors and rejections.

    The trend is that of err / h^3 from the last accepted step to the present one.
    """
    sizes, errors, rejections, last = [], [], 0, None
    while len(sizes) < count:
        error = error_of(h, len(sizes))
        if error > 1.0:
            rejections += 1
            h *= controller.rejected(error)
            continue
        sizes.append(h)
        errors.append(error)
        phi = error / h**3
        h *= controller.accepted(error, np.log(phi / last) if last else 0.0)
        last = phi
    return np.array(sizes), np.array(errors), rejections


@settings(derandomize=True, max_examples=100, deadline=None)
@given(start=st.floats(1e-6, 1e3), constant=st.floats(1e-8, 1e8), safe=st.floats(0.7, 0.95))
def test_converges_where_the_error_is_allowed(start, constant, safe):
    """On C h^3 the size settles, and the error at 0.25 safe^3.

    With a deadband of one percent it may stop where the factor is between 0.99 and 1.01.
    """
    sizes, errors, rejections = run(Controller(safe=safe), start, lambda h, _: constant * h**3)
    assert sizes[-1] == sizes[-10]
    assert errors[-1] == pytest.approx(0.25 * safe**3, rel=0.15)
    # at most a cut by fac1 at a time from the start to what is allowed
    allowed = np.cbrt(1.0 / constant)
    assert rejections <= 1 + max(0.0, np.log(start / allowed) / np.log(5.0)) + 1
    exact = Controller(safe=safe, keep=(1.0, 1.0))
    errors = run(exact, start, lambda h, _: constant * h**3)[1]
    assert errors[-1] == pytest.approx(0.25 * safe**3, rel=0.01)


def test_no_lag_behind_an_error_that_grows_steadily():
    """phi grows by 10 % per step: the error settles at 0.25 safe^3 still, not above it.

    A controller that only answers to errors, with the same gain, settles at
    1.1^(1/0.3) = 1.37 times as much.
    """
    for growth in (1.1, 1 / 1.1):
        _, errors, _ = run(
            Controller(keep=(1.0, 1.0)), 0.5, lambda h, n, g=growth: 0.3 * g**n * h**3, 100
        )
        assert errors[-1] == pytest.approx(SETTLED, rel=0.02)


def test_errors_that_fall_too_slowly_do_not_draw_the_steps_down():
    """Errors C h, as those of `a` after a sudden cut: the trend dies out, and the steps recover."""
    sizes, errors, _ = run(Controller(), 0.3, lambda h, _: 0.25 * h)
    assert sizes.min() > 0.1
    assert errors[-1] == pytest.approx(SETTLED, rel=0.1)


def test_a_shortened_step():
    assert Controller().shortened(0.01) == pytest.approx((SETTLED / 0.01) ** (1 / 3))
    # its other half is as long, if that is not too long by much
    assert Controller().shortened(SETTLED / 0.95**3) == 1.0
    assert Controller().shortened(0.9) == pytest.approx((SETTLED / 0.9) ** (1 / 3))


def test_follows_an_error_that_changes():
    """A constant that swings by 1e6, at most by 15 % per step: few rejections, no tiny errors."""
    _, errors, rejections = run(
        Controller(), 1e-3, lambda h, n: 1e6 * 10.0 ** (3.0 * np.sin(n / 50.0)) * h**3, 600
    )
    assert rejections < 0.02 * 600
    assert 0.15 < np.median(errors) < 0.3


@settings(derandomize=True, max_examples=200, deadline=None)
@given(steps=st.floats(0.01, 3.0), h=st.floats(1e-3, 1e3))
def test_landing(steps, h):
    """No step much longer than wanted, none shorter than half of it, the end hit exactly."""
    sizes = []
    whole = left = steps * h
    for _ in range(4):
        sizes.append(landing(left, h))
        left -= sizes[-1]
        if left <= 0.0:
            break
    assert left == 0.0
    assert max(sizes) <= 1.001 * h
    assert min(sizes) >= min(0.499 * h, whole)
