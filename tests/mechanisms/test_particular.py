"""What is particular to single mechanisms: impacts, redundancy, sparsity, parameters."""

from __future__ import annotations

import inspect
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import solve_ivp

from genalpha import mechanisms
from genalpha.mechanisms import Stop, catalogue
from genalpha.mechanisms.sketches import sketch


@pytest.mark.parametrize("name", list(catalogue()))
def test_name_docstring_and_parameters(name: str) -> None:
    function = catalogue()[name]
    assert getattr(mechanisms, name) is function
    assert function().name == name
    for parameter in inspect.signature(function).parameters:
        assert parameter in function.__doc__


@pytest.mark.parametrize("loops", [1, 2, 5])
def test_n_four_bar_has_redundant_rows(loops: int) -> None:
    linkage = mechanisms.n_four_bar(loops)
    rank = np.linalg.matrix_rank(linkage.holonomic_jacobian(0.0, linkage.q0))
    assert linkage.n_lam - rank == loops - 1
    assert linkage.n_q - rank == 1
    lam = linkage.reference.motion(0.7).lam
    G = linkage.holonomic_jacobian(0.7, linkage.reference.motion(0.7).q)
    # of minimum norm: no part in the null space of G^T
    np.testing.assert_allclose(np.linalg.pinv(G.T) @ (G.T @ lam), lam, atol=1e-9)


@pytest.mark.parametrize("name", ["slider_crank", "andrews_absolute"])
def test_massless_coordinates_leave_the_equations_regular(name: str) -> None:
    mechanism = catalogue()[name]()
    mass = mechanism.mass(0.0, mechanism.q0)
    G = mechanism.holonomic_jacobian(0.0, mechanism.q0)
    assert np.linalg.matrix_rank(mass) < mechanism.n_q
    null = np.linalg.svd(G)[2][mechanism.n_lam :]
    assert np.linalg.eigvalsh(null @ mass @ null.T).min() > 0.0


def test_chain_is_the_same_dense_and_sparse() -> None:
    dense, thin = mechanisms.chain(4, is_sparse=False), mechanisms.chain(4, is_sparse=True)
    assert not dense.is_sparse
    assert thin.is_sparse
    q, v, vdot, lam, psi = dense.reference.motion(0.3)
    for one, other in (
        (dense.holonomic_jacobian(0.3, q), thin.holonomic_jacobian(0.3, q)),
        (
            dense.stiffness(0.3, q, v, vdot, lam, psi),
            thin.stiffness(0.3, q, v, vdot, lam, psi),
        ),
        (dense.mass(0.3, q), thin.mass(0.3, q)),
    ):
        assert sparse.issparse(other)
        np.testing.assert_array_equal(one, other.toarray())


def test_long_chain_starts_consistently() -> None:
    chain = mechanisms.chain(10_000)
    assert (chain.n_q, chain.n_lam) == (30_000, 20_000)
    assert np.abs(chain.holonomic(0.0, chain.q0)).max() < 1e-9
    start = chain.reference.motion(0.0)
    imbalance = chain.imbalance(0.0, start.q, start.v, start.vdot, start.lam, start.psi)
    assert np.abs(imbalance).max() < 1e-9
    assert np.abs(chain.holonomic_jacobian(0.0, start.q) @ start.vdot).max() < 1e-9


def test_spherical_pendulum_conserves_angular_momentum() -> None:
    reference = mechanisms.spherical_pendulum().reference
    momenta = [np.cross(m.q, m.v)[2] for m in map(reference.motion, (0.0, 0.9, 3.1))]
    np.testing.assert_allclose(momenta, momenta[0], rtol=1e-12)


def test_bouncing_pendulum_against_integration_with_events() -> None:
    """Integrate the angle, stop at each crossing of the gap, turn the rate round, go on."""
    stop = Stop(angle=-0.3, restitution=0.8)
    pendulum = mechanisms.bouncing_pendulum(stop)
    t, x, impacts = 0.0, np.array([1.2, 0.0]), 0

    def gap(t: float, x: np.ndarray) -> float:
        q = np.array([np.sin(x[0]), -np.cos(x[0])])
        return stop.gap(t, q, np.zeros(2))

    gap.terminal, gap.direction = True, -1.0
    while t < 6.0:
        run = solve_ivp(
            lambda t, x: [x[1], -9.81 * np.sin(x[0])], (t, 6.0), x, method="DOP853",
            rtol=1e-12, atol=1e-13, events=gap,
        )  # fmt: skip
        t, x = run.t[-1], run.y[:, -1]
        if run.status == 1:
            impacts += 1
            before = pendulum.reference.motion(t - 1e-7)
            np.testing.assert_allclose(before.q, [np.sin(x[0]), -np.cos(x[0])], atol=1e-6)
            x = np.array([x[0], -0.8 * x[1]])
    assert impacts >= 3
    motion = pendulum.reference.motion(6.0)
    np.testing.assert_allclose(motion.q, [np.sin(x[0]), -np.cos(x[0])], atol=1e-9)
    np.testing.assert_allclose(motion.v, x[1] * np.array([np.cos(x[0]), np.sin(x[0])]), atol=1e-9)


def test_bouncing_pendulum_rebounds_and_keeps_right_of_the_stop() -> None:
    stop = Stop(angle=-0.2, restitution=0.5)
    pendulum = mechanisms.bouncing_pendulum(stop)
    times = np.linspace(0.0, 8.0, 400)
    gaps = [stop.gap(t, (m := pendulum.reference.motion(t)).q, m.v) for t in times]
    assert min(gaps) > -1e-12
    np.testing.assert_array_equal(stop.rebound(0.0, np.zeros(2), np.array([2.0, -4.0])), [-1, 2])


def test_unknown_parameters_and_impossible_geometry_are_errors() -> None:
    with pytest.raises(TypeError, match="m9"):
        mechanisms.andrews_squeezer(m9=1.0)
    with pytest.raises(ValueError, match="do not close"):
        mechanisms.four_bar(crank=5.0)
    with pytest.raises(ValueError, match="turns over"):
        mechanisms.bouncing_pendulum(rate0=20.0)
    with pytest.raises(ValueError, match="starts at"):
        mechanisms.driven_pendulum().reference.motion(-1.0)


def test_prescribed_mass_has_the_sign_of_the_convention() -> None:
    motion = mechanisms.prescribed_mass(point_mass=2.0, acceleration=3.0).reference.motion(0.5)
    assert motion.vdot[0] == 3.0
    assert motion.lam[0] == -6.0


@pytest.mark.parametrize("name", list(catalogue()))
def test_sketch_moves_with_the_mechanism(name: str) -> None:
    mechanism = catalogue()[name]()
    lines = sketch(mechanism, mechanism.t0, mechanism.q0)
    assert bool(lines) != name.endswith("_test")
    later = 0.01
    moved = sketch(mechanism, later, mechanism.reference.motion(later).q)
    for line, other in zip(lines, moved, strict=True):
        assert line.shape == other.shape
        assert line.shape[1] == 2
    if lines:
        assert any(np.any(a != b) for a, b in zip(lines, moved, strict=True))


@pytest.mark.parametrize("name", ["four_bar", "chain", "closed_chain"])
def test_sketched_rods_hang_together(name: str) -> None:
    mechanism = catalogue()[name]()
    rods = sketch(mechanism, 0.4, mechanism.reference.motion(0.4).q)
    np.testing.assert_allclose(rods[0][0], 0.0, atol=1e-10)
    for before, after in pairwise(rods):
        np.testing.assert_allclose(before[1], after[0], atol=1e-10)
