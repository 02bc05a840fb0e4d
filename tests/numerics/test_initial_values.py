"""Consistent starts: prescribed motion, projection, fixed components, what cannot be repaired."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from genalpha import Mechanism, consistent_initial_values, mechanisms
from genalpha.errors import (
    CallbackError,
    InconsistentStartError,
    RedundantConstraintsError,
    SingularSystemError,
)
from genalpha.numerics.initial_values import accelerations, check_start
from genalpha.numerics.redundancy import dependent_rows

KINDS = pytest.mark.parametrize("kind", [np.array, sparse.csc_array])


def prescribed(**changes) -> Mechanism:
    """x = 3 t^2 / 2 on a mass of 1, pushed by a force of 5; nothing but g is given."""
    arguments = {
        "force": lambda t, q, v: np.array([5.0]),
        "holonomic": lambda t, q: q[0] - 1.5 * t * t,
        "q0": [0.0],
        "v0": [0.0],
    }
    return Mechanism(**{**arguments, **changes})


@pytest.mark.parametrize("t", [0.0, 0.7])
def test_prescribed_motion(t):
    """vdot = 3 comes from g_tt alone; lam = 5 - 3 by M vdot = f - lam."""
    start = consistent_initial_values(prescribed(), t, [1.5 * t * t], [3.0 * t])
    np.testing.assert_allclose(start.vdot, [3.0], rtol=1e-9)
    np.testing.assert_allclose(start.lam, [2.0], rtol=1e-9)
    exact = mechanisms.prescribed_mass()
    start = consistent_initial_values(exact)
    np.testing.assert_allclose(start.vdot, [3.0], rtol=1e-12)
    np.testing.assert_allclose(start.lam, exact.reference.motion(0.0).lam, rtol=1e-12)


def test_terms_of_the_second_derivative():
    """g = x - s(t) y: g'' holds g_tt, 2 g_tq v and g_qq; here x = s y with y = exp(t), s = sin."""
    o = Mechanism(
        force=lambda t, q, v: np.array([7.0, np.exp(t)]),
        holonomic=lambda t, q: q[0] - np.sin(t) * q[1],
        reaction=lambda t, q, v, lam, psi: np.array([-lam[0], 0.0]),
        q0=[0.0, 1.0],
        v0=[1.0, 1.0],
    )
    t = 0.4
    s, c, e = np.sin(t), np.cos(t), np.exp(t)
    start = consistent_initial_values(o, t, [s * e, e], [(s + c) * e, e])
    np.testing.assert_allclose(start.vdot, [2 * c * e, e], rtol=1e-9)
    np.testing.assert_allclose(start.lam, [7.0 - 2 * c * e], rtol=1e-9)


def test_nonholonomic_terms():
    """k = v0 - t q1 v1: k' holds k_t = -q1 v1 and k_q v = -t v1^2."""
    o = Mechanism(
        force=lambda t, q, v: np.zeros(2),
        nonholonomic=lambda t, q, v: v[0] - t * q[1] * v[1],
        q0=[0.0, 1.0],
        v0=[0.0, 2.0],
    )
    t, q, v = 0.5, np.array([0.0, 3.0]), np.array([3.0, 2.0])
    vdot, _, psi = accelerations(o, t, q, v, np.zeros(0), np.zeros(1))
    K = np.array([1.0, -t * q[1]])
    rest = -q[1] * v[1] - t * v[1] ** 2
    np.testing.assert_allclose(K @ vdot, -rest, rtol=1e-9)
    np.testing.assert_allclose(vdot, -K * psi[0], rtol=1e-9)


MASS = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])


def bead(kind=np.array, mass=MASS, **changes) -> Mechanism:
    """A bead on the intersection of a sphere and a cone-like surface, with full mass matrix."""
    arguments = {
        "mass": kind(mass),
        "force": lambda t, q, v: np.array([0.0, 0.0, -9.81]),
        "holonomic": lambda t, q: np.array([q @ q - 1.0, q[2] - q[0] * q[1]]),
        "q0": [0.8, 0.4, 0.4],
        "v0": [0.3, -0.2, 0.5],
        "constraint_names": ["sphere", "saddle"],
    }
    return Mechanism(**{**arguments, **changes})


@KINDS
def test_projection_changes_least_in_the_mass_metric(kind):
    """Against SLSQP, which knows nothing of our iteration; its own accuracy is 1e-8."""
    o = bead(kind)
    start = consistent_initial_values(o)
    assert np.abs(o.holonomic(0.0, start.q)).max() < 1e-14

    def distance(x):
        return (x - o.q0) @ MASS @ (x - o.q0)

    best = minimize(
        distance,
        o.q0,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda x: o.holonomic(0.0, x)},
        options={"ftol": 1e-15, "maxiter": 200},
    )
    np.testing.assert_allclose(start.q, best.x, atol=1e-6)
    assert distance(start.q) <= distance(best.x) + 1e-10
    # the change is orthogonal to what the constraints allow, in the mass metric
    free = np.linalg.svd(np.array([2 * start.q, [-start.q[1], -start.q[0], 1.0]]))[2][-1]
    assert abs(free @ MASS @ (start.q - o.q0)) < 1e-12


def test_velocity_projection_in_closed_form():
    o = bead()
    start = consistent_initial_values(o)
    q = start.q
    G = np.array([2 * q, [-q[1], -q[0], 1.0]])
    W = np.linalg.inv(MASS)
    exact = o.v0 - W @ G.T @ np.linalg.solve(G @ W @ G.T, G @ o.v0)
    np.testing.assert_allclose(start.v, exact, atol=1e-12)  # G is differenced
    np.testing.assert_allclose(G @ start.v, 0.0, atol=1e-12)


def test_an_error_of_a_millimetre():
    """On a circle with a scalar mass, the nearest point is the radial one."""
    o = mechanisms.simple_pendulum(angle0=0.6, rate0=0.8)
    q0 = o.q0 + np.array([0.001, 0.0])
    start = consistent_initial_values(o, q0=q0)
    np.testing.assert_allclose(start.q, q0 / np.linalg.norm(q0), atol=1e-15)
    assert abs(start.q @ start.v) < 1e-15
    assert np.linalg.norm(start.q - o.q0) < 1.01e-3


@KINDS
@pytest.mark.parametrize("fixed", [[0], np.array([True, False, False])])
def test_fixed_components_stay(kind, fixed):
    o = bead(kind)
    start = consistent_initial_values(o, fixed_q=fixed, fixed_v=[2])
    assert start.q[0] == o.q0[0]
    assert start.v[2] == o.v0[2]
    assert np.abs(o.holonomic(0.0, start.q)).max() < 1e-14
    assert np.abs(o.holonomic_rate(0.0, start.q, start.v)).max() < 1e-11


def test_too_much_is_fixed():
    with pytest.raises(InconsistentStartError, match="free components do not suffice"):
        consistent_initial_values(bead(), fixed_q=[0, 1])


def test_a_consistent_start_stays():
    o = mechanisms.four_bar()
    start = consistent_initial_values(o)
    np.testing.assert_allclose(start.q, o.q0, atol=1e-15)
    np.testing.assert_allclose(start.v, o.v0, atol=1e-14)
    np.testing.assert_allclose(start.lam, o.lam0, atol=1e-10)


def test_nonsymmetric_mass():
    """No metric then: the Euclidean distance counts, and M itself in the equations of motion.

    Such a mass belongs to scaled rows, and is taken with a reaction that belongs to them.
    """
    mass = MASS + np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    gradient = bead().holonomic_jacobian
    o = bead(mass=mass, reaction=lambda t, q, v, lam, psi: -gradient(t, q).T @ lam)
    start = consistent_initial_values(o)
    G = o.holonomic_jacobian(0.0, start.q)
    free = np.linalg.svd(G)[2][-1]
    assert abs(free @ (start.q - o.q0)) < 1e-12
    imbalance = mass @ start.vdot - [0.0, 0.0, -9.81] + G.T @ start.lam
    assert np.abs(imbalance).max() < 1e-10
    assert np.abs(G @ start.vdot + o.holonomic_acceleration(0.0, start.q, start.v)).max() < 1e-10


def test_nonlinear_reaction():
    o = mechanisms.hht_test()
    exact = o.reference.motion(0.0)
    start = consistent_initial_values(o)
    np.testing.assert_allclose(start.lam, exact.lam, rtol=1e-12)
    np.testing.assert_allclose(start.vdot, exact.vdot, rtol=1e-12)
    # lam enters as lam^2 only: at lam = 0 the matrix is singular, and the message says what lacks
    squared = Mechanism(
        force=lambda t, q, v: np.array([4.0]),
        holonomic=lambda t, q: q,
        reaction=lambda t, q, v, lam, psi: -(lam**2),
        reaction_jacobian=lambda t, q, v, lam, psi: -2.0 * lam,
        q0=[0.0],
        v0=[0.0],
    )
    with pytest.raises(SingularSystemError, match="guess lam0, psi0 missing"):
        consistent_initial_values(squared)
    assert consistent_initial_values(squared, lam0=[1.0]).lam[0] == pytest.approx(2.0, rel=1e-13)
    assert consistent_initial_values(squared.replace(lam0=[-1.0])).lam[0] == pytest.approx(-2.0)


def test_contradicting_constraints():
    """x = 0 and x = 1: rows that depend on each other, named; with 'least', the contradiction."""
    o = Mechanism(
        force=lambda t, q, v: np.zeros(2),
        holonomic=lambda t, q: np.array([q[0], q[0] - 1.0]),
        q0=[0.5, 0.0],
        v0=[0.0, 0.0],
        constraint_names=["left wall", "right wall"],
    )
    with pytest.raises(RedundantConstraintsError, match="right wall"):
        consistent_initial_values(o)
    with pytest.raises(InconsistentStartError, match=r"wall is left with residual .*contradict"):
        consistent_initial_values(o.replace(redundant="least"))


def test_no_solution_anywhere():
    o = Mechanism(
        force=lambda t, q, v: np.zeros(2),
        holonomic=lambda t, q: q @ q + 1.0,
        q0=[0.5, 0.7],
        v0=[0.0, 0.0],
    )
    with pytest.raises(InconsistentStartError, match=r"no consistent position .*g\[0\]"):
        consistent_initial_values(o)


def test_check_start_names_the_constraint():
    o = bead(q0=[np.sqrt(0.5), 0.0, 0.0])
    with pytest.raises(InconsistentStartError, match=r"violates constraint sphere \(position"):
        check_start(o, 0.0, o.q0, np.zeros(3))
    q = consistent_initial_values(o).q
    check_start(o, 0.0, q, np.zeros(3))
    free = np.linalg.svd(o.holonomic_jacobian(0.0, q))[2][-1]
    check_start(o, 0.0, q, free)
    G = o.holonomic_jacobian(0.0, q)
    wrong = free + 0.1 * np.linalg.pinv(G)[:, 1]
    with pytest.raises(
        InconsistentStartError,
        match=r"the rate of constraint saddle \(velocity level\): its residual is 1.000e-01",
    ) as caught:
        check_start(o, 0.0, q, wrong)
    assert "consistent_initial_values" in str(caught.value)


def test_check_start_of_a_nonholonomic_constraint():
    o = mechanisms.rolling_disk()
    check_start(o, 0.0, o.q0, o.v0)
    v = o.v0.copy()
    v[1] += 1e-3
    with pytest.raises(InconsistentStartError, match=r"violates constraint rolling y \(velocity"):
        check_start(o, 0.0, o.q0, v)


def test_check_start_does_not_overlook_nan():
    o = bead(holonomic=lambda t, q: np.array([np.nan, 0.0]), q0=[1.0, 0.0, 0.0])
    with pytest.raises(CallbackError, match="the start failed: holonomic returned nan at t = 0"):
        check_start(o, 0.0, o.q0, np.zeros(3))


def test_unconstrained():
    o = Mechanism(mass=[[2.0]], force=lambda t, q, v: -3 * q, q0=[1.0], v0=[4.0])
    start = consistent_initial_values(o)
    assert (start.q[0], start.v[0], start.vdot[0], start.lam.size) == (1.0, 4.0, -1.5, 0)


def test_redundant_start_is_named_or_least():
    o = mechanisms.n_four_bar()
    with pytest.raises(RedundantConstraintsError, match=r"2 of 16 .*head"):
        consistent_initial_values(o.replace(redundant="error"))
    start = consistent_initial_values(o)
    np.testing.assert_allclose(start.lam, o.reference.motion(0.0).lam, atol=1e-9)
    assert dependent_rows(o, 0.0, o.q0, o.v0).size == 2
