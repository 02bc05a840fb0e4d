"""Damping at infinity, tiny and large steps, drift from the constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from genalpha import Coefficients, integrate
from genalpha.driver import Options, Stepper
from genalpha.numerics.accuracy import FULL
from genalpha.numerics.amplification import amplification_matrix
from tests.driver.support import SCHEMES, mechanism, oscillator

NONE = np.zeros(0)


def one_step_matrix(scheme, stiff, **options):
    """The matrix that takes (q, v / omega, a / omega^2) of an oscillator to those of the next step.

    Built column by column from steps of the scheme itself. The true acceleration at the start,
    which GenAlphaI3 carries too, follows from q.
    """
    h = 1.0
    omega = stiff / h
    columns = []
    for q, v, a in np.eye(3):
        x = np.array([q]), np.array([v * omega]), np.array([a * omega**2])
        stepper = Stepper(oscillator(omega), Options(scheme=scheme, start="plain", **options))
        stepper.begin(0.0, x[0], x[1], NONE, NONE, h)
        changes = {"a": x[2], "Ma": x[2]} if scheme == "GenAlphaSOI2" else {"a": x[2]}
        stepper.state = replace(stepper.state, **changes)
        new = stepper.attempt(h)
        columns.append([new.q[0], new.v[0] / omega, new.a[0] / omega**2])
    return np.array(columns).T


def assert_roots(scheme, expected, **options):
    """Assert that the eigenvalues at h omega = 1e6 are the roots, to 1e-4.

    q1 is what is left of terms (h omega)^2 times as large, so that rounding, 2e-16, may show as
    2e-4 / 4 in the matrix, and multiple eigenvalues feel its third root. Their product and sum do
    not; and all three are right at h omega = 1e4, where rounding and 1 / (h omega)^2 are 1e-8.
    """
    matrix = one_step_matrix(scheme, 1e6, **options)
    assert np.linalg.det(matrix) == pytest.approx(np.prod(expected).real, abs=1e-4)
    assert np.trace(matrix) == pytest.approx(np.sum(expected).real, abs=1e-4)
    found = np.poly(one_step_matrix(scheme, 1e4, **options))
    np.testing.assert_allclose(found, np.poly(expected), atol=1e-6)


@pytest.mark.parametrize("rho_inf", [0.0, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2"])
def test_rho_at_infinity(scheme, rho_inf):
    assert_roots(scheme, [-rho_inf] * 3, rho_inf=rho_inf)


@pytest.mark.parametrize("alpha", [-0.05, -0.1, -0.2, -0.3])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_rho_at_infinity_of_hht(scheme, alpha):
    """The roots of (22); those of HHTI2 are the same without constraints."""
    c = Coefficients.hht(alpha)
    assert_roots(scheme, c.roots_at_infinity, alpha=alpha)
    radius = np.abs(np.linalg.eigvals(one_step_matrix(scheme, 1e4, alpha=alpha))).max()
    assert radius == pytest.approx(c.rho_inf, abs=1e-3)  # the root of 1e-6: a double eigenvalue


@pytest.mark.parametrize(
    "c", [Coefficients.chung_hulbert(rho) for rho in (0.0, 0.5, 0.9)] + [Coefficients.hht(-0.2)]
)
@pytest.mark.parametrize("omega_h", [0.1, 1.0, 10.0])
def test_the_amplification_matrix_is_the_scheme(c, omega_h):
    """A run of GenAlphaI3 on an oscillator, one step after the other."""
    steps, h = 5, 0.1
    s = integrate(
        oscillator(omega_h / h), steps * h, "GenAlphaI3", h, coefficients=c, start="plain",
        newton_accuracy=1e-13,
    )  # fmt: skip
    matrix = amplification_matrix(c, omega_h)
    x = np.array([s.q[0, 0], h * s.v[0, 0], h**2 * s.a[0, 0]])
    for i in range(1, steps + 1):
        x = matrix @ x
        found = [s.q[i, 0], h * s.v[i, 0], h**2 * s.a[i, 0]]
        np.testing.assert_allclose(found, x, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rho_inf", [0.5, 0.8])
def test_rho_at_infinity_seen_in_a_run(rho_inf):
    """The late ratio of the norms, with the n^2 of the triple root divided out."""
    h = 1.0
    solution = integrate(oscillator(1e6 / h), 60.0, "GenAlphaI3", h=h, rho_inf=rho_inf)
    q = np.abs(solution.q[:, 0])
    n = 50
    ratio = q[n + 1] / q[n]
    # q_n = (c0 + c1 n + c2 n^2) (-rho)^n: the ratio is rho (1 + 2/n + ...)
    assert rho_inf < ratio < rho_inf * (1.0 + 2.5 / n)
    third = [np.log(q[k] / rho_inf**k) for k in (20, 40)]
    assert (third[1] - third[0]) / np.log(2.0) == pytest.approx(2.0, abs=0.3)


def test_a_gentle_oscillator_is_hardly_damped():
    """h omega = 0.01: rho_inf acts at infinity only."""
    solution = integrate(oscillator(1.0), 10.0, h=0.01, rho_inf=0.5)
    energy = solution.q[-1, 0] ** 2 + solution.v[-1, 0] ** 2
    assert abs(energy - 1.0) < 1e-5


@pytest.mark.parametrize("h", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("differenced", [False, True])
def test_every_step_size_converges(h, differenced):
    """The scaling (10): Newton converges for any h, and g stays at rounding."""
    o = mechanism("simple_pendulum")
    if differenced:
        o = o.replace(stiffness=None, damping=None)
    s = integrate(o, 20 * h, "GenAlphaI3", h=h, newton_accuracy=FULL)
    assert s.t.size == 21
    assert s.statistics.nnfails == 0
    assert max(abs(o.holonomic(t, q)[0]) for t, q in zip(s.t, s.q, strict=True)) < 1e-14
    # lam: the scheme's error, and what rounding of q makes of accelerations, eps / h^2
    exact = o.reference.motion(s.t[-1])
    assert abs(s.lam[-1] - exact.lam)[0] < 1e3 * h**2 + 2e-14 / h**2


def drift(scheme, h, count, every=50):
    """Largest residuals of g and of its rate in a run."""
    o = mechanism("simple_pendulum")
    stepper = Stepper(o, Options(scheme=scheme))
    stepper.begin(o.t0, o.q0, o.v0, *o.multiplier_guess(), h)
    position = velocity = 0.0
    for i in range(count):
        stepper.accept(stepper.attempt(h), (i + 1) * h)
        if i % every == 0:
            s = stepper.state
            position = max(position, abs(o.holonomic(s.t, s.q)[0]))
            velocity = max(velocity, abs(o.holonomic_rate(s.t, s.q, s.v)[0]))
    return position, velocity


@pytest.mark.parametrize("scheme", ["GenAlphaSOI2", "HHTI2"])
def test_no_drift(scheme):
    """As in Fig. 4 of Jay and Negrut: nothing builds up over 5000 steps of 2^-10."""
    assert max(drift(scheme, 2.0**-10, 5000)) < 1e-12


def test_drift_of_the_index_3_scheme():
    """g is kept; its rate is not, and falls as h^2 (no faster: the scheme has no control of it)."""
    sizes = 2.0 ** -np.array([7, 8, 9])
    residuals = np.array([drift("GenAlphaI3", h, round(2.0 / h), 1) for h in sizes])
    assert residuals[:, 0].max() < 1e-12
    slope = np.polyfit(np.log(sizes), np.log(residuals[:, 1]), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.1)
    assert residuals[-1, 1] > 1e-9
