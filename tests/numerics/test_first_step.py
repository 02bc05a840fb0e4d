"""The start: acceleration and its derivative, the first size, the first third derivative."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, mechanisms
from genalpha.numerics.first_step import Ahead, first_size, first_snap, look_ahead, look_further
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.local_error import ErrorConstants
from genalpha.numerics.weights import Tolerances

NONE = np.zeros(0)


def start_of(o: Mechanism) -> Knot:
    return Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())


def tolerances_of(o: Mechanism, tol: float) -> Tolerances:
    return Tolerances.split(tol, tol, o.n_q, o.n_lam, o.n_psi)


@pytest.mark.parametrize("interval", [2.0, -2.0])
def test_looks_ahead(interval):
    """On a pendulum that moves, against the derivative of the exact acceleration."""
    o = mechanisms.simple_pendulum(angle0=0.7, rate0=2.0)
    found = look_ahead(o, start_of(o), tolerances_of(o, 1e-4), interval, ())
    exact = o.reference.motion
    np.testing.assert_allclose(found.vdot, exact(0.0).vdot, rtol=1e-12)
    jerk = (exact(1e-5).vdot - exact(-1e-5).vdot) / 2e-5
    np.testing.assert_allclose(found.jerk, jerk, rtol=1e-3)
    assert 0.0 < found.tiny <= 1e-3 * 2.0


def test_equations_that_fail_beside_the_start():
    def force(t, q, v):
        if t > 0.0:
            raise ZeroDivisionError
        return -q

    o = Mechanism(force=force, q0=[1.0], v0=[0.0])
    found = look_ahead(o, start_of(o), tolerances_of(o, 1e-4), 1.0, (ZeroDivisionError,))
    assert found.jerk is None and found.vdot[0] == -1.0
    size = first_size(found, start_of(o), tolerances_of(o, 1e-4), 0.1, 1.0)
    assert size == found.tiny
    assert first_snap(found, np.zeros(1), 0.1) is None
    with pytest.raises(ZeroDivisionError):
        look_ahead(o, start_of(o), tolerances_of(o, 1e-4), 1.0, ())


def test_first_size():
    """C h^3 |v''| is a tenth of atol + rtol |q|."""
    start = Knot(0.0, np.array([3.0]), np.zeros(1), np.zeros(1), NONE, NONE)
    tolerances = Tolerances.split(1e-3, 1e-4, 1, 0, 0)
    ahead = Ahead(1e-6, np.zeros(1), np.array([5.0]))
    h = first_size(ahead, start, tolerances, 0.2, 1.0)
    assert 0.2 * h**3 * 5.0 == pytest.approx(0.1 * (1e-4 + 3e-3))
    assert first_size(ahead, start, tolerances, 0.2, 1e-3) == 1e-3
    still = Ahead(1e-6, np.zeros(1), np.zeros(1))
    assert first_size(still, start, tolerances, 0.2, 7.0) == 7.0


@pytest.mark.parametrize("direction", [1.0, -1.0])
@pytest.mark.parametrize("of_q", [1e-6, 100.0])
def test_looks_further_where_the_start_says_nothing(direction, of_q):
    """vdot = 4 t^2, v'' = 0 and v''' = 8: h^3 C_v v''' or h^4 C_q v''' / 2 is a tenth of tol."""
    o = Mechanism(force=lambda t, q, v: [4.0 * t**2], q0=[0.0], v0=[0.0])
    tolerances, start = Tolerances.split(0.0, 1e-4, 1, 0, 0), start_of(o)
    ahead = Ahead(1e-9, np.zeros(1), np.zeros(1))
    constants = ErrorConstants(of_q, 0.1)
    h = look_further(o, start, ahead, tolerances, constants, direction * 1.0, ())
    larger = max(0.1 * h**3 * 8.0, 0.5 * of_q * h**4 * 8.0)
    assert larger == pytest.approx(1e-5)
    assert look_further(o, start, ahead, tolerances, constants, direction * 1e-4, ()) == 1e-4


def test_nothing_further_ahead_either():
    """A body that flies freely may fly as far as is allowed; so may one whose force fails there."""
    for force in (lambda t, q, v: [-9.81], lambda t, q, v: [1.0 / (t < 1e-3)]):
        o = Mechanism(force=force, q0=[0.0], v0=[1.0])
        tolerances = Tolerances.split(1e-4, 1e-4, 1, 0, 0)
        ahead = look_ahead(o, start_of(o), tolerances, 0.1, (ZeroDivisionError,))
        constants = ErrorConstants(0.1, 0.1)
        h = look_further(o, start_of(o), ahead, tolerances, constants, 0.7, (ZeroDivisionError,))
        assert h == 0.7


def test_first_snap_is_exact_on_cubic_velocities():
    """vdot = 2 + 3 t + 4 t^2: v''' is 8 everywhere, forwards and backwards."""
    ahead = Ahead(1e-6, np.array([2.0]), np.array([3.0]))
    for h in (0.5, -0.5):
        snap = first_snap(ahead, np.array([2.0 + 3.0 * h + 4.0 * h**2]), h)
        assert snap[0] == pytest.approx(8.0)
