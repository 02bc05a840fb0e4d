"""Constraints that are redundant, or become so on the way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from genalpha import Mechanism, integrate
from genalpha.driver.stepper import LOST
from genalpha.errors import RedundantConstraintsError
from genalpha.numerics.redundancy import constraint_jacobian, dependent_rows
from genalpha.schemes import SCHEMES
from tests.numerics.test_redundancy import doubled, four_bars, with_a_custom_reaction

SWITCH = 0.5


def weights(t: float) -> np.ndarray:
    """Two rows that say the same; one of them fades out around SWITCH, the other fades in."""
    late = np.clip((t - SWITCH) / 0.02 + 0.5, 0.0, 1.0)
    return np.array([1.0 - late, late])


def bead(redundant: str) -> Mechanism:
    """A bead on the circle |q| = 1, whose one constraint is written twice, with weights."""
    return Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81]),
        q0=[1.0, 0.0],
        v0=[0.0, 0.0],
        holonomic=lambda t, q: weights(t) * (q @ q - 1.0),
        holonomic_jacobian=lambda t, q: np.outer(weights(t), 2.0 * q),
        holonomic_rate=lambda t, q, v: weights(t) * 2.0 * (q @ v),
        holonomic_acceleration=lambda t, q, v: weights(t) * 2.0 * (v @ v),
        redundant=redundant,
    )


def test_other_rows_are_chosen_when_the_first_ones_fail():
    single = bead("error").replace(
        holonomic=lambda t, q: q @ q - 1.0,
        holonomic_jacobian=lambda t, q: 2.0 * q,
        holonomic_rate=lambda t, q, v: 2.0 * (q @ v),
        holonomic_acceleration=lambda t, q, v: 2.0 * (v @ v),
    )
    double = integrate(bead("least"), 1.0, h=0.005)
    np.testing.assert_allclose(double.q[-1], integrate(single, 1.0, h=0.005).q[-1], atol=1e-3)
    assert double.lam[10, 0] != 0.0 == double.lam[10, 1]
    assert double.lam[-1, 1] != 0.0 == double.lam[-1, 0]


def test_the_error_names_them():
    with pytest.raises(RedundantConstraintsError, match=r"g\[1\]"):
        integrate(bead("error"), 1.0, h=0.005)


@pytest.mark.parametrize("h", [0.01, None])
def test_a_run_names_them_too(h):
    with pytest.raises(RedundantConstraintsError, match="head 2 y, head 3 y"):
        integrate(four_bars(False, redundant="error"), 0.1, h=h)


@pytest.mark.parametrize(
    ("scheme", "as_sparse"),
    [("GenAlphaI3", False), ("GenAlphaSOI2", False), ("HHTI2", False), ("GenAlphaI3", True)],
)
def test_least_is_the_same_motion_with_minimum_norm(scheme, as_sparse):
    """Against the mechanism whose last two heads are cut loose by hand."""
    o = four_bars(as_sparse)
    keep = [i for i in range(16) if o.constraint_names[i] not in ("head 2 y", "head 3 y")]
    parts = ("holonomic", "holonomic_jacobian", "holonomic_rate", "holonomic_acceleration")
    functions = {key: getattr(o, key) for key in parts}
    changes = {key: lambda *x, f=f: f(*x)[keep] for key, f in functions.items()}
    reduced = o.replace(
        **changes,
        stiffness=None,
        damping=None,
        redundant="error",
        lam0=None,
        constraint_names=[o.constraint_names[i] for i in keep],
    )
    a, b = (integrate(x, 0.5, scheme, h=0.01) for x in (o, reduced))
    assert a.t.size == 51
    np.testing.assert_allclose(a.q, b.q, atol=1e-10)
    np.testing.assert_allclose(a.v, b.v, atol=1e-9)
    for i in (0, 25, 50):
        G = o.holonomic_jacobian(a.t[i], a.q[i])
        G = G.toarray() if sparse.issparse(G) else G
        small = b.lam[i] @ G[keep]
        np.testing.assert_allclose(a.lam[i] @ G, small, atol=1e-8)  # the same reaction
        least = np.linalg.lstsq(G.T, small, rcond=1e-10)[0]
        np.testing.assert_allclose(a.lam[i], least, atol=1e-8)  # with the least norm
        assert np.linalg.norm(a.lam[i]) < np.linalg.norm(b.lam[i])


def test_holonomic_and_nonholonomic_rows_together():
    """The skate forbids what the rail forbids already: the nonholonomic row is left out."""
    o = Mechanism(
        force=lambda t, q, v: np.array([1.0, -9.81]),
        holonomic=lambda t, q: q[1],
        nonholonomic=lambda t, q, v: 3.0 * v[1],
        q0=[0.0, 0.0],
        v0=[1.0, 0.0],
        redundant="least",
        constraint_names=["rail", "skate"],
    )
    assert constraint_jacobian(o, 0.0, o.q0, o.v0).shape == (2, 2)
    assert dependent_rows(o, 0.0, o.q0, o.v0).tolist() == [1]
    solution = integrate(o, 1.0, h=0.1)
    np.testing.assert_allclose(solution.q[-1], [1.5, 0.0], atol=1e-9)
    # lam + 3 psi = -9.81 with the least norm
    np.testing.assert_allclose(
        [solution.lam[-1, 0], solution.psi[-1, 0]], [-0.981, -2.943], rtol=1e-8
    )


def test_a_custom_reaction_gives_the_same_motion():
    motion, plain = (integrate(x, 0.5, h=0.01) for x in (with_a_custom_reaction(), doubled()))
    np.testing.assert_allclose(motion.q, plain.q, atol=1e-11)


def parallelogram(angle):
    """Two cranks and a coupler, which start stretched in some direction: rank 2 there, then 3."""
    along = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-along[1], along[0]])

    def g(t, q):
        a, b = q[:2], q[2:]
        return np.array(
            [a @ a - 1.0, (b - 2 * along) @ (b - 2 * along) - 1.0, (b - a) @ (b - a) - 4]
        )

    return Mechanism(
        force=lambda t, q, v: np.concatenate([-9.81 * along, np.zeros(2)]),
        holonomic=g,
        q0=np.concatenate([along, 3 * along]),
        v0=np.concatenate([2 * across, 2 * across]),
        redundant="least",
    )


@pytest.mark.parametrize("steps", [{"h": 0.01}, {"h": 0.002}, {"rtol": 1e-5, "atol": 1e-5}])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_rows_that_become_independent_are_kept(scheme, steps):
    """Every row holds at every step, the one that was left out at the start too."""
    for angle in (0.0, 0.7, 2.5):
        o = parallelogram(angle)
        solution = integrate(o, 0.4, scheme, **steps)
        g = np.array([o.holonomic(t, q) for t, q in zip(solution.t, solution.q, strict=True)])
        assert np.abs(g).max() < 18 * LOST  # times the length of a row and the size of q
        assert np.abs(solution.q[-1] - o.q0).max() > 0.1


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("steps", [{"h": 0.01}, {"h": 1e-4}, {}])
def test_rows_that_contradict_each_other_are_refused(scheme, steps):
    o = Mechanism(
        force=lambda t, q, v: np.array([0.0, -9.81]),
        holonomic=lambda t, q: np.array([q[0], q[0] - t**2]),
        q0=[0.0, 0.0],
        v0=[0.0, 0.0],
        redundant="least",
        constraint_names=["wall", "moving wall"],
    )
    with pytest.raises(RedundantConstraintsError, match=r"wall.*cannot hold together"):
        integrate(o, 0.5, scheme, **steps)
