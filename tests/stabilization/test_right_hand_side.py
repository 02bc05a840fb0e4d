"""Theorem 2: x' = v_tau + J g against the paper's formulas, with g' = A~ g along it."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism
from genalpha.errors import RedundantConstraintsError, SingularSystemError
from genalpha.model.differences import directional_derivative
from genalpha.numerics.initial_values import accelerations
from genalpha.stabilization.equations import deviation, evaluate
from genalpha.stabilization.gains import Gains

#: Ideal constraints and a regular mass matrix, as in the paper.
PAPER = ("driven_pendulum", "andrews_squeezer", "knife_edge", "rolling_disk")
OTHERS = ("slider_crank", "andrews_absolute", "jay_negrut_test")


def off(o, size=1e-3):
    """A state near the start and off all constraints."""
    random = np.random.default_rng(7)
    q = o.q0 + size * random.uniform(-1.0, 1.0, o.n_q)
    v = o.v0 + 0.2 * random.uniform(-1.0, 1.0, o.n_q)
    return o.t0 + 0.1, q, v


def coupled(o):
    """Gains with all blocks full."""
    m, l = o.n_lam, o.n_psi  # noqa: E741
    random = np.random.default_rng(8)

    def block(rows, columns, diagonal):
        return diagonal * np.eye(rows, columns) + random.uniform(-1.0, 1.0, (rows, columns))

    return Gains(
        block(m, m, -90.0), block(m, m, -20.0), block(m, l, 0.0), block(l, m, 0.0),
        block(l, m, 0.0), block(l, l, -20.0),
    )  # fmt: skip


@pytest.mark.parametrize("name", PAPER)
def test_equals_the_formulas_of_the_paper(mechanism_called, name):
    """(3.11), (3.12) in the paper's signs: M v' = F^T lambda - gamma, lambda = -(lam, psi)."""
    o = mechanism_called(name)
    t, q, v = off(o)
    A = coupled(o).sized(o.n_lam, o.n_psi)
    found = evaluate(o, A, t, np.concatenate([q, v]), o.multiplier_guess())
    F = np.vstack([o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v)])
    M1, gamma = np.linalg.inv(o.mass(t, q)), -o.force(t, q, v)
    S = F @ M1 @ F.T
    c = np.concatenate([o.holonomic_acceleration(t, q, v), o.nonholonomic_acceleration(t, q, v)])
    s = c - F @ M1 @ gamma
    g = deviation(o, t, q, v)
    rows = A(t, q, v)[o.n_lam :]
    lam = np.linalg.solve(S, rows @ g - s)
    size = np.abs(lam).max()
    mu = np.concatenate([found.lam, found.psi])
    assert -(mu + found.control) == pytest.approx(lam, abs=1e-8 * size)
    assert -mu == pytest.approx(np.linalg.solve(S, -s), abs=1e-8 * size)
    vdot = M1 @ (F.T @ lam - gamma)
    xdot = np.concatenate([v, vdot])
    assert found.xdot == pytest.approx(xdot, abs=1e-8 * np.abs(xdot).max())


@pytest.mark.parametrize("name", PAPER + OTHERS)
def test_deviations_obey_3_9_off_the_constraints(mechanism_called, name):
    """(3.10): the rate of (f, f_dot, f') along x', by differences, is A~ times it."""
    o = mechanism_called(name)
    t, q, v = off(o)
    A = coupled(o).sized(o.n_lam, o.n_psi)
    x = np.concatenate([q, v])
    xdot = evaluate(o, A, t, x, o.multiplier_guess()).xdot
    rest = np.abs(xdot).max()

    def along(s):
        y = x + s / rest * xdot
        return deviation(o, t + s / rest, y[: o.n_q], y[o.n_q :])

    rate = directional_derivative(along) * rest
    expected = A(t, q, v) @ deviation(o, t, q, v)
    assert np.abs(rate - expected).max() <= 1e-6 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", PAPER + OTHERS)
def test_on_the_constraints_it_is_the_motion_whatever_the_gains(mechanism_called, name):
    o = mechanism_called(name)
    lam, psi = o.multiplier_guess()
    vdot, lam, psi = accelerations(o, o.t0, o.q0, o.v0, lam, psi)
    for gains in (Gains.none(), coupled(o)):
        found = evaluate(
            o, gains.sized(o.n_lam, o.n_psi), o.t0, np.concatenate([o.q0, o.v0]), (lam, psi)
        )
        size = max(np.abs(vdot).max(), np.abs(np.concatenate([lam, psi])).max(initial=0.0))
        assert found.xdot[o.n_q :] == pytest.approx(vdot, abs=1e-9 * size)
        assert found.lam == pytest.approx(lam, abs=1e-9 * size)
        assert found.psi == pytest.approx(psi, abs=1e-9 * size)


def test_custom_reactions_are_stabilized_too():
    """A reaction that is nonlinear in its multiplier: 3 lam + lam^3 along the constraint."""
    o = Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81]),
        q0=[1.0, 0.0],
        v0=[0.0, 1.0],
        holonomic=lambda t, q: 0.5 * (q @ q - 1.0),
        reaction=lambda t, q, v, lam, psi: -q * (3.0 * lam[0] + lam[0] ** 3),
    )
    A = Gains.baumgarte(5.0).sized(1, 0)
    q, v = np.array([1.01, 0.02]), np.array([0.1, 1.0])
    found = evaluate(o, A, 0.0, np.concatenate([q, v]), o.multiplier_guess())
    f, f_dot = deviation(o, 0.0, q, v)
    assert found.xdot[2:] @ q + v @ v == pytest.approx(-25.0 * f - 10.0 * f_dot, abs=1e-5)
    assert found.vdot @ q + v @ v == pytest.approx(0.0, abs=1e-5)


def test_a_free_massless_coordinate_is_named(mechanism_called):
    o = mechanism_called("slider_crank")
    loose = Mechanism(
        mass=np.diag([1.0, 0.0]),
        force=lambda t, q, v: np.array([1.0, 0.0]),
        q0=[0.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: q[:1],
        name="loose",
    )
    with pytest.raises(SingularSystemError, match=r"loose: .* massless coordinate"):
        evaluate(loose, Gains.none().sized(1, 0), 0.0, np.zeros(4), (np.zeros(1), np.zeros(0)))
    assert np.linalg.matrix_rank(o.mass(0.0, o.q0)) < o.n_q  # massless, and yet it works above


def doubled(redundant):
    """A pendulum whose constraint is written down twice."""
    return Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81]),
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: np.repeat(0.5 * (q @ q - 1.0), 2),
        holonomic_jacobian=lambda t, q: np.array([q, q]),
        redundant=redundant,
    )


def test_redundant_constraints_share_the_multiplier(run):
    solution = run(doubled("least"), 0.5, "StabilizedRK2", 1e-3, gains=Gains.baumgarte(10.0))
    single = run(
        doubled("least").replace(
            holonomic=lambda t, q: 0.5 * (q @ q - 1.0), holonomic_jacobian=lambda t, q: q
        ),
        0.5,
        "StabilizedRK2",
        1e-3,
        gains=Gains.baumgarte(10.0),
    )
    assert solution.q == pytest.approx(single.q, abs=1e-13)
    assert solution.lam == pytest.approx(np.repeat(single.lam / 2.0, 2, axis=1), abs=1e-10)
    with pytest.raises(RedundantConstraintsError):
        run(doubled("error"), 0.5, "StabilizedRK2", 1e-3)
