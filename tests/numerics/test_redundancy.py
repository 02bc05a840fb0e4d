"""Constraint rows that depend on others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genalpha import Mechanism, mechanisms
from genalpha.errors import RedundantConstraintsError
from genalpha.numerics.redundancy import (
    Reduction,
    check_rank,
    dependent_rows,
    independent_rows,
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    rank=st.integers(0, 6),
    more=st.integers(0, 5),
    columns=st.integers(0, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_independent_rows(rank, more, columns, seed):
    """Random rows of known rank, of very different lengths, in random order."""
    random = np.random.default_rng(seed)
    n = rank + columns
    J = random.standard_normal((rank + more, rank)) @ random.standard_normal((rank, n))
    J *= 10.0 ** random.uniform(-6, 6, (rank + more, 1))
    kept, dropped = independent_rows(J)
    assert sorted([*kept, *dropped]) == list(range(rank + more))
    assert kept.size == rank
    assert list(kept) == sorted(kept)
    if rank:
        rows = J[kept] / np.linalg.norm(J[kept], axis=1)[:, None]
        assert np.linalg.svd(rows, compute_uv=False).min() > 1e-9


def test_earlier_rows_are_kept():
    J = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    kept, dropped = independent_rows(J)
    assert (kept.tolist(), dropped.tolist()) == ([0, 1, 3], [2])


def test_a_row_of_zeros_is_dependent():
    assert independent_rows(np.array([[0.0, 0.0], [1.0, 0.0]]))[1].tolist() == [0]


def four_bars(as_sparse: bool, **changes) -> Mechanism:
    o = mechanisms.n_four_bar(loops=3)
    if as_sparse:
        jacobian = o.holonomic_jacobian
        changes["mass"] = sparse.csc_array(o.constant_mass)
        changes["holonomic_jacobian"] = lambda t, q: sparse.csc_array(jacobian(t, q))
    return o.replace(**changes)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_dependent_rows_are_named(as_sparse):
    """Sparse too, where the rows depend on each other only up to rounding."""
    o = four_bars(as_sparse, redundant="error")
    with pytest.raises(RedundantConstraintsError, match=r"2 of 16 .*: head 2 y, head 3 y\. Remove"):
        check_rank(o, o.t0, o.q0, o.v0)
    check_rank(o.replace(redundant="least"), o.t0, o.q0, o.v0)


def test_independent_sparse_rows_pass():
    o = mechanisms.chain(40, is_sparse=True)
    assert dependent_rows(o, o.t0, o.q0, o.v0).size == 0


def doubled(**changes) -> Mechanism:
    """A pendulum whose rod is there twice, and a reaction of its own: half from each rod."""
    arguments = {
        "force": lambda t, q, v: np.array([0.0, -9.81]),
        "holonomic": lambda t, q: np.array([1.0, 2.0]) * (q @ q - 1.0),
        "holonomic_jacobian": lambda t, q: np.array([2.0 * q, 4.0 * q]),
        "q0": [1.0, 0.0],
        "v0": [0.0, 0.0],
        "lam0": [0.0, 0.0],
        "redundant": "least",
        "constraint_names": ["rod", "spare"],
    }
    return Mechanism(**{**arguments, **changes})


def with_a_custom_reaction() -> Mechanism:
    return doubled(
        reaction=lambda t, q, v, lam, psi: -2.0 * q * (lam[0] + 2.0 * lam[1]) * (1 + 0 * lam[0]),
        reaction_jacobian=lambda t, q, v, lam, psi: np.column_stack([-2.0 * q, -4.0 * q]),
    )


def test_reduction_with_a_custom_reaction():
    """Nonlinear reactions cannot be spread: the spare row keeps multiplier zero."""
    o = with_a_custom_reaction()
    reduction = Reduction(o, 0.0, o.q0, o.v0)
    assert reduction.dependent.tolist() == [1]
    small = reduction.mechanism
    assert (small.n_lam, small.constraint_names, small.redundant) == (1, ["rod"], "error")
    lam, none = np.array([3.0]), np.zeros(0)
    np.testing.assert_allclose(small.reaction(0.0, o.q0, o.v0, lam, none), [-6.0, 0.0])
    assert small.reaction_jacobian(0.0, o.q0, o.v0, lam, none).tolist() == [[-2.0], [0.0]]
    assert small.check_derivatives()["reaction_jacobian"] < 1e-7
    assert reduction.expand(0.0, o.q0, o.v0, lam, none)[0].tolist() == [3.0, 0.0]
    assert reduction.restrict(np.array([3.0, 7.0]), none)[0].tolist() == [3.0]


def test_reduction_spreads_the_default_reaction():
    o = doubled()
    reduction = Reduction(o, 0.0, o.q0, o.v0)
    lam = reduction.expand(0.0, o.q0, o.v0, np.array([5.0]), np.zeros(0))[0]
    np.testing.assert_allclose(lam, [1.0, 2.0], rtol=1e-13)  # 5 G0 = 1 G0 + 2 (2 G0), least


def test_nothing_to_reduce():
    o = mechanisms.four_bar().replace(redundant="least")
    reduction = Reduction(o, 0.0, o.q0, o.v0)
    assert reduction.mechanism is o
    lam = np.arange(8.0)
    assert np.array_equal(reduction.expand(0.0, o.q0, o.v0, lam, np.zeros(0))[0], lam)
