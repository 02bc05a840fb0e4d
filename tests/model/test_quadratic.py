"""Coriolis and centrifugal terms from the mass matrix itself."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism
from genalpha.errors import CallbackError, InvalidOptionError

START = {"q0": [0.7, -0.4, 0.2], "v0": [1.0, -2.0, 0.5]}


def mass(t, q):
    """A matrix in which everything depends on everything."""
    a, b, c = q
    s = np.sin(t)
    return np.array(
        [
            [3.0 + np.cos(b) ** 2, a * c, 0.2 * np.sin(b)],
            [a * c, 2.0 + a**2 * c**2, 0.1 * s * c],
            [0.2 * np.sin(b), 0.1 * s * c, 1.0 + np.exp(a) / 10.0],
        ]
    )


def gradient(t, q):
    """Central differences of a function that is known: enough for a test of how it is used."""
    columns = []
    for k in range(3):
        step = 1e-5 * np.eye(3)[k]
        ahead, behind = mass(t, q + step), mass(t, q - step)
        far, back = mass(t, q + 2.0 * step), mass(t, q - 2.0 * step)
        columns.append((8.0 * (ahead - behind) - (far - back)) / 12e-5)
    return np.stack(columns, axis=-1)


def expected(t, q, v):
    """Lagrange's equations by SymPy, where T = v^T M v / 2."""
    sp = pytest.importorskip("sympy", reason="needs the extra [symbolic]")
    time, x, w = sp.Symbol("t"), sp.symbols("q0:3"), sp.symbols("v0:3")
    a, b, c = x
    M = sp.Matrix(
        [
            [3 + sp.cos(b) ** 2, a * c, sp.sin(b) / 5],
            [a * c, 2 + a**2 * c**2, sp.sin(time) * c / 10],
            [sp.sin(b) / 5, sp.sin(time) * c / 10, 1 + sp.exp(a) / 10],
        ]
    )
    speeds = sp.Matrix(w)
    momenta = M * speeds
    energy = (speeds.T * M * speeds)[0] / 2
    turning = momenta.diff(time) + momenta.jacobian(x) * speeds
    terms = [energy.diff(x[i]) - turning[i] for i in range(3)]
    at = dict(zip((time, *x, *w), (t, *q, *v), strict=True))
    return np.array([float(term.subs(at)) for term in terms])


@pytest.mark.parametrize("given", [True, gradient], ids=["differenced", "given"])
def test_terms_are_those_of_lagrange(given):
    calls = 0

    def force(t, q, v):
        nonlocal calls
        calls += 1
        return np.array([t, 0.0, -v[1]])

    o = Mechanism(mass=mass, force=force, quadratic_velocity=given, **START)
    before, seen = o.calls["force"], calls
    r = np.random.default_rng(5)
    for _ in range(3):
        t, q, v = r.uniform(), r.standard_normal(3), r.standard_normal(3)
        applied = np.array([t, 0.0, -v[1]])
        np.testing.assert_allclose(o.force(t, q, v) - applied, expected(t, q, v), atol=2e-9)
    assert o.calls["force"] - before == calls - seen == 3
    plain = o.replace(quadratic_velocity=False)
    np.testing.assert_array_equal(plain.force(0.5, o.q0, o.v0), force(0.5, o.q0, o.v0))


def test_a_constant_mass_has_no_terms():
    o = Mechanism(mass=np.eye(3), force=lambda t, q, v: q, quadratic_velocity=True, **START)
    np.testing.assert_array_equal(o.force(0.0, o.q0, o.v0), o.q0)


def test_slips_are_named():
    with pytest.raises(InvalidOptionError, match=r"quadratic_velocity = 'yes'; expected True"):
        Mechanism(mass=mass, force=lambda t, q, v: q, quadratic_velocity="yes", **START)
    with pytest.raises(CallbackError, match=r"returned shape \(3, 3\); expected \(3, 3, 3\)"):
        Mechanism(mass=mass, force=lambda t, q, v: q, quadratic_velocity=mass, **START)
