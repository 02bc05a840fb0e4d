"""Coefficients that a scheme refuses, and those that it takes with a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from genalpha import Coefficients, Mechanism, integrate, mechanisms
from genalpha.errors import FirstOrderWarning, InvalidOptionError, UndampedWarning

#: Of order 2 and zero-stable, but r_gamma = 7/3 and a root of Lemma 1 is 1.5.
GROWING = Coefficients(0.3, 0.1, 0.16, 0.3)
SCHEMES = pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2"])


@SCHEMES
@pytest.mark.parametrize("name", ["simple_pendulum", "knife_edge"])
def test_roots_outside_are_refused_where_they_act(scheme, name):
    o = getattr(mechanisms, name)()
    with pytest.raises(InvalidOptionError, match="grow by it in every step"):
        integrate(o, 0.1, scheme, 0.01, coefficients=GROWING)


@SCHEMES
def test_and_are_allowed_where_they_do_not(scheme):
    """Without constraints, errors are multiplied by alpha_m / (1 - alpha_m) only."""
    o = Mechanism(force=lambda t, q, v: -q, q0=[1.0], v0=[0.0])
    s = integrate(o, 1.0, scheme, 0.01, coefficients=GROWING)
    assert s.q[-1, 0] == pytest.approx(np.cos(1.0), abs=1e-4)


@pytest.mark.parametrize(
    ("scheme", "name", "sizes", "warned"),
    [
        ("GenAlphaI3", "simple_pendulum", [0.05, 0.05], True),
        ("GenAlphaI3", "knife_edge", [0.05, 0.05], False),
        ("GenAlphaI3", "knife_edge", [0.04, 0.06], True),
        ("GenAlphaSOI2", "simple_pendulum", [0.05, 0.05], False),
        ("GenAlphaSOI2", "simple_pendulum", 0.05, False),
        ("GenAlphaSOI2", "simple_pendulum", [0.04, 0.06], True),
        ("GenAlphaSOI2", "simple_pendulum", None, True),
    ],
)
def test_no_damping(scheme, name, sizes, warned):
    """A warning wherever errors of multipliers arise and a root of modulus 1 acts on them."""
    o = getattr(mechanisms, name)()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        integrate(o, 0.1, scheme, sizes, rho_inf=1.0)
        kinds = [warning.category for warning in caught]
    assert kinds == [UndampedWarning] * warned
    assert all("rho_inf = 1" in str(warning.message) for warning in caught)


def test_what_the_warning_is_about():
    """With small steps of changing sizes, errors of multipliers are many times larger."""
    o = mechanisms.four_bar()
    sizes = np.random.default_rng(1).uniform(0.5, 1.5, 8000)
    sizes *= 0.5 / sizes.sum()
    errors, late = [], range(4000, 8001, 200)
    for rho_inf in (0.8, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndampedWarning)
            s = integrate(o, 0.5, "GenAlphaSOI2", sizes.tolist(), rho_inf=rho_inf)
        true = np.array([o.reference.motion(s.t[i]).lam for i in late])
        errors.append(np.abs(s.lam[late] - true).max())
    assert errors[1] > 5.0 * errors[0]


@SCHEMES
def test_newmark_of_first_order(scheme):
    o, c = mechanisms.simple_pendulum(), Coefficients.newmark(0.3025, 0.6)
    true, errors = o.reference.motion(0.5).q, []
    for h in (0.01, 0.005):
        with pytest.warns(FirstOrderWarning, match=r"gamma = 0\.6 is of first order"):
            s = integrate(o, 0.5, scheme, h, coefficients=c)
        errors.append(np.linalg.norm(s.q[-1] - true))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.15)


@SCHEMES
def test_first_order_has_limits(scheme):
    o = mechanisms.simple_pendulum()
    with pytest.raises(InvalidOptionError, match="adaptive steps; give h"):
        integrate(o, 0.5, scheme, coefficients=Coefficients.newmark(0.3025, 0.6))
    with pytest.raises(InvalidOptionError, match="grow by it"):
        integrate(o, 0.5, scheme, 0.01, coefficients=Coefficients.newmark(0.25, 0.4))
    with pytest.raises(InvalidOptionError, match="order-2 condition"):
        integrate(o, 0.5, scheme, 0.01, coefficients=Coefficients(0.1, 0.2, 0.3, 0.7))
