"""Derivatives by differences of rows of very different sizes: each is judged by itself."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.model.differences import directional_derivative, second_directional_derivative


@pytest.mark.parametrize("seed", range(30))
def test_a_small_row_that_varies_fast_does_not_hide_beside_a_large_one(seed):
    random = np.random.default_rng([seed, 63097])
    sizes = 10.0 ** random.uniform(-8.0, 8.0, 3)
    rates = 10.0 ** random.uniform(0.0, 2.5, 3)
    phases = random.uniform(-1.0, 1.0, 3)
    calls = []

    def phi(s: float) -> np.ndarray:
        calls.append(s)
        return sizes * np.sin(rates * s + phases)

    first = directional_derivative(phi, sizes)
    assert (np.abs(first - sizes * rates * np.cos(phases)) <= 1e-7 * sizes * rates).all()
    second = second_directional_derivative(phi, sizes)
    assert (np.abs(second + sizes * rates**2 * np.sin(phases)) <= 1e-4 * sizes * rates**2).all()
    assert len(calls) < 80


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_equal_speed_cost_no_more_for_their_sizes(seed):
    random = np.random.default_rng(seed)
    phases = random.uniform(-1.0, 1.0, 3)

    def calls(sizes: np.ndarray) -> int:
        count = []

        def phi(s: float) -> np.ndarray:
            count.append(s)
            return sizes * np.sin(2.0 * s + phases)

        directional_derivative(phi, sizes)
        second_directional_derivative(phi, sizes)
        return len(count)

    assert calls(10.0 ** random.uniform(-8.0, 8.0, 3)) == calls(np.ones(3))
