"""The compiled operations do what the plain ones do, and refuse what they cannot read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from genalpha import imports
from genalpha import kernels as compiled
from genalpha.kernels import plain

pytestmark = pytest.mark.skipif(not imports.COMPILED, reason="nothing is compiled here")
SEEDS = given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 40), m=st.integers(0, 40))
RANDOM = settings(derandomize=True, max_examples=60, deadline=None)


def both(name, *arguments):
    """Return the results of the two implementations, for arguments of their own."""
    return [
        getattr(module, name)(*[np.array(x) if isinstance(x, np.ndarray) else x for x in arguments])
        for module in (compiled, plain)
    ]


def check(name, *arguments, rtol=1e-13):
    found, expected = both(name, *arguments)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-13)
    return found


def test_the_compiled_ones_are_used():
    """All of them: a plain one would be compared with itself below."""
    shared = [key for key in compiled.__all__ if getattr(compiled, key) is getattr(plain, key)]
    assert not shared


@RANDOM
@SEEDS
def test_vectors(seed, n, m):
    r = np.random.default_rng(seed)
    x, y, z, w = r.standard_normal((4, n))
    other = r.standard_normal(m)
    check("norm", x)
    check("part", x, n // 3, n)
    check("plus", x, 0.3, np.concatenate([y, other]))
    check("combined", -1.5, x, 0.3, y)
    check("combined", -1.5, x, 0.3, y, 2.0, np.concatenate([z, other]))
    check("stacked", -1.0, x, 2.0, other)
    check("stacked", -1.0, x, 2.0, other, 3.0, w)
    check("largest", r.standard_normal((n, m)))
    check("scalar_product", x, y)
    check("absolute_product", x, y)
    check("error_weights", np.abs(w), 0.1, x, y)
    check("weighted_norm", x, 1.0 + np.abs(w))
    check("weighted_cosine", x, y, 1.0 + np.abs(w))
    check("largest_ratio", x, np.concatenate([3.0 * y, other]))
    for factors in ((0.3, 2.0), (0.3, 0.0), (0.0, -2.0)):
        check("increments", 3.0 * x, 3.0 * y, *factors, 1e-3, 0.0, 1e-9)
        check("increments", 3.0 * x, 3.0 * y, *factors, 1e-3, 0.5, 1e-9)
    check("slopes", list(r.standard_normal((n, m))), other, 1.0 + np.abs(w))
    values = np.cumsum(r.standard_normal((m, n)) ** 5, axis=0)
    for rows in (values, 1e-14 * values + 1.0, np.full((m, n), np.nan)):
        check("jumps", rows, 0.4, 1e-12)
    which = r.integers(0, max(n, 1), m if n else 0)
    check(
        "slopes", list(r.standard_normal((n, m))), other, 1.0 + np.abs(other[: which.size]), which
    )
    places = r.integers(0, max(n, 1), m if n else 0)
    check("taken", x, places)
    check("taken", x, places, other)
    places, targets = r.permutation(n)[: min(n, m)], []
    for module in (compiled, plain):
        targets.append(x.copy())
        module.write_at(targets[-1], places, other)
    np.testing.assert_array_equal(*targets)
    times, values = np.cumsum(r.uniform(0.1, 1.0, 4)), np.array([x, y, z, w])
    for newest in range(4):  # rows are written in turn
        rows = np.roll(values, newest + 1, axis=0), np.roll(times, newest + 1)
        check("extrapolated", *rows, newest, 4, times[-1] + 0.5, rtol=1e-10)
        check("extrapolated", *rows, newest, 1, 9.0)
        check("extrapolated", *rows, newest, 4, times[-1] + 0.5, (1.6, 0.64), rtol=1e-10)
        check("extrapolated", *rows, newest, 4, 9.0, (2.4, 1.92, 0.512), rtol=1e-10)


def test_places_that_are_none_are_refused():
    for places in (np.array([3]), np.array([-1]), np.array([0.0])):
        with pytest.raises((IndexError, TypeError)):
            compiled.taken(np.zeros(3), places)
        with pytest.raises((IndexError, TypeError)):
            compiled.write_at(np.zeros(3), places, np.ones(1))


def test_slopes_of_rows_that_do_not_fit():
    base, rows = np.zeros(3), [np.ones(3), np.ones(3)]
    for other, sizes, which in (
        (rows, np.ones(3), None),
        ([np.ones(3), np.ones(2)], np.ones(2), None),
        (rows, np.ones(2), np.array([0, 2])),
        (rows, np.ones(2), np.array([0])),
    ):
        with pytest.raises((ValueError, IndexError)):
            compiled.slopes(other, base, sizes, which)


@RANDOM
@SEEDS
def test_rows(seed, n, m):
    r = np.random.default_rng(seed)
    q, v, a, kept = *r.standard_normal((3, n)), r.standard_normal(m)
    written, times = [], []
    for module in (compiled, plain):
        table = np.zeros((3, 1 + 3 * n + m))
        module.write_row(table, 1, 0.5, q, v, a, kept)
        values, at = np.zeros((3, n)), np.zeros(3)
        module.remember(values, at, 2, 0.5, q)
        written.append(np.concatenate([table.ravel(), values.ravel()]))
        times.append(at)
    np.testing.assert_array_equal(*written)
    np.testing.assert_array_equal(*times)


def test_rows_that_do_not_fit():
    x, table = np.ones(2), np.zeros((3, 8))
    for row, kept in ((3, np.ones(1)), (-1, np.ones(1)), (0, np.ones(2)), (0, np.ones(0))):
        with pytest.raises(ValueError, match=r"row|values"):
            compiled.write_row(table, row, 0.0, x, x, x, kept)
    for row in (-1, 3):
        with pytest.raises(ValueError, match="row"):
            compiled.remember(np.zeros((3, 2)), np.zeros(3), row, 0.0, x)
        with pytest.raises(ValueError, match="rows"):
            compiled.extrapolated(np.zeros((3, 2)), np.zeros(3), row, 2, 1.0)
    for known, relation in ((0, ()), (4, ()), (2, (1.0, 1.0))):
        with pytest.raises(ValueError, match="rows"):
            compiled.extrapolated(np.zeros((3, 2)), np.zeros(3), 0, known, 1.0, relation)


@RANDOM
@SEEDS
def test_products(seed, n, m):
    r = np.random.default_rng(seed)
    A, x, y = r.standard_normal((n, m)), r.standard_normal(m), r.standard_normal(n)
    for matrix in (A, np.asfortranarray(A), r.standard_normal((2 * n, m))[::2]):
        check("product", matrix, x)
        check("transposed_product", -2.0, matrix, y)
        check("largest_of_rows", matrix)
        copy = compiled.snapshot(matrix)
        check("product", copy, x)
        assert not np.shares_memory(copy, matrix)
    wide = sparse.csc_array(A)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    kinds = (sparse.csc_array, sparse.csr_array, sparse.csc_matrix)
    for matrix in (wide, *(kind(A) for kind in kinds)):
        check("product", matrix, x)
        check("transposed_product", -2.0, matrix, y)
        check("largest", matrix)
        if matrix.format == "csc":
            check("largest_of_rows", matrix)
        for module in (compiled, plain):
            copy = module.snapshot(matrix)
            np.testing.assert_allclose(compiled.product(copy, x), A @ x, atol=1e-13)
            np.testing.assert_allclose(
                compiled.transposed_product(1.0, copy, y), A.T @ y, atol=1e-13
            )
            assert not np.shares_memory(copy.data, matrix.data)


@RANDOM
@SEEDS
def test_sums_in_place(seed, n, m):
    r = np.random.default_rng(seed)
    A, y = r.standard_normal((n, m)), r.standard_normal(n)
    start, x = r.standard_normal(n + m + 3), r.standard_normal(n + m + 2)
    for matrix in (A, np.asfortranarray(A), sparse.csc_array(A), sparse.csr_array(A)):
        for name in ("add_product", "add_transposed_product"):
            sums = [start.copy(), start.copy()]
            for kind, total in zip((compiled, plain), sums, strict=True):
                getattr(kind, name)(total, -0.3, matrix, x, 2)
            np.testing.assert_allclose(*sums, rtol=1e-12, atol=1e-13)
            assert not n * m or not np.array_equal(sums[0], start)
    sums = [start.copy(), start.copy()]
    compiled.add(sums[0], 2, 0.7, y)
    plain.add(sums[1], 2, 0.7, y)
    np.testing.assert_allclose(*sums, rtol=1e-13)
    np.testing.assert_array_equal(sums[0][:2], start[:2])
    check("zeros", n)


def test_sums_in_place_stay_inside():
    r, A = np.zeros(2), np.ones((2, 3))
    with pytest.raises(ValueError, match="3 columns for 2 values"):
        compiled.add_product(r, 1.0, A, np.ones(4), 2)
    with pytest.raises(ValueError, match="3 rows"):
        compiled.add_transposed_product(r, 1.0, A, np.ones(4), 0)
    with pytest.raises(ValueError, match="2 values"):
        compiled.add(r, 1, 1.0, np.ones(2))
    with pytest.raises(ValueError, match="entries 1 to 4 of 3"):
        compiled.part(np.ones(3), 1, 4)
    with pytest.raises(TypeError, match="None"):
        compiled.plus(None, 1.0, r)


@RANDOM
@SEEDS
def test_size_of_corrections(seed, n, m):
    r = np.random.default_rng(seed)
    l = r.integers(0, 4)  # noqa: E741
    d, x = r.standard_normal((2, n + 1 + m + l))
    at = r.standard_normal(n + 1)
    for relative, noise, multiplier_noise in ((1e-9, 0.0, 0.0), (0.0, 1e-6, 0.0), (0.0, 0.0, 1e-3)):
        check("correction_size", d, x, at, n + 1, m, relative, 1e-12, noise, multiplier_noise, 0.3)
    for i in range(d.size):  # wherever NaN is, it shows
        bad = d.copy()
        bad[i] = np.nan
        found, expected = both("correction_size", bad, x, at, n + 1, m, 1e-9, 1e-12, 0, 0, 0.3)
        assert np.isnan(found) and np.isnan(expected)


@RANDOM
@SEEDS
def test_broyden(seed, n, m):
    r = np.random.default_rng(seed)
    for count in range(4):
        moves = [0.1**k * r.standard_normal(n + m) for k in range(count)]
        d = 0.1**count * r.standard_normal(n + m)
        found, expected = compiled.broyden(moves, d.copy(), n, 0.3), plain.broyden(moves, d, n, 0.3)
        assert expected is d  # in place
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


@RANDOM
@SEEDS
def test_secant(seed, n, m):
    r = np.random.default_rng(seed)
    for count in range(4):
        x = r.standard_normal((2 * count, n + m))
        pairs = [(x[2 * k], 0.1 * x[2 * k + 1], float(k)) for k in range(count)]
        d = 0.1**count * r.standard_normal(n + m)
        args = n, 0.3, 2.5
        found, expected = compiled.secant(pairs, d.copy(), *args), plain.secant(pairs, d, *args)
        assert expected is d  # in place
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


@RANDOM
@SEEDS
def test_assembled(seed, n, m):
    r = np.random.default_rng(seed)
    A, B, C = (
        r.standard_normal((n, n)),
        r.standard_normal((2 * n, m))[::2],
        r.standard_normal((n, m)),
    )
    blocks = [(0, 0, 2.0, A), (0, 0, -0.5, np.asfortranarray(A)), (0, n, 3.0, B), (n, 0, 1.0, C.T)]
    found = check("assembled", n + m, blocks)
    assert found.flags.f_contiguous


@RANDOM
@SEEDS
def test_scattered(seed, n, m):
    r = np.random.default_rng(seed)
    terms = [(2.0, r.standard_normal(n)), (-0.5, r.standard_normal(m))]
    check("scattered", 7, r.integers(0, 7, n + m), terms)


def test_scattered_stays_within_bounds():
    x = np.ones(2)
    for places, match in (([0, 3], "place 3"), ([-1, 0], "place -1"), ([0], "more than 1")):
        with pytest.raises(ValueError, match=match):
            compiled.scattered(3, np.array(places), [(1.0, x)])


def test_same():
    x = np.arange(5)
    others = [x.copy(), x.astype(np.int32), x[:4], x + 1, np.arange(10)[::2] // 2]
    for y in (x, *others):
        assert compiled.same(x, y) == plain.same(x, y) == np.array_equal(x, y)


def test_assembled_refuses_blocks_that_stick_out():
    for row, column in ((2, 0), (0, 2), (-1, 0)):
        with pytest.raises(ValueError, match="does not fit"):
            compiled.assembled(3, [(row, column, 1.0, np.eye(2))])


@pytest.mark.parametrize("module", [compiled, plain])
@pytest.mark.parametrize("n", [0, 1, 3, 40, 100])
def test_lu(module, n):
    r = np.random.default_rng(n)
    A = r.standard_normal((n, n))
    lu = module.DenseLU(A.copy(order="F"))
    for right in (r.standard_normal(n), r.standard_normal((n, 3)), r.standard_normal((3, n)).T):
        before = right.copy()
        np.testing.assert_allclose(A @ lu(right), right, atol=1e-10)
        np.testing.assert_array_equal(right, before)
    right = r.standard_normal(n)
    np.testing.assert_allclose(A @ module.solution(lu, right.copy()), right, atol=1e-10)
    np.testing.assert_allclose(module.solution(lambda x: 2.0 * x, right), 2.0 * right)
    if n:
        assert 0.0 < lu.smallest <= lu.largest
    with pytest.raises(ValueError, match="right-hand side"):
        lu(np.ones(n + 1))
    with pytest.raises(ValueError, match="no LU"):
        module.DenseLU(np.ones((2, 3), order="F"))


@pytest.mark.parametrize("module", [compiled, plain])
def test_pivots_tell_of_singular_matrices_and_nan(module):
    assert module.DenseLU(np.diag([1.0, 0.0]).copy(order="F")).smallest == 0.0
    bad = module.DenseLU(np.array([[np.nan, 1.0], [1.0, 2.0]], order="F"))
    assert not bad.smallest > 1e-14 * bad.largest


@pytest.mark.parametrize("module", [compiled, plain])
@pytest.mark.parametrize("shape", [(2,), (2, 3)])
def test_checked_copies_what_is_expected_and_hands_on_the_rest(module, shape):
    value = np.arange(np.prod(shape), dtype=float).reshape(shape)
    handed_on = []

    def otherwise(value, t):
        assert t == 0.0
        handed_on.append(value)
        return "converted"

    call = module.Checked(lambda t, x: x, shape, otherwise)
    found = call(0.0, value)
    np.testing.assert_array_equal(found, value)
    assert not np.shares_memory(found, value)
    np.testing.assert_array_equal(call(0.0, np.asfortranarray(value)), value)
    assert call.now(0.0, value) is value
    if module is compiled:  # lists of floats are common, and converted on the spot
        np.testing.assert_array_equal(call(0.0, value.tolist()), value)
    strange = [value.astype(int).tolist(), value.tolist()[:1], [[0.0]] * shape[0], ["a"] * shape[0]]
    for other in (*strange, value.astype(int), np.zeros((*shape, 1)), None, value.T[:1]):
        assert call(0.0, other) == "converted"
        assert handed_on[-1] is other
        assert call.now(0.0, other) == "converted"


@pytest.mark.parametrize("module", [compiled, plain])
def test_a_guarded_function_cannot_change_its_arguments(module):
    free, locked = np.ones(2), np.ones(2)
    locked.flags.writeable = False

    def changes(t, *arrays):
        assert not any(x.flags.writeable for x in arrays)
        if t:
            raise ZeroDivisionError
        return arrays[0]

    for count in (1, 40):  # more arguments than anybody has
        assert module.guarded(changes, (0.0, *[free] * count)[:33]) is free
        assert free.flags.writeable
    assert module.guarded(changes, (0.0, locked, free)) is locked
    with pytest.raises(ZeroDivisionError):
        module.guarded(changes, (1.0, free, locked))
    assert free.flags.writeable and not locked.flags.writeable


def test_errors_of_callbacks_pass():
    def fails(t):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        compiled.Checked(fails, (2,), None)(0.0)


def test_wrong_memory_is_refused_not_misread():
    x = np.ones(4)
    with pytest.raises(TypeError, match="contiguous doubles"):
        compiled.norm(np.ones(4, dtype=int))
    with pytest.raises(TypeError, match="contiguous doubles"):
        compiled.plus(x, 1.0, np.ones(8)[::2])
    with pytest.raises(ValueError, match="3 values"):
        compiled.plus(x, 1.0, np.ones(3))
    with pytest.raises(ValueError, match="shorter"):
        compiled.combined(1.0, x, 1.0, np.ones(3))
    with pytest.raises(ValueError, match="vector of 3"):
        compiled.product(np.eye(4), np.ones(3))
    with pytest.raises(ValueError, match="vector of 3"):
        compiled.product(sparse.eye_array(4, format="csc"), np.ones(3))
    with pytest.raises(ValueError, match="vector of 3"):
        compiled.transposed_product(1.0, sparse.eye_array(4, format="csc"), np.ones(3))
