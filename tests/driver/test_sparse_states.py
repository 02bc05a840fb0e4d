"""First-order states in sparse mechanisms: a chain with a motor in every joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from genalpha import Mechanism, integrate, mechanisms

COIL, RESISTANCE, CONSTANT = 0.02, 1.0, 0.3
SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")


def motors(links: int, is_sparse: bool, derivatives: bool = True) -> Mechanism:
    """Return a chain of rods whose joints are driven; the states are the currents."""
    o = mechanisms.chain(links, is_sparse=is_sparse)
    n = o.n_q
    # turning of each rod against the one before; the torque acts on both
    rods, ones = np.arange(links), np.ones(links)
    turning = sparse.csc_array((ones, (rods, 3 * rods + 2)), shape=(links, n))
    turning = turning - sparse.csc_array(
        (ones[1:], (rods[1:], 3 * rods[:-1] + 2)), shape=(links, n)
    )

    def matrix(x: Any) -> Any:
        return sparse.csc_array(x) if is_sparse else x.toarray()

    def rate(t: float, q: Any, v: Any, z: Any) -> Any:
        return (np.sin(5.0 * t + rods) - RESISTANCE * z - CONSTANT * (turning @ v)) / COIL

    zero = sparse.csc_array((links, n))
    by = [zero, -CONSTANT * turning, -RESISTANCE * sparse.eye_array(links)]
    given = {
        "stiffness": lambda t, q, v, z, *rest: o.stiffness(t, q, v, *rest),
        "damping": lambda t, q, v, z, *rest: o.damping(t, q, v, *rest),
        "state_rate_jacobian": lambda t, q, v, z: matrix(sparse.hstack(by) / COIL),
        "state_coupling": lambda t, q, v, z, *rest: matrix(-CONSTANT * turning.T),
    }
    return Mechanism(
        mass=o.constant_mass,
        force=lambda t, q, v, z: o.force(t, q, v) + CONSTANT * (turning.T @ z),
        state_rate=rate,
        holonomic=o.holonomic,
        holonomic_jacobian=o.holonomic_jacobian,
        holonomic_rate=o.holonomic_rate,
        holonomic_acceleration=o.holonomic_acceleration,
        q0=o.q0,
        v0=o.v0,
        z0=np.zeros(links),
        **(given if derivatives else {}),
    )


@pytest.mark.parametrize("options", [{"h": 2e-3}, {"rtol": 1e-5, "atol": 1e-5}])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_same_motion_dense_and_sparse(scheme, options):
    runs = [integrate(motors(6, x), 0.06, scheme, **options) for x in (True, False)]
    for key in ("q", "v", "z", "zdot", "lam"):
        x, y = (getattr(run, key)[-1] for run in runs)
        assert np.abs(x - y).max() <= 1e-6 * (1.0 + np.abs(y).max()), key


def test_without_derivatives():
    assert motors(3, True).check_derivatives()
    given, differenced = (integrate(motors(6, True, x), 0.06, h=2e-3) for x in (True, False))
    assert np.abs(given.z - differenced.z).max() < 1e-6


def test_sparse_stays_sparse():
    """Nothing grows faster than the chain."""
    links = 100
    o = motors(links, True)
    assert o.is_sparse and o.widened.is_sparse
    wide = o.widened
    lam, psi = wide.multiplier_guess()
    state = 0.0, wide.q0, wide.v0, 0.0 * wide.v0, lam, psi
    for found in (wide.stiffness(*state), wide.damping(*state), wide.mass(0.0, wide.q0)):
        assert sparse.issparse(found) and found.shape == (4 * links, 4 * links)
        assert found.nnz <= 12 * links
    assert sparse.issparse(wide.holonomic_jacobian(0.0, wide.q0))
    solution = integrate(o, 0.01, h=2e-3)
    assert np.isfinite(solution.z).all() and solution.z.shape == (6, links)
