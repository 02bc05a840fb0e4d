"""A run with the terms of M(q): that of the Lagrangian, with its energy."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, integrate

G = 9.81


def mass(t, q):
    c = np.cos(q[0] - q[1])
    return np.array([[2.0, c], [c, 1.0]])


def force(t, q, v):
    return np.array([-2.0 * G * np.sin(q[0]), -G * np.sin(q[1])])


def energy(t, q, v):
    return 0.5 * v @ mass(t, q) @ v - 2.0 * G * np.cos(q[0]) - G * np.cos(q[1])


def test_double_pendulum_in_angles():
    """Without the terms, the energy changes by more than 0.1 J; with them it stays."""
    given = {"mass": mass, "force": force, "q0": [1.5, 2.0], "v0": [0.0, 0.0], "energy": energy}
    right, wrong = (
        integrate(Mechanism(quadratic_velocity=x, **given), 1.0, h=2e-3, t_eval=[0.5, 1.0])
        for x in (True, False)
    )
    start = energy(0.0, np.array([1.5, 2.0]), np.zeros(2))
    assert np.abs(right.energy() - start).max() < 1e-3
    assert np.abs(wrong.energy() - start).max() > 0.1
    sp = pytest.importorskip("sympy", reason="needs the extra [symbolic]")
    from sympy.physics.mechanics import dynamicsymbols

    a, b = dynamicsymbols("a b")
    x, y = a.diff(), b.diff()
    T = x**2 + y**2 / 2 + x * y * sp.cos(a - b)
    L = T + 2 * G * sp.cos(a) + G * sp.cos(b)
    o = Mechanism.from_lagrangian(L, [a, b], q0=[1.5, 2.0])
    twin = integrate(o, 1.0, h=2e-3, t_eval=[0.5, 1.0])
    np.testing.assert_allclose(right.q, twin.q, atol=1e-8)
