"""`residuals` and `check_derivatives`."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import mechanisms
from genalpha.errors import DerivativeError
from genalpha.model import Mechanism
from tests.model.support import distance, pendulum


def rheonomic(**changes) -> Mechanism:
    """x = 3 t^2 / 2 is prescribed, y runs at half the speed of z."""
    arguments = {
        "force": lambda t, q, v: np.zeros(3),
        "q0": [0.0, 0.0, 0.0],
        "v0": [0.0, 1.0, 2.0],
        "holonomic": lambda t, q: np.array([q[0] - 1.5 * t * t]),
        "nonholonomic": lambda t, q, v: np.array([v[1] - 0.5 * v[2] * (1 + q[0])]),
        "constraint_names": ["drive", "gear"],
    }
    return Mechanism(**{**arguments, **changes})


def test_residuals_at_every_level():
    o = rheonomic()
    q, v, vdot = np.array([1.6, 0.0, 0.0]), np.array([3.5, 1.0, 2.0]), np.array([4.0, 1.0, 0.0])
    r = o.residuals(1.0, q, v, vdot)
    assert r.names == ["drive", "gear"]
    np.testing.assert_allclose(r.position, [0.1], atol=1e-12)
    np.testing.assert_allclose(r.velocity, [0.5, 1.0 - 2.6], atol=1e-9)
    # k' = v1' - (1 + q0) v2' / 2 - v2 v0 / 2
    np.testing.assert_allclose(r.acceleration, [1.0, 1.0 - 3.5], atol=1e-8)
    assert r.worst()[:2] == ("acceleration", "gear")
    assert abs(r.worst()[2] + 2.5) < 1e-8


def test_residuals_of_the_start_by_default():
    r = rheonomic().residuals()
    assert r.acceleration is None
    assert r.worst() == ("position", "", 0.0)
    lines = str(rheonomic(q0=[0.25, 0.0, 0.0]).residuals()).splitlines()
    assert lines[0].split() == ["constraint", "position", "velocity"]
    assert lines[1].split()[:2] == ["drive", "2.500e-01"]
    assert lines[2].split()[0] == "gear"
    assert len(lines[2].split()) == 2  # no position level for a nonholonomic constraint


def test_residuals_with_multipliers_know_the_acceleration():
    exact = rheonomic(lam0=[-3.0], psi0=[0.0]).residuals()
    np.testing.assert_allclose(exact.acceleration, [0.0, 0.0], atol=1e-8)
    wrong = rheonomic(lam0=[-2.0], psi0=[0.0]).residuals()
    np.testing.assert_allclose(wrong.acceleration, [-1.0, 0.0], atol=1e-8)


def test_right_derivatives_pass_and_are_listed():
    o = mechanisms.jay_negrut_test()
    deviations = o.check_derivatives()
    assert set(deviations) == set(o.given) - {"holonomic", "nonholonomic", "reaction"}
    assert max(deviations.values()) < 1e-7


STATE = ("holonomic_jacobian", "nonholonomic_jacobian", "stiffness", "damping", "reaction_jacobian")


@pytest.mark.parametrize("key", STATE)
def test_a_wrong_entry_is_named(key):
    o = mechanisms.jay_negrut_test()
    right = getattr(o, key)
    rows, columns = right(*_arguments(o, key)).shape
    i, j = rows - 1, columns - 1

    def wrong(*arguments):
        matrix = right(*arguments).copy()
        matrix[i, j] += 0.01 * max(1.0, np.abs(matrix).max())
        return matrix

    with pytest.raises(DerivativeError, match=rf"{key}\[{i}, {j}\] is .*, differences give") as e:
        o.replace(**{key: wrong}).check_derivatives()
    assert str(e.value).count("differences give") == 1  # no other one is blamed
    assert "(1 of" in str(e.value)


@pytest.mark.parametrize("key", ["holonomic_rate", "holonomic_acceleration"])
def test_a_wrong_vector_is_named(key):
    o = mechanisms.driven_pendulum()
    right = getattr(o, key)
    with pytest.raises(DerivativeError, match=rf"{key}\[0\] is"):
        o.replace(**{key: lambda t, q, v: right(t, q, v) + 0.1}).check_derivatives()


def test_several_wrong_ones_are_all_named():
    o = pendulum(
        holonomic_jacobian=lambda t, q: q, stiffness=lambda t, q, v, vdot, lam, psi: np.eye(2)
    )
    with pytest.raises(DerivativeError, match=r"(?s)holonomic_jacobian\[.*stiffness\["):
        o.check_derivatives()


def test_nan_in_a_derivative_is_found():
    o = pendulum(holonomic_jacobian=lambda t, q: [np.nan if q[0] != 1 else 2 * q[0], 2 * q[1]])
    with pytest.raises(DerivativeError, match=r"holonomic_jacobian\[0, 0\] is nan"):
        o.check_derivatives()


def test_another_seed_is_another_point():
    """A derivative that is wrong only away from the start is found at a point away from it."""
    o = pendulum(holonomic_jacobian=lambda t, q: 2.0 * q + (0.0 if abs(q[1]) < 2e-3 else 0.1))
    found = 0
    for seed in range(6):
        try:
            o.check_derivatives(seed=seed)
        except DerivativeError:
            found += 1
    assert found >= 3
    assert distance(o.holonomic_jacobian(0.0, o.q0), [[2.0, 0.0]]) == 0.0


def _arguments(o, key):
    lam, psi = o.multiplier_guess()
    full = (o.t0, o.q0, o.v0, np.zeros(o.n_q), lam, psi)
    if key == "reaction_jacobian":
        return (*full[:3], lam, psi)
    return full[: {"holonomic_jacobian": 2, "nonholonomic_jacobian": 3}.get(key, 6)]
