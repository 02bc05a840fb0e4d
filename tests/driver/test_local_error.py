"""The constants of the local error, measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from genalpha import Mechanism
from genalpha.driver import Options, Stepper
from genalpha.numerics.local_error import generalized_alpha
from tests.numerics.test_local_error import EACH


def grown() -> Mechanism:
    """q = exp(t) solves q'' = (q + q')/2: all derivatives of the motion are exp(t)."""
    return Mechanism(force=lambda t, q, v: 0.5 * (q + v), q0=[1.0], v0=[1.0])


def stepper_at(c, h, scheme, t=0.0):
    stepper = Stepper(grown(), Options(scheme=scheme, coefficients=c, start="plain"))
    x, none = np.array([np.exp(t)]), np.zeros(0)
    stepper.begin(t, x, x, none, none, h)
    return stepper


SCHEMES = pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2"])


@EACH
@SCHEMES
def test_position_constant(c, scheme):
    """One step from exact q, v and a = vdot(t0 + alpha h): e_q / (h^3 v'') tends to C_q."""
    for h, tolerance in ((1e-2, 0.05), (1e-3, 0.005)):
        stepper = stepper_at(c, h, scheme)
        a = np.array([np.exp(c.alpha * h)])
        changes = {"a": a, "a_old": a}
        if scheme == "GenAlphaSOI2":
            changes |= {"Ma": a, "Ma_old": a}
        stepper.state = replace(stepper.state, **changes)
        error = stepper.attempt(h).q[0] - np.exp(h)
        assert abs(error) / h**3 == pytest.approx(generalized_alpha(c).position, abs=tolerance)


@EACH
@SCHEMES
def test_velocity_constant_in_the_long_run(c, scheme):
    """Once `a` has found its own error O(h^2), every step adds C_v h^3 v''' to the velocity.

    Measured with a force that depends on time only, so that errors of one step do not come back
    in the next: then the velocity's error is the sum of what each step adds.
    """
    o = Mechanism(force=lambda t, q, v: np.exp([t]), q0=[1.0], v0=[1.0])
    h, count = 0.005, 60
    stepper = Stepper(o, Options(scheme=scheme, coefficients=c))
    stepper.begin(0.0, o.q0, o.v0, np.zeros(0), np.zeros(0), h)
    for _ in range(count):  # transients of `a` die out as r_alpha_m^n
        stepper.accept(stepper.attempt(h))
    before = stepper.state
    after = stepper.attempt(h)
    added = (after.v - before.v)[0] - (np.exp(after.t) - np.exp(before.t))
    middle = np.exp(0.5 * (before.t + after.t))
    constant = added / (h**3 * middle)
    transient = c.r_alpha_m**count / h
    expected = generalized_alpha(c).velocity
    assert abs(constant) == pytest.approx(expected, abs=2.0 * h * expected + 1e-4 + transient)
