"""Constraints without gradients: quadratic ones cost no calls, as long as they are quadratic."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.model.constraint import Holonomic, quadratic_at
from genalpha.model.differences import accurate_jacobian


def random_quadratic(seed):
    random = np.random.default_rng(seed)
    n, m = random.integers(1, 7), random.integers(1, 4)
    H = random.uniform(-1.0, 1.0, (m, n, n)) * 10.0 ** random.uniform(-6.0, 6.0)
    H, L, size = (
        H + H.transpose(0, 2, 1),
        random.uniform(-1.0, 1.0, (m, n)),
        10.0 ** random.uniform(-3.0, 3.0),
    )
    q0 = size * random.uniform(-1.0, 1.0, n)
    level = 0.5 * H @ q0 @ q0 + L @ q0
    return (lambda t, q: 0.5 * H @ q @ q + L @ q - level), (lambda q: H @ q + L), H, q0, random


@pytest.mark.parametrize("seed", range(20))
def test_quadratics_are_found_to_rounding(seed):
    g, G, H, q0, random = random_quadratic(seed)
    own = Holonomic(g, None)
    own.jacobian(0.0, q0)
    assert own._model is not None
    for _ in range(5):
        q, v = q0 + 3.0 * random.uniform(-1.0, 1.0, q0.size), random.uniform(-1.0, 1.0, q0.size)
        size = np.abs(G(q)).max() + np.abs(H).max() * np.abs(q0).max()
        assert own.jacobian(0.0, q) == pytest.approx(G(q), abs=1e-11 * size)
        assert own.rate(0.0, q, v) == pytest.approx(G(q) @ v, abs=1e-10 * size)
        assert own.acceleration(0.0, q, v) == pytest.approx(H @ v @ v, abs=1e-10 * size)
        own(0.0, q)  # a value that fits
    assert own._model is not None


@pytest.mark.parametrize(
    "g",
    [
        lambda t, q: np.array([np.sin(q[0]) + q[1]]),
        lambda t, q: 1e-9 * np.array([q[0] ** 3 + q[1]]),
        lambda t, q: np.array([q @ q - np.cos(1e-3 * t)]),
        lambda t, q: np.array([np.hypot(*q) - 1.0]),
        lambda t, q: np.array([q[0] ** 2 + 1e-6 * q[1] ** 4]),
    ],
    ids=["sine", "small cubic", "time", "length", "weak quartic"],
)
def test_others_are_not(g):
    assert quadratic_at(g, 0.3, np.array([0.6, 0.8])) is None


def test_a_function_that_ends_beside_the_start_is_differenced():
    def g(t, q):
        if q[0] > 1.05:
            raise ValueError("beyond the table")
        return np.array([q @ q - 1.0])

    q = np.array([1.0, 0.0])
    assert Holonomic(g, None).jacobian(0.0, q) == pytest.approx(2.0 * q[None, :], abs=1e-9)


def bent(t, q):
    """A circle, and from x = 0 on an ellipse that touches it."""
    return np.array([q @ q - 1.0 + (0.5 * q[0] ** 2 if q[0] < 0.0 else 0.0)])


def test_what_is_quadratic_in_parts_is_noticed():
    own = Holonomic(bent, None)
    right, left = np.array([0.6, -0.8]), np.array([-0.6, -0.8])
    assert own.jacobian(0.0, right) == pytest.approx(2.0 * right[None, :], abs=1e-12)
    assert own._model is not None
    own(0.0, left)
    wanted = accurate_jacobian(lambda x: bent(0.0, x), left)
    assert own.jacobian(0.0, left) == pytest.approx(wanted, abs=1e-9)
