"""Constraints without gradients: quadratic ones cost no calls, as long as they are quadratic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from genalpha.model import Mechanism
from genalpha.model.completion import Magnitude
from genalpha.model.constraint import Holonomic
from genalpha.model.differences import (
    Groups,
    accurate_jacobian,
    directional_derivative,
    second_directional_derivative,
)
from genalpha.model.second_degree import quadratic_at


def random_quadratic(seed):
    random = np.random.default_rng(seed)
    n, m = random.integers(1, 7), random.integers(1, 4)
    H = random.uniform(-1.0, 1.0, (m, n, n)) * 10.0 ** random.uniform(-6.0, 6.0)
    H, L, size = (
        H + H.transpose(0, 2, 1),
        random.uniform(-1.0, 1.0, (m, n)),
        10.0 ** random.uniform(-3.0, 3.0),
    )
    q0 = size * random.uniform(-1.0, 1.0, n)
    level = 0.5 * H @ q0 @ q0 + L @ q0
    return (lambda t, q: 0.5 * H @ q @ q + L @ q - level), (lambda q: H @ q + L), H, q0, random


@pytest.mark.parametrize("seed", range(20))
def test_quadratics_are_found_to_rounding(seed):
    g, G, H, q0, random = random_quadratic(seed)
    own = Holonomic(g, None)
    own.jacobian(0.0, q0)
    assert own._quadratic is not None
    for _ in range(5):
        q, v = q0 + 3.0 * random.uniform(-1.0, 1.0, q0.size), random.uniform(-1.0, 1.0, q0.size)
        size = np.abs(G(q)).max() + np.abs(H).max() * np.abs(q0).max()
        assert own.jacobian(0.0, q) == pytest.approx(G(q), abs=1e-11 * size)
        assert own.rate(0.0, q, v) == pytest.approx(G(q) @ v, abs=1e-10 * size)
        assert own.acceleration(0.0, q, v) == pytest.approx(H @ v @ v, abs=1e-10 * size)
        own(0.0, q)  # a value that fits
    assert own._quadratic is not None


@pytest.mark.parametrize(
    "g",
    [
        lambda t, q: np.array([np.sin(q[0]) + q[1]]),
        lambda t, q: 1e-9 * np.array([q[0] ** 3 + q[1]]),
        lambda t, q: np.array([q @ q - np.cos(1e-3 * t)]),
        lambda t, q: np.array([np.hypot(*q) - 1.0]),
        lambda t, q: np.array([q[0] ** 2 + 1e-6 * q[1] ** 4]),
    ],
    ids=["sine", "small cubic", "time", "length", "weak quartic"],
)
def test_others_are_not(g):
    assert quadratic_at(g, 0.3, np.array([0.6, 0.8])) is None


def test_a_function_that_ends_beside_the_start_is_differenced():
    def g(t, q):
        if q[0] > 1.05:
            raise ValueError("beyond the table")
        return np.array([q @ q - 1.0])

    q = np.array([1.0, 0.0])
    assert Holonomic(g, None).jacobian(0.0, q) == pytest.approx(2.0 * q[None, :], abs=1e-9)


def bent(t, q):
    """A circle, and from x = 0 on an ellipse that touches it."""
    return np.array([q @ q - 1.0 + (0.5 * q[0] ** 2 if q[0] < 0.0 else 0.0)])


def test_what_is_quadratic_in_parts_is_noticed():
    own = Holonomic(bent, None)
    right, left = np.array([0.6, -0.8]), np.array([-0.6, -0.8])
    assert own.jacobian(0.0, right) == pytest.approx(2.0 * right[None, :], abs=1e-12)
    assert own._quadratic is not None
    own(0.0, left)
    wanted = accurate_jacobian(lambda x: bent(0.0, x), left)
    assert own.jacobian(0.0, left) == pytest.approx(wanted, abs=1e-9)


def linkage(t, q):
    """Two rods that hang from each other: Cartesian coordinates and angles, driven."""
    x, y, a, u, w, b = q
    return np.array(
        [
            x - np.cos(a) - 0.1 * np.sin(t),
            y - np.sin(a),
            u - x - 0.7 * np.cos(b),
            w - y - 0.7 * np.sin(b),
        ]
    )


def linkage_gradient(q):
    G = np.zeros((4, 6))
    G[[0, 1, 2, 2, 3, 3], [0, 1, 3, 0, 4, 1]] = 1.0, 1.0, 1.0, -1.0, 1.0, -1.0
    G[0, 2], G[1, 2], G[2, 5], G[3, 5] = (
        np.sin(q[2]),
        -np.cos(q[2]),
        0.7 * np.sin(q[5]),
        -0.7 * np.cos(q[5]),
    )
    return G


def real_only(t, q):
    """The same for a function that does not take complex numbers."""
    return linkage(t, np.array([float(x) for x in q]))


@pytest.mark.parametrize(("g", "calls"), [(linkage, 1), (real_only, 3)])
def test_only_what_changes_is_asked(g, calls):
    """The two angles share no row: one complex step, or one central difference.

    At a new time there is one call more, beside the motion, and by time if g takes complex numbers.
    """
    counted = [0]

    def function(t, q):
        counted[0] += 1
        return g(t, q)

    own, random = Holonomic(function, None, function), np.random.default_rng(0)
    own.jacobian(0.3, random.uniform(-1.0, 1.0, 6))
    assert (own._analytic is not None) == (g is linkage)
    for _ in range(50):
        t, q = random.uniform(), random.uniform(-3.0, 3.0, 6)
        before = counted[0]
        assert own.jacobian(t, q) == pytest.approx(linkage_gradient(q), abs=1e-9)
        assert own.jacobian(t, q) is own.jacobian(t, q)
        assert counted[0] - before == calls + (2 if g is linkage else 1)
        before = counted[0]
        own.jacobian(t, q + 0.1)
        assert counted[0] - before == calls
        own.jacobian(t, q)
        v = random.uniform(-1.0, 1.0, 6)
        rate = linkage_gradient(q) @ v - [0.1 * np.cos(t), 0.0, 0.0, 0.0]
        assert own.rate(t, q, v) == pytest.approx(rate, abs=1e-10)
        assert own(t, q) == pytest.approx(g(t, q), abs=1e-15)


@pytest.mark.parametrize(
    "g",
    [
        lambda t, q: np.array([abs(q[0]) * q[1] ** 3]),
        lambda t, q: np.array([np.linalg.norm(q) ** 3]),
        lambda t, q: np.array([float(np.real(q[0])) ** 3 + q[1]]),
        lambda t, q: np.array([np.arctan2(q[0], q[1])]),
        lambda t, q: np.array([math.sin(q[0]) * q[1]]),
    ],
    ids=["abs", "norm", "real", "arctan2", "math"],
)
def test_complex_numbers_are_not_believed_blindly(g):
    own, q = Holonomic(g, None, g), np.array([0.6, 0.8])
    wanted = accurate_jacobian(lambda x: g(0.0, x), q)
    assert own.jacobian(0.0, q) == pytest.approx(wanted, abs=1e-9)
    assert own._analytic is None


def test_a_function_that_changes_its_mind_is_noticed():
    """A column that stays, until it does not: the first gradient after that is right."""

    def g(t, q):
        return np.array([math.sin(q[0]) + q[1] + (0.5 * math.sin(q[1]) if t > 1.0 else 0.0)])

    own, q = Holonomic(g, None, g), np.array([0.6, 0.8])
    own.jacobian(0.0, q)
    assert own._structured is not None
    assert own.jacobian(0.5, q)[0, 1] == pytest.approx(1.0)
    assert own.jacobian(2.0, q)[0, 1] == pytest.approx(1.0 + 0.5 * np.cos(0.8), abs=1e-9)
    assert own._structured is None


def test_what_changes_beside_the_motion_only_is_noticed():
    """A plane that banks: every value along z = 0 is that of before."""

    def g(t, q):
        return np.array([q[1] - (t - 1.0) ** 2 * q[2] if t > 1.0 else q[1]])

    own, q = Holonomic(g, None), np.zeros(3)
    assert own.jacobian(0.0, q).tolist() == [[0.0, 1.0, 0.0]]
    assert own._quadratic is not None
    assert own(2.0, q) == 0.0 and own._quadratic is not None
    assert own.jacobian(2.0, q) == pytest.approx(np.array([[0.0, 1.0, -1.0]]), abs=1e-9)


def test_parts_that_are_lost_later_are_noticed():
    """A branch that drops what complex steps are read from, in q and in t."""

    def g(t, q):
        late = max(0.0, np.real(t) - 1.0)
        return np.array([np.sin(q[0]) + q[1] + 0.1 * np.sin(t) + late * np.real(q[1]) ** 3])

    own, q = Holonomic(g, None, g), np.array([0.6, 0.8])
    assert own.jacobian(0.0, q)[0, 1] == 1.0 and own._analytic is not None
    right = 1.0 + 3.0 * 0.8**2
    assert own.jacobian(2.0, q) == pytest.approx(np.array([[np.cos(0.6), right]]), abs=1e-9)
    rate = own.rate(2.0, q, np.ones(2))
    assert rate == pytest.approx(np.cos(0.6) + right + 0.1 * np.cos(2.0) + 0.8**3, abs=1e-9)


def test_a_sparse_pattern_grows():
    """Entries of a pattern that was found near the start, and one that comes later."""
    groups = Groups(sparse.csc_array(np.eye(3)))

    def g(t, q):
        return np.sin(q) + (t > 1.0) * np.array([q[1] ** 2, 0.0, 0.0])

    own, q = Holonomic(g, groups), np.array([0.1, 0.2, 0.3])
    assert own.jacobian(0.0, q).nnz == 3
    wanted = np.diag(np.cos(q))
    wanted[0, 1] = 0.4
    assert own.jacobian(2.0, q).toarray() == pytest.approx(wanted, abs=1e-9)


def test_a_size_that_is_no_number_is_not_kept():
    """It is believed until q has moved by much; a NaN that came once would stay as long."""
    gradients = iter([[[np.nan, 1.0]], [[-2.0, 1.0]]])
    size, q = Magnitude(lambda t, q: np.array(next(gradients))), np.array([1.0, 3.0])
    assert np.isnan(size(0.0, q)).all()
    assert size(0.0, q) == size(0.0, q) == [5.0]


@pytest.mark.parametrize("derivative", [directional_derivative, second_directional_derivative])
def test_where_sizes_are_no_numbers_derivatives_are_none(derivative):
    """Without knowing what is rounding, steps would be cut until there is nothing else."""
    random = np.random.default_rng(18)

    def noisy(s):
        return np.array([1e6 + s + 1e5 * random.normal()])

    assert np.isnan(derivative(noisy, np.array([np.nan]))).all()
    assert np.isfinite(derivative(noisy, np.array([1e26]))).all()


def test_a_value_that_is_no_number_says_nothing_of_a_form():
    """A constraint of second degree stays one, if it returns NaN once."""
    bad = []

    def g(t, q):
        return np.array([q @ q - 1.0 if not bad else bad.pop()])

    o = Mechanism(force=lambda t, q, v: -q, q0=[1.0, 0.0], v0=[0.0, 1.0], holonomic=g)
    for now in (False, True, False):
        if now:
            bad.append(np.nan)
            assert np.isnan(o.holonomic(0.0, o.q0 + 0.1)).all()
        found = o.holonomic_acceleration(0.0, np.array([1.0, 0.0]), np.array([0.0, 3.0]))
        assert found == pytest.approx([18.0], rel=1e-14)  # differences do not know it so well


@pytest.mark.parametrize("right", range(1, 40, 3))
def test_a_function_that_stops_taking_complex_numbers(right):
    """From any complex call on, while it is looked at beside the motion too."""
    calls = []

    def g(t, q):
        if np.iscomplexobj(q) or np.iscomplexobj(t):
            calls.append(t)
        value = np.array([np.sin(q[0]) + q[1] ** 3 - np.sin(t)])
        return value.real if len(calls) > right else value

    o = Mechanism(force=lambda t, q, v: -q, q0=[0.0, 0.0], v0=[1.0, 0.0], holonomic=g)
    for t in np.linspace(0.1, 1.0, 12):
        q = np.array([t, 0.3 * t])
        found = o.holonomic_jacobian(t, q)
        assert found[0] == pytest.approx([np.cos(q[0]), 3.0 * q[1] ** 2], abs=1e-9)
