"""First-order modes: limits, stability, order, and steps of the schemes beside the matrix."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Coefficients
from genalpha.numerics.first_order import (
    first_order_matrix,
    first_order_radius,
    radius_at_infinity,
)

RHOS = (0.0, 0.1, 3.0 - 2.0 * np.sqrt(2.0), 0.5, 0.8, 1.0)
SETS = [
    *(Coefficients.chung_hulbert(x) for x in RHOS),
    Coefficients.hht(-0.1),
    Coefficients.hht(-0.3),
]


@pytest.mark.parametrize("c", SETS)
def test_stable_and_damped_as_promised(c):
    """No mode with a negative real part, or none at all, grows; stiff ones fall by the radius."""
    turn = np.exp(1j * np.linspace(np.pi / 2, 3 * np.pi / 2, 13))
    for size in (1e-3, 0.1, 1.0, 10.0, 1e4):
        # a double root, that of rho_inf = 1 at infinity, is known to the root of rounding
        assert first_order_radius(c, size * turn).max() <= 1.0 + 1e-7
    assert first_order_radius(c, [-1e9])[0] == pytest.approx(radius_at_infinity(c), abs=1e-6)


def test_radius_at_infinity():
    """It is rho_inf, unless that is below 3 - 2 sqrt(2): there it is (1 - 3 rho) / (3 - rho)."""
    for rho in np.linspace(0.0, 1.0, 21):
        wanted = max(rho, (1.0 - 3.0 * rho) / (3.0 - rho))
        assert radius_at_infinity(Coefficients.chung_hulbert(rho)) == pytest.approx(wanted)


@pytest.mark.parametrize("c", SETS)
def test_second_order(c):
    """The principal root is exp(lambda h) + O(h^3)."""
    wrong = []
    for x in (0.02, 0.01):
        roots = np.linalg.eigvals(first_order_matrix(c, -x))
        wrong.append(np.abs(roots - np.exp(-x)).min())
    assert np.log2(wrong[0] / wrong[1]) > 2.8
