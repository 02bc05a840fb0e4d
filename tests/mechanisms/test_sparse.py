"""Sparse in, sparse out; missing derivatives in groups of columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genalpha import mechanisms
from genalpha.model import Mechanism
from genalpha.model.differences import Groups, accurate_jacobian, find_pattern, group_columns
from tests.model.support import EQUATIONS, ITERATION, distance, largest, nearby, without

MATRICES = {
    "mass": 2,
    "holonomic_jacobian": 2,
    "nonholonomic_jacobian": 3,
    "nonholonomic_gradient": 3,
    "stiffness": 6,
    "damping": 6,
}


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    rows=st.integers(0, 12),
    columns=st.integers(0, 15),
    density=st.floats(0.0, 0.6),
    seed=st.integers(0, 2**32 - 1),
)
def test_group_columns(rows, columns, density, seed):
    mask = np.random.default_rng(seed).uniform(size=(rows, columns)) < density
    groups = group_columns(sparse.csc_array(mask.astype(float)))
    assert sorted(np.concatenate([*groups, np.zeros(0)]).tolist()) == list(range(columns))
    for members in groups:
        assert members.size
        assert mask[:, members].sum(axis=1).max(initial=0) <= 1


def test_few_groups_for_a_band():
    """Three diagonals need three groups, whatever the size."""
    band = sparse.diags_array([np.ones(99), np.ones(100), np.ones(99)], offsets=[-1, 0, 1])
    assert len(group_columns(sparse.csc_array(band))) == 3


@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 10),
    columns=st.integers(1, 12),
    density=st.floats(0.05, 0.5),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_patterns_are_found_and_differenced(rows, columns, density, seed):
    random = np.random.default_rng(seed)
    mask = random.uniform(size=(rows, columns)) < density
    A = np.where(mask, random.uniform(0.5, 2.0, mask.shape), 0.0)

    def function(x):
        return (A * np.sin(x)).sum(axis=1)

    x = random.uniform(-1.0, 1.0, columns)
    pattern = find_pattern([function], x, np.random.default_rng(0))
    assert np.array_equal(pattern.toarray() != 0, mask)
    J = accurate_jacobian(function, x, Groups(pattern))
    assert sparse.issparse(J)
    assert distance(J, A * np.cos(x)) < 1e-10


def chains(links=6):
    return mechanisms.chain(links, is_sparse=True), mechanisms.chain(links, is_sparse=False)


def test_sparse_in_sparse_out():
    o = chains()[0]
    poor = without(o, *EQUATIONS, *ITERATION)
    state = nearby(o)
    for mechanism in (o, poor):
        assert mechanism.is_sparse
        for key, count in MATRICES.items():
            assert sparse.issparse(getattr(mechanism, key)(*state[:count])), key
        assert sparse.issparse(mechanism.tangent(*state, 1e-4, 1e-2))
        assert sparse.issparse(mechanism.reaction_jacobian(*state[:3], *state[4:]))


def test_coloured_differences_agree_with_dense_ones():
    thin, thick = (without(o, *EQUATIONS, *ITERATION) for o in chains())
    state = nearby(thin)
    # g'' to 1e-8: where it is differenced, 1e-9 is for G vdot and g'' together; stiffness is of a
    # differenced G, whose errors of 1e-11 it divides by 1.5e-8
    for key, accuracy in (
        ("holonomic_jacobian", 1e-9),
        ("stiffness", 1e-3),
        ("holonomic_rate", 1e-11),
        ("holonomic_acceleration", 1e-8),
    ):
        count = MATRICES.get(key, 3)
        a, b = (getattr(o, key)(*state[:count]) for o in (thin, thick))
        assert distance(a, b) < accuracy * max(1.0, largest(b)), key
    tangents = [o.tangent(*state, 1e-4, 1e-2) for o in (thin, thick)]
    assert distance(*tangents) < 1e-5


def test_colours_save_evaluations():
    """A chain's tangent needs as many evaluations for 30 links as for 10."""
    costs = [without(chains(n)[0], *ITERATION).tangent_cost for n in (10, 30)]
    assert costs[0] == costs[1] < 15
    assert without(chains(10)[1], *ITERATION).tangent_cost == 31


def sparse_mechanism(**changes) -> Mechanism:
    arguments = {
        "mass": sparse.eye_array(3),
        "force": lambda t, q, v: -q,
        "q0": [1.0, 0.0, 1.0],
        "v0": [0.0, 0.0, 0.0],
    }
    return Mechanism(**{**arguments, **changes})


def test_dependence_that_vanishes_at_the_start():
    """An entry that is zero at the start, by its time or its place, is in the pattern all the same.

    Were it not, its column would share a group with others, and *their* entries would be wrong.
    """
    o = sparse_mechanism(
        holonomic=lambda t, q: np.array([q[0] - 1.0 - t * q[1], q[0] * q[1] ** 3 + q[2] - 1.0]),
        nonholonomic=lambda t, q, v: np.array([v[0] + t * v[2] + q[1] * v[1]]),
    )
    t, q, v = 2.0, np.array([1.0, 1.5, 1.0]), np.array([1.0, 2.0, 3.0])
    expected = [[1.0, -2.0, 0.0], [1.5**3, 3 * 1.5**2, 1.0]]
    assert distance(o.holonomic_jacobian(t, q), expected) < 1e-10
    assert distance(o.nonholonomic_jacobian(t, q, v), [[1.0, 1.5, 2.0]]) < 1e-10
    assert distance(o.nonholonomic_gradient(t, q, v), [[0.0, 2.0, 0.0]]) < 1e-6


def test_stiffness_and_damping_that_vanish_at_the_start():
    o = sparse_mechanism(
        force=lambda t, q, v: np.array([-t * q[1], -(q[1] ** 2) * q[2], -v[0] * v[1] - q[2]])
    )
    t, q, v = 2.0, np.array([1.0, 1.5, 1.0]), np.array([1.0, 2.0, 3.0])
    none = np.zeros(0)
    Kt = [[0, 2, 0], [0, 3, 2.25], [0, 0, 1]]
    Ct = [[0, 0, 0], [0, 0, 0], [2, 1, 0]]
    state = (t, q, v, np.zeros(3), none, none)
    assert distance(o.stiffness(*state), Kt) < 1e-6
    assert distance(o.damping(*state), Ct) < 1e-6
    assert distance(o.tangent(*state, 0.1, 0.2), 0.1 * np.array(Kt) + 0.2 * np.array(Ct)) < 1e-6


def test_reaction_that_depends_weakly():
    """A dependence far below the size of the function is found by the large probing steps."""
    o = sparse_mechanism(
        holonomic=lambda t, q: q[:2],
        holonomic_jacobian=lambda t, q: sparse.csc_array(np.eye(2, 3)),
        reaction=lambda t, q, v, lam, psi: 1e6 + np.array([lam[0], 1e-3 * lam[0] + lam[1], 0.0]),
        q0=[0.0, 0.0, 1.0],
    )
    R = o.reaction_jacobian(0.0, o.q0, o.v0, np.ones(2), np.zeros(0))
    assert (R.indptr.tolist(), R.indices.tolist()) == ([0, 2, 3], [0, 1, 1])


def test_given_patterns_are_used():
    """No probing then; entries that a given pattern lacks are noticed and added."""
    calls = []

    def g(t, q):
        calls.append(t)
        return np.array([q[0] + q[1] + q[2] - 2.0])

    full, narrow = np.ones((1, 3)), np.array([[1.0, 0.0, 1.0]])
    o = sparse_mechanism(holonomic=g, sparsity={"holonomic_jacobian": full, "stiffness": np.eye(3)})
    probing = len(calls)
    calls.clear()
    sparse_mechanism(holonomic=g)
    assert len(calls) > probing + 6
    assert distance(o.holonomic_jacobian(0.0, o.q0), full) < 1e-10
    o = sparse_mechanism(holonomic=g, sparsity={"holonomic_jacobian": sparse.csc_array(narrow)})
    assert distance(o.holonomic_jacobian(0.0, o.q0), full) < 1e-10


def test_nan_while_probing_loses_nothing():
    """A function that is not defined around the start: its columns are taken for full."""

    def g(t, q):
        return np.array([q[0] - 1.0, np.nan if q[1] else q[2] - 1.0])

    pattern = find_pattern(
        [lambda x: g(0.0, x)], np.array([1.0, 0.0, 1.0]), np.random.default_rng(0)
    )
    assert (pattern.toarray()[1] != 0).all()
