"""Mechanisms from their Lagrangians are the same as those written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import mechanisms

pytest.importorskip("sympy", reason="needs the extra [symbolic]")
from genalpha.mechanisms import lagrangians

NAMES = (
    "simple_pendulum",
    "driven_pendulum",
    "chain",
    "four_bar",
    "slider_crank",
    "rolling_disk",
    "andrews_squeezer",
    "assimulo_pendulum",
    "spherical_pendulum",
    "pendulum_jn",
    "prescribed_mass",
    "car_axis",
    "knife_edge",
    "chaplygin_sleigh",
)


@pytest.mark.parametrize("name", NAMES)
def test_same_equations(name):
    options = {"links": 2} if name == "chain" else {}
    o, twin = (getattr(x, name)(**options) for x in (lagrangians, mechanisms))
    np.testing.assert_allclose(o.q0, twin.q0, atol=4e-15)
    np.testing.assert_allclose(o.v0, twin.v0, atol=4e-15)
    r = np.random.default_rng(0)
    n, lam, psi = o.n_q, r.standard_normal(o.n_lam), r.standard_normal(o.n_psi)
    q, v = o.q0 + 0.1 * r.standard_normal(n), o.v0 + r.standard_normal(n)
    state = 0.3, q, v, r.standard_normal(n), lam, psi
    pairs = [(o.imbalance(*state), twin.imbalance(*state))]
    for key in ("stiffness", "damping"):
        pairs.append((getattr(o, key)(*state), getattr(twin, key)(*state)))
    for key in ("holonomic_rate", "holonomic_acceleration", "nonholonomic"):
        pairs.append((getattr(o, key)(*state[:3]), getattr(twin, key)(*state[:3])))
    if twin.energy:
        pairs.append((o.energy(*state[:3]), twin.energy(*state[:3])))
    for found, expected in pairs:
        size = np.max(np.abs(expected), initial=1e-3)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * size)
