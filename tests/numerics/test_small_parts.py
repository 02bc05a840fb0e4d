"""Accuracy, prediction, interpolation, weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from genalpha.numerics.accuracy import EPS, norm, tolerated, tolerated_multiplier
from genalpha.numerics.interpolation import Knot, interpolate
from genalpha.numerics.prediction import extrapolated
from genalpha.numerics.weights import weighted_norm, weights


def test_norm():
    assert norm(np.array([3.0, 4.0])) == 5.0
    assert norm(np.zeros(0)) == 0.0


def test_tolerated_is_a_fraction_or_rounding():
    a, q = np.array([3.0, 4.0]), np.array([0.0, 10.0])
    large, small = tolerated(1e-12, a, q, 1.0), tolerated(1e-12, a, q, 1e-14)
    assert large == pytest.approx(5e-12 + 10 * EPS, rel=1e-12)
    assert small == pytest.approx(10 * EPS / 1e-14, rel=1e-6)
    assert tolerated(1e-12, a, q, -1.0) == large  # steps backwards
    assert tolerated(0.0, 0 * a, 0 * q, 1.0) == EPS  # never zero


def test_tolerated_multiplier():
    lam = np.array([2.0])
    assert tolerated_multiplier(1e-3, lam, 5.0, 0.1) == pytest.approx(0.5 + 2e-3)
    assert tolerated_multiplier(0.0, lam, 0.0, 0.0) > 0.0


class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray


def test_extrapolation_is_exact_for_lines():
    """From x(-0.2), x(0) to x(0.3), whatever kind of tuple it is; empty arrays stay."""
    slope = np.array([2.0, -1.0])
    new, old = Pair(slope * 0.0, np.zeros(0)), Pair(slope * -0.2, np.zeros(0))
    found = extrapolated(new, old, 0.3 / 0.2)
    assert isinstance(found, Pair)
    np.testing.assert_allclose(found.a, slope * 0.3)
    assert found.b.shape == (0,)
    plain = extrapolated(tuple(new), tuple(old), 1.5)
    assert type(plain) is tuple
    np.testing.assert_allclose(plain[0], slope * 0.3)


def knot(t, q, lam):
    """The motion q(t) with its derivatives, q being a Polynomial or a triple of functions."""
    values = [np.array([f(t)]) for f in q]
    return Knot(t, *values, np.array([lam(t)]), np.zeros(0))


def polynomial(*coefficients):
    p = np.polynomial.Polynomial(coefficients)
    return p, p.deriv(), p.deriv(2)


@pytest.mark.parametrize("t", [0.5, 0.6, 0.77, 1.3, 1.5])
@pytest.mark.parametrize("backwards", [False, True])
def test_exact_for_cubics_and_lines(t, backwards):
    q, lam = polynomial(1.0, -2.0, 3.0, -4.0), np.polynomial.Polynomial([2.0, 5.0])
    ends = [knot(0.5, q, lam), knot(1.3, q, lam)]
    found = interpolate(*(ends[::-1] if backwards else ends), t)
    assert found.t == t
    np.testing.assert_allclose(found.q, q[0](t), rtol=1e-13)
    np.testing.assert_allclose(found.v, q[1](t), rtol=1e-12)
    np.testing.assert_allclose(found.vdot, q[2](t), rtol=1e-12)
    np.testing.assert_allclose(found.lam, lam(t), rtol=1e-13)
    assert found.psi.shape == (0,)


def test_ends_are_exact_and_continuous():
    q = (np.sin, np.cos, lambda t: -np.sin(t))
    left, right = knot(0.1, q, np.exp), knot(0.4, q, np.exp)
    assert interpolate(left, right, 0.1) is left
    assert interpolate(left, right, 0.4) is right
    assert interpolate(left, left, 0.1) is left
    for end, inside in ((left, 0.1 + 1e-9), (right, 0.4 - 1e-9)):
        near = interpolate(left, right, inside)
        for a, b in zip(near[1:], end[1:], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-8)


def test_orders_on_a_smooth_motion():
    q = (np.sin, np.cos, lambda t: -np.sin(t))
    sizes = np.array([0.4, 0.2, 0.1, 0.05])
    errors = []
    for h in sizes:
        left, right = knot(0.7, q, np.exp), knot(0.7 + h, q, np.exp)
        worst = np.zeros(4)
        for s in np.linspace(0.05, 0.95, 19):
            t = 0.7 + s * h
            found, exact = interpolate(left, right, t), knot(t, q, np.exp)
            worst = np.maximum(
                worst, [abs(a - b)[0] for a, b in zip(found[1:5], exact[1:5], strict=True)]
            )
        errors.append(worst)
    slopes = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    np.testing.assert_allclose(slopes, [4.0, 3.0, 2.0, 2.0], atol=0.1)


def test_weights():
    w = weights(np.array([1.0, 2.0]), 0.1, np.array([10.0, -3.0]), np.array([-20.0, 1.0]))
    np.testing.assert_allclose(w, [3.0, 2.3])
    assert weighted_norm(np.array([3.0, 4.0]), np.array([1.0, 2.0])) == pytest.approx(
        np.sqrt((9 + 4) / 2)
    )
    assert weighted_norm(np.zeros(0), np.zeros(0)) == 0.0
