"""GenAlphaSOI2 on a residual: what it guesses, and products that are told without a call."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.schemes.soi2_inertia import ASKED, Beside, Following
from genalpha.schemes.soi2_past import PastOfSteps

SIZES = [0.1, 0.12, 0.09, 0.11, 0.14, 0.1, 0.08, 0.13]
EQUAL = [0.1] * 8
THERE = np.array([3.0, -2.0])
U, W = np.array([[1.0, 2.0], [-0.5, 0.3], [0.2, 0.1]]), np.array([0.7, -0.4])


def product_at(t: float, h: float) -> np.ndarray:
    """Return what differs from THERE by h (u(t) + h w), where u is a parabola."""
    return THERE + h * (U[0] + t * U[1] + t * t * U[2] + h * W)


def learned(sizes, true=product_at):
    """Return what has learned from all steps but the last one, the end of the last one, and h."""
    beside, ends = Beside(), np.cumsum(sizes)
    for t, h in zip(ends[:-1], sizes[:-1], strict=True):
        assert beside.told(t, h, THERE, 0.0) is None  # nothing may be wrong
        beside.learn(t, h, THERE, true(t, h))
    return beside, ends[-1], sizes[-1]


@pytest.mark.parametrize("sizes", [SIZES, EQUAL, [-h for h in SIZES]])
def test_products_that_follow_time_and_step_size_are_told(sizes):
    beside, t, h = learned(sizes)
    found = beside.told(t, h, THERE, 1.0)
    np.testing.assert_allclose(found, product_at(t, h), rtol=0.0, atol=1e-12)


def test_equal_steps_tell_a_cubic():
    beside, t, h = learned(EQUAL, lambda t, h: THERE + h * t**3 * W)
    np.testing.assert_allclose(beside.told(t, h, THERE, 1.0), THERE + h * t**3 * W, atol=1e-12)


def test_what_may_be_wrong_is_not_told():
    """The doubt is what t^2 makes, and what was off last time beyond that."""
    beside, t, h = learned(SIZES)
    assert beside.told(t, h, THERE, 1e-5) is None
    for last in (1, 2, 3):  # a jump so many steps ago

        def jumping(s, h, last=last):
            return product_at(s, h) + (0.1 if s > sum(SIZES[: -last - 1]) + 1e-9 else 0.0)

        beside, t, h = learned(SIZES, jumping)
        assert beside.told(t, h, THERE, 0.02) is None


def test_steps_of_equal_size_do_not_tell_what_another_size_makes():
    beside, t, _ = learned(EQUAL)
    assert beside.told(t, 0.05, THERE, 1.0) is None


def test_asked_again_after_some_steps():
    beside, t, h = learned(EQUAL)
    told = [beside.told(t + i * h, h, THERE, 1e9) is not None for i in range(ASKED)]
    assert told == [True] * (ASKED - 1) + [False]
    beside.learn(t + ASKED * h, h, THERE, product_at(t, h))
    assert beside.told(t + (ASKED + 1) * h, h, THERE, 1e9) is not None


def test_all_can_be_forgotten():
    beside, t, h = learned(SIZES)
    beside.forget()
    assert beside.told(t, h, THERE, 1e9) is None


def test_small_products_follow_through_new_matrices():
    """What was learnt with one matrix is right with another."""
    M = np.array([[2.0, 0.3], [0.3, 1.0]])
    following, ends = Following(), np.cumsum(SIZES)

    def vector(t, h):
        return h * (np.array([1.0, 2.0]) + t * np.array([0.5, -1.0]) + h * np.array([0.1, 0.2]))

    for i, (t, h) in enumerate(zip(ends[:-1], SIZES[:-1], strict=True)):
        if i % 3 == 0:
            following.renew(np.asfortranarray(M + 0.1 * (i + 1) * np.eye(2)))
        following.follow(t, h, vector(t, h), M @ vector(t, h))
    x = vector(ends[-1], SIZES[-1])
    assert following.times(ends[-1], SIZES[-1], x, 0.0) is None
    found = following.times(ends[-1], SIZES[-1], x, 1.0)
    np.testing.assert_allclose(found, M @ x, rtol=0.0, atol=1e-12)


def test_guesses_do_not_depend_on_step_sizes():
    """A cubic a(t + alpha h) and multipliers, and what is apart by h times a parabola."""
    alpha, ends = -0.2, np.cumsum(SIZES)
    past = PastOfSteps(1, 2, alpha, ())

    def unknowns(t, h):
        s = t + alpha * h
        z = np.array([1.0 + s - s**3, 2.0 - t**2])
        x = z + h * np.array([0.5 + t**2, 1.0 - t])
        return x, z

    past.append(0.0, SIZES[0], np.tile(unknowns(0.0, SIZES[0])[1], 2))
    np.testing.assert_array_equal(*past.guess(ends[0], SIZES[0]))
    for t, h in zip(ends[:-1], SIZES[:-1], strict=True):
        past.append(t, h, np.concatenate(unknowns(t, h)))
    for found, true in zip(
        past.guess(ends[-1], SIZES[-1]), unknowns(ends[-1], SIZES[-1]), strict=True
    ):
        np.testing.assert_allclose(found, true, rtol=0.0, atol=1e-12)
