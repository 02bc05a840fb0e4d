"""Driven mechanisms of the catalogue: their references, a second way to them, their pictures."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from genalpha.mechanisms import catalogue
from genalpha.mechanisms.sketches import sketch

#: Times at which references are looked at.
TIMES = {"motor_slider_crank": 0.6, "controlled_pendulum": 1.0, "hydraulic_boom": 0.6}


@pytest.fixture(params=list(catalogue(states=True)))
def mechanism(request):
    return catalogue(states=True)[request.param]()


def test_reference_satisfies_all_equations(mechanism):
    o = mechanism
    for t in np.linspace(0.0, TIMES[o.name], 4):
        m = o.reference.motion(t)
        state = t, m.q, m.v, m.z
        reaction = o.reaction(*state, m.lam, m.psi)
        imbalance = o.mass(t, m.q) @ m.vdot - o.force(*state) - reaction
        size = np.abs(o.force(*state)).max() + np.abs(reaction).max()
        assert np.abs(imbalance).max() <= 1e-11 * size
        np.testing.assert_allclose(o.state_rate(*state), m.zdot)
        residuals = o.residuals(t, m.q, m.v, m.vdot, m.z)
        assert np.abs(residuals.position).max() < 1e-13
        assert np.abs(residuals.velocity).max() < 1e-12 * max(1.0, np.abs(m.v).max())
        assert np.abs(residuals.acceleration).max() < 1e-6 * max(1.0, np.abs(m.vdot).max())


def test_second_way(mechanism):
    """The same by index reduction, in the coordinates of the mechanism, agrees to its digits."""
    o, end = mechanism.widened, TIMES[mechanism.name]
    n = o.n_q

    def rate(t, x):
        q, v = x[:n], x[n:]
        G = o.holonomic_jacobian(t, q)
        matrix = np.block([[o.mass(t, q), G.T], [G, np.zeros((len(G), len(G)))]])
        right = np.concatenate([o.force(t, q, v), -o.holonomic_acceleration(t, q, v)])
        return np.concatenate([v, np.linalg.solve(matrix, right)[:n]])

    start = np.concatenate([o.q0, o.v0])
    run = solve_ivp(rate, (0.0, end), start, method="DOP853", rtol=1e-9, atol=1e-10)
    motion = mechanism.reference.motion(end)
    k = mechanism.n_q
    found = run.y[:k, -1], run.y[n : n + k, -1], run.y[n + k :, -1]
    for x, exact in zip(found, (motion.q, motion.v, motion.z), strict=True):
        assert np.abs(x - exact).max() < 1e-6 * np.abs(exact).max()


def test_picture_and_pickle(mechanism):
    lines = sketch(mechanism, 0.0, mechanism.q0)
    assert len(lines) >= 2 and all(np.isfinite(line).all() for line in lines)
    again = pickle.loads(pickle.dumps(mechanism))
    assert again.name == mechanism.name and np.array_equal(again.z0, mechanism.z0)
