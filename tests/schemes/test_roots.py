"""Errors of a and of the multipliers, multiplied from step to step by the roots that we say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from genalpha import Coefficients, Mechanism
from genalpha.numerics.roots import acting, growing
from tests.schemes.support import steps

#: Forces are weak and steps small: what is left is the limit h -> 0.
H = 1e-4
ROW = np.array([[1.0, 2.0, -1.0]])
SETS = {
    "rho 0.2": Coefficients.chung_hulbert(0.2),
    "rho 0.9": Coefficients.chung_hulbert(0.9),
    "HHT": Coefficients.hht(-0.1),
    "any": Coefficients(0.1, 0.25, 0.4, 0.65),
}
KINDS = ("none", "holonomic", "nonholonomic")


def mechanism(kind):
    """Three coupled masses, and one linear constraint or none."""
    constraint = {
        "none": {},
        "holonomic": {"holonomic": lambda t, q: ROW @ q},
        "nonholonomic": {"nonholonomic": lambda t, q, v: ROW @ v},
    }[kind]
    mass = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 1.5]])
    zeros = np.zeros(3)
    return Mechanism(mass=mass, force=lambda t, q, v: zeros, q0=zeros, v0=zeros, **constraint)


def propagation(scheme, kind, c):
    """The matrix that maps errors (h v, h^2 a, h^2 lam) of one step to those of the next."""
    o = mechanism(kind)
    at_work, start, _, _ = next(steps(o, [H], scheme=scheme, coefficients=c, start="plain"))
    n, m = 3, o.n_lam + o.n_psi
    mass_inverse = np.linalg.inv(o.mass(0.0, o.q0))

    def state(v, a, lam):
        vdot = -mass_inverse @ ROW.T @ lam if m else np.zeros(3)
        if scheme == "GenAlphaI3":
            return replace(start, v=v, a=a, a_old=a, x=np.concatenate([vdot, lam]))
        f, Ma = o.mass(0.0, o.q0) @ vdot, o.mass(0.0, o.q0) @ a
        return replace(start, v=v, a=a, a_old=a, Ma=Ma, Ma_old=Ma, f=f, kept=lam)

    def coordinates(new):
        lam = new.x[n:] if scheme == "GenAlphaI3" else new.kept
        return np.concatenate([new.v / H, new.a, lam])

    columns = []
    for unit in np.eye(2 * n + m):
        v, a, lam = np.split(unit, [n, 2 * n])
        if kind != "none" and (scheme == "GenAlphaSOI2" or kind == "nonholonomic"):
            v = v - ROW[0] * (ROW @ v) / (ROW @ ROW.T).item()  # the constraint on v holds
        columns.append(coordinates(at_work.take(state(H * v, a, lam), H)))
    return np.array(columns).T


@pytest.mark.parametrize("c", SETS.values(), ids=SETS.keys())
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2"])
def test_roots_are_those_of_a_step(scheme, kind, c):
    found = np.abs(np.linalg.eigvals(propagation(scheme, kind, c)))
    position = scheme == "GenAlphaI3" and kind == "holonomic"
    roots = acting(c, position=position, velocity=kind != "none" and not position)
    expected = [root.modulus for root in roots]
    # velocities in free directions are carried on as they are
    own = found[np.abs(found - 1.0) > 1e-6]
    own = own[own > 1e-6]
    for modulus in expected:
        if modulus > 1e-6:
            assert np.abs(own - modulus).min() < 2e-3, (own, roots)
    for modulus in own:
        known = [*expected, *np.abs(c.roots_at_infinity[1:])] if position else expected
        assert np.abs(np.array(known) - modulus).min() < 2e-3, (own, roots)


def test_what_grows_is_told():
    c = Coefficients(0.3, 0.1, 0.16, 0.3)  # of order 2, zero-stable, r_gamma = 7/3
    assert growing(acting(c, position=False, velocity=False)) == []
    (told,) = growing(acting(c, position=False, velocity=True))
    assert "r_gamma" in told
    assert "2.33" in told
    assert len(growing(acting(c, position=True, velocity=False))) == 1


@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 1.0])
def test_chung_and_hulbert_never_grow(rho_inf):
    roots = acting(Coefficients.chung_hulbert(rho_inf), position=True, velocity=True)
    assert growing(roots) == []
    assert any(root.stays for root in roots) == (rho_inf == 1.0)
