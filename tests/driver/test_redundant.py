"""Constraints that become redundant on the way."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, integrate
from genalpha.errors import RedundantConstraintsError

SWITCH = 0.5


def weights(t: float) -> np.ndarray:
    """Two rows that say the same; one of them fades out around SWITCH, the other fades in."""
    late = np.clip((t - SWITCH) / 0.02 + 0.5, 0.0, 1.0)
    return np.array([1.0 - late, late])


def bead(redundant: str) -> Mechanism:
    """A bead on the circle |q| = 1, whose one constraint is written twice, with weights."""
    return Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81]),
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: weights(t) * (q @ q - 1.0),
        holonomic_jacobian=lambda t, q: np.outer(weights(t), 2.0 * q),
        holonomic_rate=lambda t, q, v: weights(t) * 2.0 * (q @ v),
        holonomic_acceleration=lambda t, q, v: weights(t) * 2.0 * (v @ v),
        redundant=redundant,
    )


def test_other_rows_are_chosen_when_the_first_ones_fail():
    single = bead("error").replace(
        holonomic=lambda t, q: q @ q - 1.0,
        holonomic_jacobian=lambda t, q: 2.0 * q,
        holonomic_rate=lambda t, q, v: 2.0 * (q @ v),
        holonomic_acceleration=lambda t, q, v: 2.0 * (v @ v),
    )
    double = integrate(bead("least"), 1.0, h=0.005)
    np.testing.assert_allclose(double.q[-1], integrate(single, 1.0, h=0.005).q[-1], atol=1e-3)
    assert double.lam[10, 0] != 0.0 == double.lam[10, 1]
    assert double.lam[-1, 1] != 0.0 == double.lam[-1, 0]


def test_the_error_names_them():
    with pytest.raises(RedundantConstraintsError, match=r"g\[1\]"):
        integrate(bead("error"), 1.0, h=0.005)
