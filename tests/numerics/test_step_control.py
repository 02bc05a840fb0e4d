"""The controller, on errors that behave as C h^3."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genalpha.numerics.step_control import Controller


def test_small_changes_are_not_made():
    """safe e^(-0.7/3) between 0.9 and 1.2, with 1 as last error, is not worth a new matrix."""
    assert Controller().accepted(0.9) == 1.0
    assert Controller().accepted(0.5) == 1.0
    assert Controller().accepted(0.2) == pytest.approx(0.9 * 0.2 ** (-0.7 / 3))
    assert Controller(keep=(1.0, 1.0)).accepted(0.5) == pytest.approx(0.9 * 0.5 ** (-0.7 / 3))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(errors=st.lists(st.floats(0.0, 1e8), min_size=1, max_size=20))
def test_limits(errors):
    controller = Controller(fac1=0.3, fac2=2.0)
    for error in errors:
        if error <= 1.0:
            assert 0.3 <= controller.accepted(error) <= 2.0
        else:
            assert 0.3 <= controller.rejected(error) <= 0.9


def test_no_error_at_all():
    assert Controller().accepted(0.0) == 5.0
    assert Controller().rejected(np.inf) == 0.2
    assert Controller().rejected(np.nan) == 0.2


def test_no_increase_right_after_a_rejection():
    for fail in (lambda c: c.rejected(3.0), lambda c: c.failed()):
        controller = Controller()
        assert fail(controller) < 1.0
        assert controller.accepted(1e-3) == 1.0
        assert controller.accepted(1e-3) > 1.0  # but then


def test_a_growing_error_cuts_more_than_a_steady_one():
    grown, steady = Controller(keep=(1.0, 1.0)), Controller(keep=(1.0, 1.0))
    grown.accepted(0.05)
    steady.accepted(0.8)
    assert grown.accepted(0.8) < steady.accepted(0.8)


def test_restart_forgets():
    controller = Controller()
    controller.accepted(1e-3)
    controller.rejected(9.0)
    controller.restart()
    assert controller.accepted(0.1) == Controller().accepted(0.1)


def run(controller, h, error_of, count=80):
    """Drive a controller on a model of the error; return the sizes, errors and rejections."""
    sizes, errors, rejections = [], [], 0
    while len(sizes) < count:
        error = error_of(h, len(sizes))
        if error > 1.0:
            rejections += 1
            h *= controller.rejected(error)
            continue
        sizes.append(h)
        errors.append(error)
        h *= controller.accepted(error)
    return np.array(sizes), np.array(errors), rejections


@settings(derandomize=True, max_examples=100, deadline=None)
@given(start=st.floats(1e-6, 1e3), constant=st.floats(1e-8, 1e8))
def test_converges_where_the_error_is_allowed(start, constant):
    """On C h^3 the size settles, and the error where theory has it.

    Without deadband, safe e^(-0.3/3) = 1 has the solution 0.9^10 = 0.35. With it the size stays
    where the factor is between 0.9 and 1.2: e from 0.056 to 1.
    """
    sizes, errors, rejections = run(Controller(), start, lambda h, _: constant * h**3)
    assert sizes[-1] == sizes[-10]
    assert 0.056 <= errors[-1] <= 1.0
    # at most a cut by fac1 at a time from the start to what is allowed
    allowed = np.cbrt(1.0 / constant)
    assert rejections <= 1 + max(0.0, np.log(start / allowed) / np.log(5.0)) + 1
    errors = run(Controller(keep=(1.0, 1.0)), start, lambda h, _: constant * h**3)[1]
    assert errors[-1] == pytest.approx(0.9**10, rel=0.05)


def test_follows_an_error_that_changes():
    """A constant that swings by 1e6, at most by 15 % per step: few rejections, no tiny errors."""
    _, errors, rejections = run(
        Controller(), 1e-3, lambda h, n: 1e6 * 10.0 ** (3.0 * np.sin(n / 50.0)) * h**3, 600
    )
    assert rejections < 0.15 * 600
    assert np.median(errors) > 0.1
