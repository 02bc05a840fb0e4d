"""Mass matrices that become singular on the way, where constraints determine what has no mass."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from genalpha import Mechanism, integrate
from genalpha.driver.extrapolation.inertia import singular_at
from genalpha.errors import UnsupportedProblemError
from tests.driver.support import mechanism


def through_a_pole(least=0.0):
    """x and y = x with the kinetic energy (x'^2 + (sin(x)^2 + least) y'^2) / 2 and a spring."""

    def mass(t, q):
        return np.diag([1.0, sin(q[0]) ** 2 + least])

    def force(t, q, v):
        s, c = sin(q[0]), cos(q[0])
        return np.array([s * c * v[1] ** 2 - q[0], -2.0 * s * c * v[0] * v[1]])

    return Mechanism(
        mass=mass, force=force, holonomic=lambda t, q: q[1:] - q[:1], q0=[1.0, 1.0], v0=[0.0, 0.0]
    )


def truth(t_final, least=0.0):
    """The motion of x by itself."""

    def rate(t, y):
        x, v = y
        s, c = sin(x), cos(x)
        return [v, (-x - s * c * v * v) / (1.0 + s * s + least)]

    return solve_ivp(rate, (0.0, t_final), [1.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("wanted", [1e-3, 1e-6, 1e-8])
def test_the_scheme_that_is_chosen_does_not_need_its_inverse(wanted, sign):
    solution = integrate(through_a_pole(), sign * 5.0, error=wanted)
    assert abs(solution.q[-1, 0] - truth(5.0)) <= wanted


@pytest.mark.parametrize(("end", "wanted"), [(5.0, 1e-6), (5.013, 1e-7), (5.43, 1e-6)])
def test_a_small_mass_is_not_none(end, wanted):
    """The mass falls to a thousandth on the way: HHTI2 is still chosen, and right.

    Newton's iteration fails in coarse runs and in one that is finer (5.0), and estimates fall only
    after four trials (5.013).
    """
    o = through_a_pole(least=1e-3)
    solution = integrate(o, end, error=wanted)
    assert np.array_equal(solution.q, integrate(o, end, "HHTI2", error=wanted).q)
    assert abs(solution.q[-1, 0] - truth(end, 1e-3)) <= wanted


def test_hhti2_says_why_it_fails():
    """The rolling disk lies flat at t = 1.06, in Euler angles."""
    o = mechanism("rolling_disk")
    with pytest.raises(UnsupportedProblemError, match=r"singular near t = 1\.0[56].*GenAlphaI3"):
        integrate(o, 2.0, "HHTI2", error=1e-6)
    times = np.linspace(0.0, 2.0, 60)
    loose = integrate(o, 2.0, t_eval=times)
    assert singular_at(o, (times, loose.q, loose.v)) == pytest.approx(1.062, abs=0.003)
    early = slice(None, 25)
    assert singular_at(o, (times[early], loose.q[early], loose.v[early])) is None
