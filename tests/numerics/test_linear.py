"""Linear systems, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from genalpha import Mechanism
from genalpha.errors import SingularSystemError
from genalpha.numerics.linear import factorize, least_squares, saddle, smallest_pivot, stack
from genalpha.numerics.mass import mass_solver
from tests.model.support import pendulum

KINDS = pytest.mark.parametrize("kind", [np.array, sparse.csc_array])


def random_matrix(n, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (n, n)) + n * np.eye(n)


@KINDS
@pytest.mark.parametrize("n", [1, 2, 20])
def test_factorize_solves(kind, n):
    A = random_matrix(n)
    x = np.arange(1.0, n + 1.0)
    solve = factorize(kind(A))
    np.testing.assert_allclose(solve(A @ x), x, rtol=1e-12)
    # many right sides, one after the other and at once; none of them is touched
    right = np.column_stack([A @ x, A @ x[::-1]])
    kept = right.copy()
    np.testing.assert_allclose(solve(right), np.column_stack([x, x[::-1]]), rtol=1e-12)
    assert np.array_equal(right, kept)


def test_factorize_needs_pivoting():
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    for kind in (np.array, sparse.csc_array):
        assert factorize(kind(A))(np.array([1.0, 2.0])).tolist() == [2.0, 1.0]


def test_nothing_to_solve():
    assert factorize(np.zeros((0, 0)))(np.zeros(0)).shape == (0,)


@KINDS
@pytest.mark.parametrize(
    "matrix", [np.zeros((2, 2)), np.array([[1.0, 2.0], [2.0, 4.0]]), np.diag([1.0, 0.0])]
)
def test_singular(kind, matrix):
    with pytest.raises(SingularSystemError, match="singular"):
        factorize(kind(matrix))


def test_singular_to_working_precision():
    A = np.array([[0.1, 0.3], [0.2, 0.6 + 1e-16]])
    with pytest.raises(SingularSystemError, match="smallest pivot"):
        factorize(A)


@KINDS
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity(kind, bad):
    A = random_matrix(3)
    A[1, 2] = bad
    with pytest.raises(SingularSystemError, match="NaN or infinity"):
        factorize(kind(A))
    with pytest.raises(SingularSystemError, match="NaN or infinity"):
        least_squares(kind(A))


def test_smallest_pivot():
    """Rows that depend on each other up to rounding, which SuperLU factorizes without a word."""
    rows = np.array([[0.1, 0.7, 0.3, 0.9], [1.1, 0.2, 0.4, 0.0], [0.0, 0.0, 0.0, 0.0]])
    rows[2] = rows[0] / 3.0 + rows[1] / 7.0
    singular = sparse.csc_array(saddle(np.eye(4), rows.T, rows))
    assert smallest_pivot(singular) < 1e-14
    assert smallest_pivot(sparse.csc_array(saddle(np.eye(4), rows[:2].T, rows[:2]))) > 0.05
    assert smallest_pivot(sparse.csc_array(np.diag([1.0, 0.0]))) == 0.0


@KINDS
def test_least_squares_has_the_minimum_norm(kind):
    random = np.random.default_rng(3)
    A = random.uniform(-1, 1, (6, 4)) @ random.uniform(-1, 1, (4, 6))  # rank 4
    b = A @ random.uniform(-1, 1, 6)
    x = least_squares(kind(A))(b)
    np.testing.assert_allclose(A @ x, b, atol=1e-12)
    null = np.linalg.svd(A)[2][4:]
    np.testing.assert_allclose(null @ x, 0.0, atol=1e-12)  # nothing in the null space: least
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b, rcond=1e-10)[0], atol=1e-12)


def test_least_squares_of_a_regular_system_is_its_solution():
    A = random_matrix(5)
    np.testing.assert_allclose(least_squares(A)(A @ np.ones(5)), np.ones(5), rtol=1e-12)
    assert np.array_equal(least_squares(np.zeros((2, 2)))(np.ones(2)), np.zeros(2))


@KINDS
def test_saddle_and_stack(kind):
    A, B, C = np.ones((3, 3)), 2 * np.ones((3, 2)), 3 * np.ones((2, 3))
    expected = np.block([[A, B], [C, np.zeros((2, 2))]])
    matrix, tower = saddle(kind(A), kind(B), kind(C)), stack(kind(A), kind(C))
    if kind is sparse.csc_array:
        assert matrix.format == tower.format == "csc"
        matrix, tower = matrix.toarray(), tower.toarray()
    else:
        assert matrix.flags.f_contiguous  # so that LAPACK does not copy it
    assert np.array_equal(matrix, expected)
    assert np.array_equal(tower, np.vstack([A, C]))


@KINDS
def test_saddle_without_constraints(kind):
    A = 2.0 * np.eye(3)
    matrix = saddle(kind(A), kind(np.zeros((3, 0))), kind(np.zeros((0, 3))))
    assert matrix.shape == (3, 3)
    np.testing.assert_allclose(factorize(matrix)(np.ones(3)), 0.5)


@KINDS
def test_mass_solver_keeps_the_mass(kind):
    M = np.array([[2.0, 1.0], [1.0, 3.0]])
    for mass in (kind(M), lambda t, q: kind(M)):
        o = pendulum(mass=mass)
        for _ in range(2):
            np.testing.assert_allclose(mass_solver(o, 0.0, o.q0)(M @ [1.0, 2.0]), [1.0, 2.0])
        kept = o.mass(0.0, o.q0)
        assert np.array_equal(kept.toarray() if sparse.issparse(kept) else kept, M)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("kind", ["diagonal", "full", "zero", "nan"])
def test_solving_with_the_mass(is_sparse, kind):
    M = np.diag([2.0, 3.0, 4.0])
    if kind == "full":
        M[0, 1] = M[1, 0] = 1.0
    M[2, 2] = {"zero": 0.0, "nan": np.nan}.get(kind, 4.0)
    mass = sparse.csc_array(M) if is_sparse else M
    o = Mechanism(force=lambda t, q, v: np.zeros(3), q0=np.zeros(3), v0=np.zeros(3), mass=mass)
    if kind in ("zero", "nan"):
        with pytest.raises(SingularSystemError):
            mass_solver(o, 0.0, o.q0)
        return
    right = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(M @ mass_solver(o, 0.0, o.q0)(right), right, rtol=1e-14)
    np.testing.assert_array_equal(right, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e8, 1e14])
def test_units_do_not_make_a_matrix_singular(scale):
    """A pendulum of any mass has a solution; dependent constraints have none, in any units."""
    G = np.array([[0.6, 0.8]])
    solve = factorize(saddle(scale * np.eye(2), G.T, G))
    x = solve(np.array([0.0, -9.81 * scale, 0.5]))
    assert G @ x[:2] == pytest.approx(0.5)
    assert scale * x[:2] + G[0] * x[2] == pytest.approx([0.0, -9.81 * scale], abs=1e-9 * scale)
    twice = np.vstack([G, 2.0 * G])
    with pytest.raises(SingularSystemError):
        factorize(saddle(scale * np.eye(2), twice.T, twice))
