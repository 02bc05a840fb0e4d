"""Every mechanism of the catalogue: derivatives, reference solution, energy, start.

First-order states are velocities here, as they are solved, see `genalpha.model.states`.
"""

from __future__ import annotations

import numpy as np
import pytest

from genalpha.mechanisms import catalogue
from genalpha.model import Mechanism, Motion

#: Last time at which the continuous references are tried.
T_END = {
    "heavy_top": 0.3,
    "andrews_squeezer": 0.03,
    "andrews_absolute": 0.03,
    "flexible_pendulum": 0.1,
    "rocking_block": 0.2,  # up to the first impact, where other constraints take over
    "clutch": 0.4,
}
#: Length of the intervals over which velocities are summed up to positions.
SPAN = {
    "heavy_top": 0.004,
    "andrews_squeezer": 2e-4,
    "andrews_absolute": 2e-4,
    "flexible_pendulum": 2e-4,
}

_cache: dict[str, Mechanism] = {}


def _mechanism(name: str) -> Mechanism:
    if name not in _cache:
        _cache[name] = catalogue()[name]().widened
    return _cache[name]


def _motion(mechanism: Mechanism, t: float) -> Motion:
    """Return the reference; with states, of Q and V."""
    motion = mechanism.reference.motion(t)
    if not mechanism.n_states:
        return motion
    q, v, vdot, lam, psi, z, zdot = motion
    return Motion(np.append(q, 0.0 * z), np.append(v, z), np.append(vdot, zdot), lam, psi)


@pytest.fixture(params=list(catalogue()))
def mechanism(request: pytest.FixtureRequest) -> Mechanism:
    return _mechanism(request.param)


def _dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def _times(mechanism: Mechanism, count: int = 20) -> np.ndarray:
    reference = mechanism.reference
    if reference is None:
        pytest.skip("no reference")
    if reference.times is not None:
        return reference.times
    rng = np.random.default_rng(7)
    return mechanism.t0 + rng.uniform(0.0, T_END.get(mechanism.name, 2.0), count)


def _nearby(mechanism: Mechanism) -> tuple:
    """Return a random point near the start, off the constraints, and its scales."""
    rng = np.random.default_rng(11)
    n, m, l = mechanism.n_q, mechanism.n_lam, mechanism.n_psi  # noqa: E741

    def around(centre: np.ndarray, scale: float) -> np.ndarray:
        return centre + 0.1 * scale * rng.standard_normal(centre.size)

    q = around(mechanism.q0, np.abs(mechanism.q0).max() or 1.0)
    v = around(mechanism.v0, np.abs(mechanism.v0).max() or 1.0)
    return 0.1, q, v, rng.standard_normal(n), rng.standard_normal(m), rng.standard_normal(l)


def _difference(function, x: np.ndarray) -> np.ndarray:
    """Return the derivative by x, by central differences of order 4."""
    columns = []
    step = 2e-4 * (np.abs(x).max() or 1.0)
    for j in range(x.size):
        e = np.zeros(x.size)
        e[j] = step
        wide, narrow = function(x + 2 * e) - function(x - 2 * e), function(x + e) - function(x - e)
        columns.append((8.0 * narrow - wide) / (12.0 * step))
    return np.array(columns).T


def _assert_close(given: object, expected: np.ndarray, rtol: float = 1e-7) -> None:
    given = _dense(given)
    assert given.shape == expected.shape
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(given, expected, rtol=0.0, atol=rtol * scale)


def test_all_derivatives_are_given(mechanism: Mechanism) -> None:
    wanted = {"stiffness", "damping"}
    if mechanism.n_lam:
        wanted |= {"holonomic_jacobian", "holonomic_rate", "holonomic_acceleration"}
    if mechanism.n_psi:
        wanted |= {"nonholonomic_jacobian", "nonholonomic_acceleration"}
    if "reaction" in mechanism.given:
        wanted.add("reaction_jacobian")
    if mechanism.n_states:
        wanted |= {"state_rate_jacobian", "state_coupling"}
    assert wanted <= mechanism.narrow.given


def test_constraint_derivatives(mechanism: Mechanism) -> None:
    t, q, v, *_ = _nearby(mechanism)
    if mechanism.n_lam:
        G = _difference(lambda x: mechanism.holonomic(t, x), q)
        _assert_close(mechanism.holonomic_jacobian(t, q), G)

        def along(s: np.ndarray) -> np.ndarray:
            return mechanism.holonomic(t + s[0], q + s[0] * v)

        _assert_close(mechanism.holonomic_rate(t, q, v), _difference(along, np.zeros(1))[:, 0])

        def rate_along(s: np.ndarray) -> np.ndarray:
            return mechanism.holonomic_rate(t + s[0], q + s[0] * v, v)

        expected = _difference(rate_along, np.zeros(1))[:, 0]
        _assert_close(mechanism.holonomic_acceleration(t, q, v), expected)
    if mechanism.n_psi:
        K = _difference(lambda x: mechanism.nonholonomic(t, q, x), v)
        _assert_close(mechanism.nonholonomic_jacobian(t, q, v), K)

        def k_along(s: np.ndarray) -> np.ndarray:
            return mechanism.nonholonomic(t + s[0], q + s[0] * v, v)

        expected = _difference(k_along, np.zeros(1))[:, 0]
        _assert_close(mechanism.nonholonomic_acceleration(t, q, v), expected)


def test_equation_derivatives(mechanism: Mechanism) -> None:
    t, q, v, vdot, lam, psi = _nearby(mechanism)
    Kt = _difference(lambda x: mechanism.imbalance(t, x, v, vdot, lam, psi), q)
    _assert_close(mechanism.stiffness(t, q, v, vdot, lam, psi), Kt)
    Ct = _difference(lambda x: mechanism.imbalance(t, q, x, vdot, lam, psi), v)
    _assert_close(mechanism.damping(t, q, v, vdot, lam, psi), Ct)
    if not mechanism.n_lam + mechanism.n_psi:
        return
    m = mechanism.n_lam
    reaction = _difference(
        lambda x: mechanism.reaction(t, q, v, x[:m], x[m:]), np.concatenate([lam, psi])
    )
    _assert_close(mechanism.reaction_jacobian(t, q, v, lam, psi), reaction)


def test_own_check_of_derivatives_agrees(mechanism: Mechanism) -> None:
    deviations = mechanism.narrow.check_derivatives()  # an error if one is above 1e-5
    assert deviations
    assert max(deviations.values()) <= 1e-5


def test_start_is_consistent(mechanism: Mechanism) -> None:
    t, q, v = mechanism.t0, mechanism.q0, mechanism.v0
    assert np.abs(mechanism.holonomic(t, q)).max(initial=0.0) < 1e-12
    assert np.abs(mechanism.holonomic_rate(t, q, v)).max(initial=0.0) < 1e-12
    assert np.abs(mechanism.nonholonomic(t, q, v)).max(initial=0.0) < 1e-12


def test_reference_starts_at_the_start(mechanism: Mechanism) -> None:
    if mechanism.reference is None or mechanism.reference.times is not None:
        pytest.skip("no reference at the start")
    motion = _motion(mechanism, mechanism.t0)
    for known, start in zip(
        motion, (mechanism.q0, mechanism.v0, None, mechanism.lam0, mechanism.psi0), strict=True
    ):
        if start is not None:
            np.testing.assert_allclose(known, start, rtol=1e-11, atol=1e-11)


def test_reference_satisfies_all_equations(mechanism: Mechanism) -> None:
    for t in _times(mechanism):
        q, v, vdot, lam, psi = _motion(mechanism, t)
        inertia = np.abs(_dense(mechanism.mass(t, q))) @ np.abs(vdot)
        scale = max(1.0, np.abs(mechanism.force(t, q, v)).max(), inertia.max())
        imbalance = mechanism.imbalance(t, q, v, vdot, lam, psi)
        assert np.abs(imbalance).max() < 1e-10 * scale
        assert np.abs(mechanism.holonomic(t, q)).max(initial=0.0) < 1e-10
        speed, push = max(1.0, np.abs(v).max()), max(1.0, np.abs(vdot).max())
        assert np.abs(mechanism.holonomic_rate(t, q, v)).max(initial=0.0) < 1e-10 * speed
        assert np.abs(mechanism.nonholonomic(t, q, v)).max(initial=0.0) < 1e-10 * speed
        G, K = mechanism.holonomic_jacobian(t, q), mechanism.nonholonomic_jacobian(t, q, v)
        g_two = G @ vdot + mechanism.holonomic_acceleration(t, q, v)
        k_one = K @ vdot + mechanism.nonholonomic_acceleration(t, q, v)
        assert np.abs(g_two).max(initial=0.0) < 1e-10 * push
        assert np.abs(k_one).max(initial=0.0) < 1e-10 * push


def test_reference_velocity_and_acceleration_are_the_derivatives(mechanism: Mechanism) -> None:
    """The integrals of v and vdot over an interval, by Gauss, are the changes of q and v."""
    if mechanism.reference is not None and mechanism.reference.times is not None:
        pytest.skip("the reference is a table")
    nodes, weights = np.polynomial.legendre.leggauss(10)
    half = 0.5 * SPAN.get(mechanism.name, 0.02)
    for t in _times(mechanism, 4):
        a, b = (_motion(mechanism, x) for x in (t, t + 2.0 * half))
        inner = [_motion(mechanism, t + half * (1.0 + x)) for x in nodes]
        for change, rates in (
            ((b.q - a.q)[: mechanism.n_moving], [x.v[: mechanism.n_moving] for x in inner]),
            (b.v - a.v, [x.vdot for x in inner]),
        ):
            scale = max(1.0, np.abs(a.v).max(), np.abs(a.q).max())
            integral = half * (weights @ np.array(rates))
            tolerance = max(1e-12, 10.0**-mechanism.reference.digits)
            assert np.abs(change - integral).max() < tolerance * scale


def test_reference_conserves_energy(mechanism: Mechanism) -> None:
    if not mechanism.energy:
        pytest.skip("no conserved energy")
    start = mechanism.energy(mechanism.t0, mechanism.q0, mechanism.v0)
    kinetic = 0.5 * mechanism.v0 @ (mechanism.mass(mechanism.t0, mechanism.q0) @ mechanism.v0)
    for t in _times(mechanism):
        motion = mechanism.reference.motion(t)
        now = mechanism.energy(t, motion.q, motion.v)
        assert abs(now - start) < 1e-10 * max(1.0, abs(start), kinetic)
