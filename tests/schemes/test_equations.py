"""The numbers of random steps put into the papers' equations, as printed."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, mechanisms
from genalpha.numerics.accuracy import FULL
from genalpha.numerics.coefficients import Coefficients
from tests.schemes.support import random_sizes, residual
from tests.schemes.support import steps as steps_of

H, COUNT = 1e-2, 12
#: What rounding of a position does to an acceleration: a few times eps / (h^2 beta), for the
#: smallest of the random steps.
ROUNDING = 10.0 * 2.2e-16 / ((H / 2.0) ** 2 / 4.0)

ANY = [
    "jay_negrut_test",
    "jay_test",
    "hht_test",
    "simple_pendulum",
    "four_bar",
    "driven_pendulum",
    "rolling_disk",
    "knife_edge",
    "slider_crank",
]
HOLONOMIC = ["hht_test", "simple_pendulum", "four_bar", "driven_pendulum"]
NONHOLONOMIC = ["jay_test", "rolling_disk", "knife_edge"]


def steps(*arguments, **options):
    """All equations solved to rounding."""
    return steps_of(*arguments, newton_accuracy=FULL, **options)


def unknowns(state, o):
    """(a1_t, lam1_t, psi1_t) and (delta, mu, nu) of a step of GenAlphaSOI2."""
    return state.x.reshape(2, o.n_q + o.n_lam + o.n_psi)


def force_and_reaction(o, t, q, v, lam, psi):
    return o.force(t, q, v) + o.reaction(t, q, v, lam, psi)


@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("name", ANY)
def test_i3_satisfies_1_to_5(name, rho_inf):
    o = getattr(mechanisms, name)()
    c = Coefficients.chung_hulbert(rho_inf)
    sizes = random_sizes(H, 1) * COUNT
    for _, old, new, h in steps(o, sizes, scheme="GenAlphaI3", rho_inf=rho_inf):
        a0, a1, t1 = old.a, new.a, old.t + h
        f = o.force(t1, new.q, new.v)
        r = o.reaction(t1, new.q, new.v, new.lam, new.psi)
        assert residual(o.mass(t1, new.q) @ new.vdot, -f, -r) < ROUNDING  # (1)
        assert np.max(np.abs(o.holonomic(t1, new.q)), initial=0.0) < 1e-13  # (2)
        assert np.max(np.abs(o.nonholonomic(t1, new.q, new.v)), initial=0.0) < 1e-12
        am, af, beta, gamma = c.alpha_m, c.alpha_f, c.beta, c.gamma
        assert (
            residual((1 - am) * a1, am * a0, -(1 - af) * new.vdot, -af * old.vdot) < ROUNDING
        )  # (3)
        q1 = old.q + h * old.v + h**2 * (0.5 - beta) * a0 + h**2 * beta * a1
        assert residual(new.q, -q1) < 1e-14  # (4)
        assert residual(new.v, -(old.v + h * (1 - gamma) * a0 + h * gamma * a1)) < 1e-13  # (5)


@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("name", ANY)
def test_soi2_satisfies_13(name, rho_inf):
    o = getattr(mechanisms, name)()
    c = Coefficients.chung_hulbert(rho_inf)
    am, af, beta, gamma = c.alpha_m, c.alpha_f, c.beta, c.gamma
    last = None
    for _, old, new, h in steps(o, random_sizes(H, COUNT), scheme="GenAlphaSOI2", rho_inf=rho_inf):
        t0, q0, v0, t1, q1, v1 = old.t, old.q, old.v, old.t + h, new.q, new.v
        a0, Ma0 = old.a, old.Ma
        if last is not None:  # (14a), (14b)
            ratio = c.alpha * (h / last.h - 1.0)
            a0 = old.a + ratio * (old.a - last.a_start)
            Ma0 = old.Ma + ratio * (old.Ma - last.Ma_start)
        last = Last(h, a0, Ma0)
        M1 = o.mass(t0 + (1 + c.alpha) * h, q0 + h * (1 + c.alpha) * v0)
        a_t, lam_t, psi_t = np.split(unknowns(new, o)[0], [o.n_q, o.n_q + o.n_lam])
        v_t = v0 + h * ((1 - gamma) * a0 + gamma * a_t)  # (13b)
        assert (
            residual(q1, -(q0 + h * v0 + h**2 / 2 * ((1 - 2 * beta) * a0 + 2 * beta * a_t))) < 1e-14
        )  # (13a)
        assert residual(v1, -(v0 + h * ((1 - gamma) * a0 + gamma * new.a))) < 1e-13  # (13c)
        f0 = force_and_reaction(o, t0, q0, v0, old.lam, old.psi)
        f_t = force_and_reaction(o, t1, q1, v1, lam_t, psi_t)
        f1 = force_and_reaction(o, t1, q1, v1, new.lam, new.psi)
        for a, f in ((a_t, f_t), (new.a, f1)):  # (13d), (13e)
            assert residual((1 - am) * M1 @ a, am * Ma0, -(1 - af) * f, -af * f0) < ROUNDING
        assert np.max(np.abs(o.holonomic(t1, q1)), initial=0.0) < 1e-13  # (13f)
        assert np.max(np.abs(o.holonomic_rate(t1, q1, v1)), initial=0.0) < 1e-12  # (13g)
        assert np.max(np.abs(o.nonholonomic(t1, q1, v_t)), initial=0.0) < 1e-12  # (13h)
        assert np.max(np.abs(o.nonholonomic(t1, q1, v1)), initial=0.0) < 1e-12  # (13i)
        if not o.n_lam:  # then it is (2.3) of Jay: no second solution
            np.testing.assert_array_equal(a_t, new.a)


class Last:
    """What the step before started with, for the adjusting formulas."""

    def __init__(self, h, a_start, Ma_start):
        self.h, self.a_start, self.Ma_start = h, a_start, Ma_start


def test_soi2_with_hht_coefficients_is_17():
    """(17c): M delta = g_q^T mu with mu = (1 + alpha) (lam1 - lam1_t)."""
    o = mechanisms.four_bar()
    alpha = -0.2
    for _, old, new, h in steps(o, random_sizes(H, COUNT), scheme="GenAlphaSOI2", alpha=alpha):
        M = o.mass(old.t + (1 + alpha) * h, old.q + h * (1 + alpha) * old.v)
        a_t, lam_t = np.split(unknowns(new, o)[0], [o.n_q])
        mu = (1 + alpha) * (new.lam - lam_t)
        reactions = o.holonomic_jacobian(new.t, new.q).T @ mu
        assert residual(M @ a_t, -M @ new.a, -reactions) < ROUNDING  # (17c)
        f0 = force_and_reaction(o, old.t, old.q, old.v, old.lam, old.psi)
        f1 = force_and_reaction(o, new.t, new.q, new.v, new.lam, new.psi)
        assert residual(M @ new.a, -(1 + alpha) * f1, alpha * f0) < ROUNDING  # (17d)


@pytest.mark.parametrize(
    ("variant", "b"),
    [("end", 0.0), ("end", 0.3), ("end", 1.0), ("predicted", 0.3), ("midpoint", 0.0)],
)
@pytest.mark.parametrize("alpha", [0.0, -0.15, -0.3])
@pytest.mark.parametrize("name", HOLONOMIC)
def test_hhti2_satisfies_3_4(name, alpha, variant, b):
    o = getattr(mechanisms, name)()
    c = Coefficients.hht(alpha)
    beta, gamma, psi = c.beta, c.gamma, np.zeros(0)
    last_h = None

    def f(t, q, v):
        return np.linalg.solve(o.mass(t, q), o.force(t, q, v))

    def r(t, q, v, lam):
        return np.linalg.solve(o.mass(t, q), o.reaction(t, q, v, lam, psi))

    for _, old, new, h in steps(
        o, random_sizes(H, COUNT), scheme="HHTI2", alpha=alpha, b=b, variant=variant
    ):
        t0, q0, v0, t1, q1, v1 = old.t, old.q, old.v, old.t + h, new.q, new.v
        f0, a0 = f(t0, q0, v0), old.a
        if last_h is not None:
            a0 = f0 + h / last_h * (old.a - f0)  # (2.3)
        last_h = h
        a1, L0, L1, _ = np.split(new.x, np.cumsum([o.n_q, o.n_lam, o.n_lam]))
        R0 = r(t0, q0, v0, L0)
        if variant == "midpoint":  # U follows h^2/2 in (3.4a), W follows h in (3.4b)
            U, W = R0, r(t0 + h / 2, (q0 + q1) / 2, (v0 + v1) / 2, L1)
        else:
            R1 = r(t1, q1 if variant == "end" else q0 + h * v0, v1, L1)
            U, W = (1 - b) * R0 + b * R1, 0.5 * (R0 + R1)
        q = q0 + h * v0 + h**2 / 2 * ((1 - 2 * beta) * a0 + 2 * beta * a1) + h**2 / 2 * U
        assert residual(q1, -q) < 1e-14  # (3.4a)
        assert residual(v1, -(v0 + h * ((1 - gamma) * a0 + gamma * a1) + h * W)) < 1e-12  # (3.4b)
        assert residual(a1, -(1 + alpha) * f(t1, q1, v1), alpha * f0) < ROUNDING  # (3.4c)
        assert np.max(np.abs(o.holonomic(t1, q1))) < 1e-13  # (3.4e)
        assert np.max(np.abs(o.holonomic_rate(t1, q1, v1))) < 1e-12


@pytest.mark.parametrize("alpha", [0.0, -0.15, -0.3])
@pytest.mark.parametrize("name", NONHOLONOMIC)
def test_hhti2_satisfies_section_6(name, alpha):
    o = getattr(mechanisms, name)()
    c = Coefficients.hht(alpha)
    beta, gamma, none = c.beta, c.gamma, np.zeros(0)
    sizes = [H] * COUNT
    for _, old, new, h in steps(o, sizes, scheme="HHTI2", alpha=alpha):
        t0, q0, v0, t1, q1, v1 = old.t, old.q, old.v, old.t + h, new.q, new.v
        a1, P = np.split(new.x, [o.n_q])
        t_mid, q_mid, v_mid = t0 + h / 2, q0 + h / 2 * v0, (v0 + v1) / 2
        R = np.linalg.solve(o.mass(t_mid, q_mid), o.reaction(t_mid, q_mid, v_mid, none, P))
        f0 = np.linalg.solve(o.mass(t0, q0), o.force(t0, q0, v0))
        f1 = np.linalg.solve(o.mass(t1, q1), o.force(t1, q1, v1))
        newmark = (1 - 2 * beta) * old.a + 2 * beta * a1
        assert residual(q1, -(q0 + h * v0 + h**2 / 2 * newmark + h**2 / 2 * R)) < 1e-14
        assert residual(v1, -(v0 + h * ((1 - gamma) * old.a + gamma * a1) + h * R)) < 1e-12
        assert residual(a1, -(1 + alpha) * f1, alpha * f0) < ROUNDING
        assert np.max(np.abs(o.nonholonomic(t1, q1, v1))) < 1e-12


@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_without_damping_unconstrained_is_the_trapezoidal_rule(scheme):
    """For alpha_m = alpha_f (rho_inf = 1) and plain Newmark the schemes are old acquaintances."""
    o = Mechanism(
        force=lambda t, q, v: np.array([-(q[0] ** 3) - 0.1 * v[0], -4.0 * q[1] + np.sin(t)]),
        q0=[1.0, 0.5],
        v0=[0.0, 0.2],
    )
    options = {"alpha": 0.0} if scheme == "HHTI2" else {"coefficients": Coefficients.trapezoidal()}
    for _, old, new, h in steps(o, [0.05] * 10, scheme=scheme, **options):
        acceleration = o.force(old.t, old.q, old.v) + o.force(new.t, new.q, new.v)
        assert residual(new.q, -(old.q + h / 2 * (old.v + new.v))) < 1e-12
        assert residual(new.v, -(old.v + h / 2 * acceleration)) < 1e-12


def test_stoermers_rule_where_the_scheme_allows_it():
    """beta = 0, gamma = 1/2: q1 - 2 q0 + q_{-1} = h^2 f0 for forces that depend on q only."""
    o = Mechanism(force=lambda t, q, v: -(q**3), q0=[1.0, 0.5], v0=[0.0, 0.2])
    states = [
        new
        for _, _, new, _ in steps(
            o, [0.05] * 6, scheme="GenAlphaSOI2", coefficients=Coefficients.stoermer()
        )
    ]
    for before, at, after in zip(states, states[1:], states[2:], strict=False):
        assert residual(after.q, -2 * at.q, before.q, 0.05**2 * at.q**3) < 1e-14
