"""Derivatives that the user leaves out, against those that he gives."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import mechanisms
from genalpha.model import Mechanism
from genalpha.model.differences import (
    accurate_jacobian,
    directional_derivative,
    forward_jacobian,
    second_directional_derivative,
)
from tests.model.support import EQUATIONS, ITERATION, distance, largest, nearby, without

NAMES = [
    "jay_negrut_test",
    "pendulum_jn",
    "driven_pendulum",
    "four_bar",
    "slider_crank",
    "andrews_squeezer",
    "car_axis",
    "heavy_top",
    "rolling_disk",
    "knife_edge",
]
#: What enters the equations must be as good as this, relative to its own size.
ACCURACY = 1e-9


def size_of(o: Mechanism, key: str, expected, state) -> float:
    """The size of a derivative: for g'' and k' at least that of G vdot with vdot = 1.

    They stand beside G vdot in the equations; where they vanish by chance, their own size is none.
    """
    t, q, v = state[:3]
    if "acceleration" not in key:
        return largest(expected)
    J = o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v)
    return max(largest(expected), *(largest(x) for x in J))


def errors_of(o: Mechanism, poor: Mechanism, state) -> dict[str, float]:
    """Relative errors of what `poor` has instead of o's own derivatives, by name."""
    errors = {}
    for key in EQUATIONS:
        arguments = state[:2] if key == "holonomic_jacobian" else state[:3]
        expected = getattr(o, key)(*arguments)
        error = distance(getattr(poor, key)(*arguments), expected)
        size = size_of(o, key, expected, state)
        errors[key] = error / size if size else error
    return errors


@pytest.mark.parametrize("name", NAMES)
def test_all_missing(name):
    o = getattr(mechanisms, name)()
    errors = errors_of(o, without(o, *EQUATIONS), nearby(o))
    assert max(errors.values()) <= ACCURACY, errors


@pytest.mark.parametrize("name", ["driven_pendulum", "slider_crank", "car_axis"])
def test_only_the_jacobian_is_given(name):
    o = getattr(mechanisms, name)()
    poor = without(o, *(key for key in EQUATIONS if key != "holonomic_jacobian"))
    errors = errors_of(o, poor, nearby(o))
    assert max(errors.values()) <= ACCURACY, errors
    assert errors["holonomic_jacobian"] == 0.0


def test_fast_driven_constraint():
    """x = sin(100 t): a step that suits slow motions would be useless."""
    o = Mechanism(
        force=lambda t, q, v: np.zeros(2),
        q0=[0.0, 1.0],
        v0=[100.0, 0.0],
        holonomic=lambda t, q: q[0] - np.sin(100.0 * t) * q[1],
    )
    t, q, v = 0.123, np.array([0.4, 1.1]), np.array([5.0, 0.3])
    s, c = np.sin(100.0 * t), np.cos(100.0 * t)
    rate = v[0] - s * v[1] - 100.0 * c * q[1]
    acceleration = 1e4 * s * q[1] - 2 * 100.0 * c * v[1]
    assert distance(o.holonomic_jacobian(t, q), [[1.0, -s]]) < 1e-10
    assert abs(o.holonomic_rate(t, q, v)[0] - rate) < ACCURACY * 100.0
    assert abs(o.holonomic_acceleration(t, q, v)[0] - acceleration) < ACCURACY * 1e4


@pytest.mark.parametrize("L", [1e-1, 1e-2, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("speed", [1.0, 1e2, 1e4])
def test_small_coordinates(L, speed):
    """|q| = L, whose derivatives change over a distance of L, at any angular velocity."""
    o = Mechanism(
        force=lambda t, q, v: -q,
        q0=[0.6 * L, 0.8 * L],
        v0=[0.8 * L * speed, -0.6 * L * speed],
        holonomic=lambda t, q: np.sqrt(q @ q) - L,
    )
    q, v = o.q0, o.v0
    assert distance(o.holonomic_jacobian(0.0, q), [q / L]) < ACCURACY
    assert abs(o.holonomic_rate(0.0, q, v)[0]) < ACCURACY * L * speed
    assert abs(o.holonomic_acceleration(0.0, q, v)[0] - L * speed**2) < ACCURACY * L * speed**2


def test_large_coordinates():
    q = np.array([3e6, 4e6])
    G = accurate_jacobian(lambda x: np.array([np.sqrt(x @ x)]), q)
    assert distance(G, [[0.6, 0.8]]) < ACCURACY


def test_what_does_not_depend_on_time_has_no_rate_by_rounding():
    """g_t is exactly 0 then: no noise enters the velocity constraint."""
    o = Mechanism(
        force=lambda t, q, v: -q,
        q0=[0.6, 0.8],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: np.sin(q @ q) - np.sin(1.0),
    )
    assert o.holonomic_rate(0.0, o.q0, o.v0)[0] == 0.0


@pytest.mark.parametrize("derivative", [directional_derivative, second_directional_derivative])
def test_nan_and_noise_end(derivative):
    """A function without a derivative costs no more than a few cuts of the step."""
    calls = []

    def noise(s):
        calls.append(s)
        return np.array([np.sign(s) + 0.1 * np.sin(1e15 * s)])

    assert np.isfinite(derivative(noise)).all()
    assert len(calls) < 200
    assert np.isnan(derivative(lambda s: np.array([np.nan]))).all()


def test_nan_on_one_side_is_not_hidden():
    result = directional_derivative(lambda s: np.array([1.0 + s, np.sqrt(s) if s >= 0 else np.nan]))
    assert np.isnan(result[1])


@pytest.mark.parametrize("name", NAMES)
def test_iteration_matrices(name):
    """They may be rough, but not wrong: 1e-5 of the largest entry.

    Differences divide the rounding of M vdot - f - reaction by 1.5e-8.
    """
    o = getattr(mechanisms, name)()
    poor = without(o, *ITERATION)
    state = nearby(o)
    t, q, v, _, lam, psi = state
    for key, arguments in (
        ("reaction_jacobian", (t, q, v, lam, psi)),
        ("nonholonomic_gradient", (t, q, v)),
        ("stiffness", state),
        ("damping", state),
    ):
        expected = getattr(o, key)(*arguments)
        forces = largest(o.imbalance(*state)) + largest(o.force(t, q, v))
        size = max(largest(expected), forces if key in ("stiffness", "damping") else 0.0, 1e-2)
        assert distance(getattr(poor, key)(*arguments), expected) < 1e-5 * size, key


@pytest.mark.parametrize("name", ["pendulum_jn", "rolling_disk", "jay_negrut_test", "heavy_top"])
@pytest.mark.parametrize("keep", [(), ("stiffness",), ("damping",)])
@pytest.mark.parametrize("factors", [(1e-4, 1e-2), (1e-14, 1e-7), (0.0, 1e-2), (1.0, 0.0)])
def test_tangent_given_or_differenced(name, keep, factors):
    """cq Kt + cv Ct is added to M: it must be right relative to M and to itself."""
    o = getattr(mechanisms, name)()
    poor = without(o, *(key for key in ITERATION if key not in keep))
    state = nearby(o)
    cq, cv = factors
    expected = cq * o.stiffness(*state) + cv * o.damping(*state)
    assert distance(o.tangent(*state, cq, cv), expected) <= 1e-14 * largest(expected)
    size = largest(expected) + (cq + cv) * largest(o.imbalance(*state))
    assert distance(poor.tangent(*state, cq, cv), expected) < 1e-5 * size


@pytest.mark.parametrize("keep", [(), ("stiffness",), ("damping",), ("stiffness", "damping")])
def test_tangent_cost_counts_true_evaluations(keep):
    o = mechanisms.rolling_disk()
    force, calls = o.force, []

    def counted(t, q, v):
        calls.append(t)
        return force(t, q, v)

    keys = (key for key in ("stiffness", "damping") if key not in keep)
    poor = without(o, *keys).replace(force=counted)
    calls.clear()
    poor.tangent(*nearby(o), 1e-4, 1e-2)
    assert len(calls) == poor.tangent_cost == (0 if len(keep) == 2 else o.n_q + 1)


def test_forward_jacobian_is_rough_and_cheap():
    calls = []

    def function(x):
        calls.append(x)
        return np.array([x[0] ** 2, x[0] * x[1], np.sin(x[1])])

    x = np.array([1.0, 2.0])
    base = function(x)
    calls.clear()
    J = forward_jacobian(function, x, base)
    assert len(calls) == 2
    assert distance(J, [[2.0, 0.0], [2.0, 1.0], [0.0, np.cos(2.0)]]) < 1e-6
