"""Mechanisms without derivatives: as good as with them, whatever the constraints' size and angle.

A constraint is 0 where it is differenced, so its rounding errors show. Judged by the exact
motion, by SciPy's DOP853 on the eliminated ODE, and by the twin with analytic derivatives.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from genalpha import Mechanism, integrate

SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")
GRAVITY = 9.81
#: Random inclines per scheme and kind of steps.
INCLINES = 25


def incline(random):
    """A mass on a line of any angle, distance and scale; its exact motion and multiplier."""
    angle, size = random.uniform(0.0, 2.0 * np.pi), 10.0 ** random.uniform(-2.0, 3.0)
    normal = np.array([np.sin(angle), np.cos(angle)])
    along = np.array([np.cos(angle), -np.sin(angle)])
    q0, v0 = size * random.uniform(-1.0, 1.0, 2), random.uniform(-2.0, 2.0) * along
    offset = normal @ q0
    mechanism = Mechanism(
        force=lambda t, q, v: np.array([0.0, -GRAVITY]),
        q0=q0,
        v0=v0,
        holonomic=lambda t, q: np.array([normal[0] * q[0] + normal[1] * q[1] - offset]),
    )

    def exact(t):
        return q0 + t * v0 + 0.5 * t**2 * along * (along @ [0.0, -GRAVITY])

    return mechanism, exact, -GRAVITY * normal[1], size


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("h", [0.01, None])
def test_inclines(scheme, h):
    random = np.random.default_rng([SCHEMES.index(scheme), h is None])
    for _ in range(INCLINES):
        mechanism, exact, lam, size = incline(random)
        solution = integrate(mechanism, 0.5, scheme, h=h)
        assert np.abs(solution.q[-1] - exact(0.5)).max() <= 1e-9 * max(1.0, size)
        # rounding of a position of this size, over h^2 in the scheme of index 3
        noise = 1e-15 * size / np.min(np.diff(solution.steps)) ** 2
        assert np.abs(solution.lam - lam).max() <= 1e-6 + 100.0 * noise


def pendulum_error(mechanism, length, **options):
    """The error of the angle of a planar pendulum after a second, by DOP853."""
    solution = integrate(mechanism, 1.0, **options)
    angle = np.arctan2(solution.q[-1, 0], -solution.q[-1, 1])
    right = solve_ivp(
        lambda t, y: [y[1], -GRAVITY * 1000.0 / length * np.sin(y[0])],
        (0.0, 1.0),
        [np.pi / 2, 0.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    return abs(np.angle(np.exp(1j * (angle - right.y[0, -1]))))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("length", [1000.0, 50.0, 1.0, 1e-3])
def test_pendulum_in_millimetres(scheme, length):
    mechanism = Mechanism(
        force=lambda t, q, v: np.array([0.0, -1000.0 * GRAVITY]),
        q0=[length, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: np.array([q @ q - length**2]),
    )
    cycles = np.sqrt(1000.0 * GRAVITY / length)
    h = min(0.002, 0.02 / cycles)
    if length >= 50.0:
        error = pendulum_error(mechanism, length, scheme=scheme, rtol=1e-7, atol=1e-7 * length)
        assert error <= 1e-4
    elif length == 1.0:
        assert pendulum_error(mechanism, length, scheme=scheme, h=h) <= 0.1


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("h", [0.01, None])
def test_driven_by_time(scheme, h):
    mechanism = Mechanism(
        force=lambda t, q, v: np.array([0.0, -GRAVITY]),
        q0=[0.0, 0.0],
        v0=[1.0, 0.5],
        holonomic=lambda t, q: q[1] - 0.5 * np.sin(t),
    )
    solution = integrate(mechanism, 2.0, scheme, h=h)
    assert solution.q[-1] == pytest.approx([2.0, 0.5 * np.sin(2.0)], abs=1e-8)
    lam = -(GRAVITY - 0.5 * np.sin(solution.t))
    assert np.abs(solution.lam[:, 0] - lam).max() <= (2e-3 if h is None else 1e-4)


def smooth(random, with_jacobian):
    """Springs, dampers and random smooth constraints q_free -> the last coordinate."""
    n, m = int(random.integers(2, 5)), 1
    A = random.uniform(-1.0, 1.0, (n, n))
    M = A @ A.T + n * np.eye(n)
    C = random.uniform(-0.3, 0.3, (n, n))
    w, c = random.uniform(-1.0, 1.0, n), random.uniform(0.5, 2.0)
    q0 = random.uniform(-1.0, 1.0, n)

    def g(t, q):
        return np.array([np.sin(w @ q) + c * q[-1] + 0.2 * q[0] * q[-1] - level])

    def G(t, q):
        row = np.cos(w @ q) * w
        row[-1] += c + 0.2 * q[0]
        row[0] += 0.2 * q[-1]
        return row[None, :]

    level = 0.0
    level = g(0.0, q0)[0]
    v0 = random.uniform(-1.0, 1.0, n)
    row = G(0.0, q0)[0]
    v0 -= row * (row @ v0) / (row @ row)
    assert m == 1
    return Mechanism(
        mass=M,
        force=lambda t, q, v: -4.0 * q + C @ v + np.array([np.cos(t)] + [0.0] * (n - 1)),
        q0=q0,
        v0=v0,
        holonomic=g,
        holonomic_jacobian=G if with_jacobian else None,
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("h", [0.01, None])
def test_random_smooth_mechanisms_agree_with_their_analytic_twins(scheme, h):
    for seed in range(8):
        poor, rich = (smooth(np.random.default_rng(seed), x) for x in (False, True))
        found, wanted = (integrate(o, 1.0, scheme, h=h, t_eval=[0.5, 1.0]) for o in (poor, rich))
        # adaptive steps stop Newton's iteration at a fraction of the tolerance
        accuracy = 1e-7 if h else 1e-5
        assert np.abs(found.q - wanted.q).max() <= accuracy, seed
        assert np.abs(found.lam - wanted.lam).max() <= 1e3 * accuracy, seed


def rows_of_different_units(random):
    """A point on a curve, with constraints in units of their own; all derivatives that it has."""
    units = 10.0 ** random.uniform(-3.0, 3.0, 2)
    length = 10.0 ** random.uniform(-2.0, 1.5)
    b, w = random.normal(size=3), random.normal(size=3)
    x0 = random.normal(size=3)
    x0 /= np.linalg.norm(x0)
    e = b @ x0 + 0.3 * np.sin(w @ x0)
    v0 = np.cross(x0, b + 0.3 * np.cos(w @ x0) * w)

    def gradient(t, q):
        x = q / length
        rows = np.array([2.0 * x, b + 0.3 * np.cos(w @ x) * w])
        return units[:, None] * rows / length

    def holonomic(t, q):
        x = q / length
        return units * np.array([x @ x - 1.0, b @ x + 0.3 * np.sin(w @ x) - e])

    parts = {
        "force": lambda t, q, v: length * np.array([0.0, 0.0, -5.0]) - q,
        "q0": length * x0,
        "v0": length * v0 / np.linalg.norm(v0),
        "holonomic": holonomic,
        "holonomic_rate": lambda t, q, v: gradient(t, q) @ v,
    }
    return parts, gradient, length


@pytest.mark.parametrize("scheme", SCHEMES)
def test_constraints_of_different_units(scheme):
    """What is left in a constraint of small numbers is small, as with its gradient given."""
    random = np.random.default_rng([SCHEMES.index(scheme), 7])
    for _ in range(INCLINES):
        parts, gradient, length = rows_of_different_units(random)
        without = integrate(Mechanism(**parts), 0.4, scheme, h=0.004)
        given = integrate(Mechanism(**parts, holonomic_jacobian=gradient), 0.4, scheme, h=0.004)
        scale = np.abs(given.vdot).max()
        assert np.abs(without.vdot - given.vdot).max() <= 2e-3 * scale
        assert np.abs(without.q - given.q).max() <= 1e-6 * length
