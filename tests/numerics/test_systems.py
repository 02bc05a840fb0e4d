"""Saddle point systems: every way of solving gives the same, values change, patterns may."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from genalpha.errors import SingularSystemError
from genalpha.numerics.systems import SMALL, SparseSystem, Systems, klu, size_of

METHODS = ["auto", "dense", "superlu", pytest.param("klu", marks=pytest.mark.skipif(
    klu() is None, reason="PyKLU is not installed"))]  # fmt: skip


def blocks(n, m, seed, kind):
    """Terms of a regular saddle point system, and the system as one dense matrix."""
    r = np.random.default_rng(seed)

    def random(rows, columns, density=0.15):
        values = r.standard_normal((rows, columns)) * (r.random((rows, columns)) < density)
        return values + 3.0 * np.eye(rows, columns)

    M, K, D, G, H, P = (
        random(n, n), random(n, n), random(n, n), random(m, n), random(2, n), random(2, n),
    )  # fmt: skip
    H[:, :2], H[:, -2:] = 0.0, np.eye(2)  # independent of G
    A = [(1.0, kind(M)), (0.1, kind(K)), (-0.2, kind(D))]
    R = [[(-2.0, kind(G).T)], [(-2.0, kind(H).T)]]
    J = [[(1.0, kind(G))], [(1.0, kind(H)), (1e-3, kind(P))]]
    zero = np.zeros((m + 2, m + 2))
    rows = np.vstack([G, H + 1e-3 * P])
    columns = -2.0 * np.hstack([G.T, H.T])
    return (A, R, J), np.block([[M + 0.1 * K - 0.2 * D, columns], [rows, zero]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array, sparse.csr_array])
@pytest.mark.parametrize(("n", "m"), [(4, 1), (60, 20)])
def test_all_methods_solve(method, kind, n, m):
    systems = Systems(method)
    for seed in range(5):  # other values and other patterns, the same name
        terms, whole = blocks(n, m, seed % 3, kind)
        right = np.arange(whole.shape[0], dtype=float)
        for _ in range(3):  # SuperLU's order of the columns is known from the second time on
            solve = systems.factorize("position", *terms)
            np.testing.assert_allclose(whole @ solve(right), right, atol=1e-8)


def test_old_factors_stay_good():
    """What was factorized before must not change when the next matrix is assembled."""
    for method in ("dense", "superlu", *(("klu",) if klu() else ())):
        systems = Systems(method)
        terms, whole = blocks(30, 10, 1, sparse.csc_array)
        first = systems.factorize("position", *terms)
        A, R, J = terms
        systems.factorize("position", [(5.0, A[0][1]), *A[1:]], R, J)
        right = np.ones(whole.shape[0])
        np.testing.assert_allclose(whole @ first(right), right, atol=1e-8)


def test_auto_chooses_by_size_and_density():
    def chosen(n, m, kind):
        systems = Systems()
        systems.factorize("x", *blocks(n, m, 0, kind)[0])
        return type(systems._systems["x"])

    assert chosen(10, 4, sparse.csc_array) is not SparseSystem
    assert chosen(SMALL, 10, sparse.csc_array) is SparseSystem
    assert chosen(150, 60, np.asarray) is not SparseSystem  # large, but 15 % are not zero


def test_large_dense_matrices_that_are_nearly_empty_are_sparse():
    n = 200
    systems = Systems()
    G = np.eye(1, n)
    solve = systems.factorize("x", [(1.0, np.eye(n))], [[(1.0, G.T)]], [[(1.0, G)]])
    assert isinstance(systems._systems["x"], SparseSystem)
    whole = np.block([[np.eye(n), G.T], [G, np.zeros((1, 1))]])
    np.testing.assert_allclose(whole @ solve(np.ones(n + 1)), np.ones(n + 1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_singular_systems(method, value, capfd):
    n = 80
    M = sparse.csc_array(np.diag([value] + [1.0] * (n - 1)))
    G = sparse.csc_array(np.eye(1, n, 5))
    with pytest.raises(SingularSystemError):
        Systems(method).factorize("x", [(1.0, M)], [[(1.0, G.T)]], [[(1.0, G)]])


def test_without_constraints():
    none = np.zeros((0, 3))
    solve = Systems().factorize("x", [(2.0, np.eye(3))], [[(1.0, none.T)]], [[(1.0, none)]])
    np.testing.assert_allclose(solve(np.ones(3)), 0.5)


def test_size_of_a_sum():
    assert size_of([(2.0, np.array([[1.0, -3.0]])), (-1.0, sparse.csc_array([[4.0, 0.0]]))]) == 10.0
