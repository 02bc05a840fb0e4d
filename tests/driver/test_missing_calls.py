"""Constraints without gradients: how often they are called, and that nothing is lost by it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from genalpha import Mechanism, integrate, mechanisms

SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")


def bent(t, q):
    """A circle, and from x = 0 on an ellipse that touches it."""
    return np.array([q @ q - 1.0 + (0.5 * q[0] ** 2 if q[0] < 0.0 else 0.0)])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_motion_over_a_bend(scheme):
    """The same steps as with the gradient, before and behind it."""

    def made(**given):
        return Mechanism(
            force=lambda t, q, v: np.array([0.0, -9.81]),
            q0=[1.0, 0.0],
            v0=[0.0, 0.0],
            holonomic=bent,
            **given,
        )

    def gradient(t, q):
        return np.array([[2.0 * q[0] + (q[0] if q[0] < 0.0 else 0.0), 2.0 * q[1]]])

    poor, rich = (
        integrate(o, 0.8, scheme, h=0.004) for o in (made(), made(holonomic_jacobian=gradient))
    )
    assert poor.q[-1, 0] < -0.3
    late = poor.t > 0.1  # GenAlphaI3 starts in another way where no gradient is given
    assert poor.q[-1] == pytest.approx(rich.q[-1], abs=1e-6)
    assert (
        np.abs(poor.lam - rich.lam)[late].max() <= 1e-2
    )  # of 20; differences see both sides of the bend


def readme(calls):
    def force(t, q, v):
        calls["force"] += 1
        return np.array([0.0, -9.81])

    def holonomic(t, q):
        calls["holonomic"] += 1
        return q @ q - 1.0

    return Mechanism(force=force, q0=[1.0, 0.0], v0=[0.0, 0.0], holonomic=holonomic)


def tutorial(calls):
    m1, m2, l1, l2 = 1.0, 0.5, 1.0, 0.8

    def force(t, q, v):
        calls["force"] += 1
        return np.array([0.0, -9.81 * m1, 0.0, -9.81 * m2])

    def holonomic(t, q):
        calls["holonomic"] += 1
        x1, y1, x2, y2 = q
        dx, dy = x2 - x1, y2 - y1
        return 0.5 * np.array([x1**2 + y1**2 - l1**2, dx**2 + dy**2 - l2**2])

    start = [l1, 0.0, l1 + l2, 0.0]
    mass = np.diag([m1, m1, m2, m2])
    return Mechanism(mass=mass, force=force, q0=start, v0=np.zeros(4), holonomic=holonomic)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("make", [readme, tutorial])
@pytest.mark.parametrize("options", [{"rtol": 1e-4, "atol": 1e-6}, {"h": 0.01}], ids=str)
def test_holonomic_alone_costs_little_more_than_the_force(scheme, make, options):
    """The first example of the README and the tutorial's; 1.5 is what was promised."""
    calls = Counter()
    mechanism = make(calls)
    solution = integrate(mechanism, 1.0, scheme, **options)
    # one call per step looks beside the motion whether g is still what it was
    assert calls["holonomic"] <= calls["force"] + 1.1 * (solution.t.size - 1) + 10
    assert calls["holonomic"] <= 1.5 * calls["force"]
    assert mechanism.calls["holonomic"] <= calls["holonomic"]
    drift = [np.abs(mechanism.holonomic(0.0, q)).max() for q in solution.q]
    assert max(drift) <= (1e-11 if "h" in options else 1e-6)  # Newton follows the tolerances


def crank(calls):
    """Angles: not quadratic, but NumPy's functions take complex numbers."""

    def force(t, q, v):
        calls["force"] += 1
        return np.array([0.0, -9.81, 0.0])

    def holonomic(t, q):
        calls["holonomic"] += 1
        return np.array([q[0] - np.cos(q[2]), q[1] - np.sin(q[2])])

    mass = np.diag([1.0, 1.0, 0.1])
    start = [1.0, 0.0, 0.0]
    return Mechanism(mass=mass, force=force, q0=start, v0=np.zeros(3), holonomic=holonomic)


@pytest.mark.parametrize(("scheme", "most"), list(zip(SCHEMES, (2.5, 1.5, 2.5), strict=True)))
def test_angles_cost_little_more(scheme, most):
    """It was 8 to 21 calls of g per call of the force."""
    calls = Counter()
    mechanism = crank(calls)
    before = mechanism.calls["holonomic"]
    calls.clear()
    solution = integrate(mechanism, 1.0, scheme, rtol=1e-6)
    assert calls["holonomic"] <= most * calls["force"]
    assert mechanism.calls["holonomic"] - before == calls["holonomic"]
    assert solution.statistics.calls["holonomic"] == calls["holonomic"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["chain", "car_axis"])
def test_rates_that_vanish_are_differenced_well(scheme, name):
    """Along the motion g' is 0: differences that compared with it failed, and no step succeeded."""
    o = getattr(mechanisms, name)()
    poor = o.replace(holonomic_jacobian=None, holonomic_rate=None, holonomic_acceleration=None)
    end = o.t0 + 0.05
    found, wanted = (integrate(x, end, scheme, rtol=1e-6) for x in (poor, o))
    assert found.statistics.nsteps <= 1.2 * wanted.statistics.nsteps + 2
    assert found.q[-1] == pytest.approx(wanted.q[-1], abs=1e-6)
