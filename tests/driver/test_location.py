"""The time at which the first of several functions changes its sign."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.driver.location import changes, first_change


def located(function, low, high):
    """Return the bracket of the first change, and the number of evaluations."""
    calls = []

    def values(t):
        calls.append(t)
        return [float(x) for x in np.atleast_1d(function(t))]

    signs = [1 if x > 0 else -1 for x in values(low)]
    before, after, _ = first_change(values, signs, low, high, values(low), values(high))
    return before, after, len(calls)


def test_reaching_zero_is_a_change_and_leaving_it_is_none():
    assert changes([1, 1, -1, -1, 0, 0], [0.0, -2.0, 0.0, 3.0, 1.0, -1.0]) == [-1, -1, 1, 1, 0, 0]
    assert changes([1, -1], [1e-300, -1e-300]) == [0, 0]
    assert changes([1, -1], [np.nan, np.nan]) == [0, 0]


@pytest.mark.parametrize("direction", [1, -1])
def test_discontinuous_functions(direction):
    def steps(t):
        return np.array([1.0 if t * direction < 0.7 else -1.0, 1.0])

    before, after, calls = located(steps, 0.0, direction * 1.0)
    assert before * direction < 0.7 <= after * direction
    assert abs(after - before) < 1e-15 and calls < 60


def test_smooth_functions_need_few_evaluations():
    _, after, calls = located(lambda t: np.exp(t) - 1.3, 0.0, 1.0)
    assert abs(after - np.log(1.3)) < 1e-15
    assert calls < 18


def test_the_first_of_several_wins():
    roots = (0.7, 0.31, 0.5)
    _, after, _ = located(lambda t: np.array([r - t for r in roots]), 0.0, 1.0)
    assert after == pytest.approx(0.31, abs=1e-15)
