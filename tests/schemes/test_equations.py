"""The numbers of random steps put into the papers' equations, as printed in the scheme files."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Mechanism, mechanisms
from genalpha.errors import UnsupportedProblemError
from genalpha.numerics.coefficients import Coefficients
from genalpha.schemes import SCHEMES
from genalpha.schemes.printed import Equation
from tests.schemes.support import random_sizes, residual, steps

H, COUNT = 1e-2, 12
#: What rounding of a position does to an acceleration: a few times eps / (h^2 beta), for the
#: smallest of the random steps.
ROUNDING = 10.0 * 2.2e-16 / ((H / 2.0) ** 2 / 4.0)
#: What may be left of an equation, by its level.
ALLOWED = {"position": 1e-14, "velocity": 1e-12, "acceleration": ROUNDING, "constraint": 1e-12}

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
#: Options worth a look beside the defaults, for schemes that have them.
SETTINGS = (
    {},
    {"rho_inf": 0.0},
    {"rho_inf": 0.5},
    {"rho_inf": 0.9},
    {"alpha": 0.0},
    {"alpha": -0.3},
    {"alpha": -0.15, "b": 0.3},
    {"b": 1.0},
    {"alpha": -0.3, "variant": "predicted", "b": 0.3},
    {"variant": "midpoint"},
    {"variant": "predicted midpoint", "alpha": -0.2},
    {"adjustment": "a"},
    {"adjustment": "gamma", "rho_inf": 0.2},
)


def cases():
    """All schemes on the mechanisms that they take, with the options that they have."""
    for scheme in SCHEMES.values():
        has = {option.name for option in scheme.options}
        for name in ANY:
            try:
                form = scheme.fitting(getattr(mechanisms, name)())
            except UnsupportedProblemError:
                continue
            for given in SETTINGS:
                only_holonomic = {"b", "variant"} & set(given) and form is not scheme
                if set(given) <= has and not only_holonomic:
                    marks = ",".join(f"{key}={value}" for key, value in given.items())
                    yield pytest.param(scheme.name, name, given, id=f"{scheme.name}-{name}-{marks}")


def check(scheme, name, sizes, **options):
    """Put every step into the printed equations; return their numbers."""
    o, checked = getattr(mechanisms, name)(), set()
    for at_work, old, new, _ in steps(o, sizes, scheme=scheme, **options):
        for number, equation in at_work.printed(o, at_work.settings, old, new).items():
            found = equation.residual()
            assert found < ALLOWED[equation.level], (number, found)
            checked.add(number)
    return checked


@pytest.mark.parametrize(("scheme", "name", "given"), list(cases()))
def test_steps_satisfy_the_printed_equations(scheme, name, given):
    """Equal steps, and steps of random sizes with and without adjusting formulas."""
    try:
        numbers = check(scheme, name, random_sizes(H, 1) * COUNT, **given)
    except UnsupportedProblemError as error:  # massless coordinates
        pytest.skip(str(error))
    assert len(numbers) >= 4
    assert check(scheme, name, random_sizes(H, COUNT), **given) <= numbers
    if any(option.name == "adjust_steps" for option in SCHEMES[scheme].options):
        unadjusted = {"adjust_steps": False, **given}
        assert check(scheme, name, random_sizes(H, COUNT), **unadjusted) == numbers


def test_a_wrong_step_does_not():
    """The residuals see a relative error of 1e-7 in any of the numbers."""
    o = mechanisms.jay_negrut_test()
    for scheme in ("GenAlphaI3", "GenAlphaSOI2"):
        at_work, old, new, _ = next(steps(o, [H], scheme=scheme))
        for key in ("q", "v", "a"):
            kept = getattr(new, key)
            setattr(new, key, kept * (1.0 + 1e-7))
            found = at_work.printed(o, at_work.settings, old, new)
            assert any(x.residual() > ALLOWED[x.level] for x in found.values()), key
            setattr(new, key, kept)


def test_residuals_of_equations():
    assert Equation("position", (np.array([1.0, 4.0]), np.array([-1.0, -3.0]))).residual() == 0.25
    assert Equation("constraint", (np.array([-2.0, 1.0]),)).residual() == 2.0
    assert Equation("constraint", (np.zeros(0),)).residual() == 0.0


def test_soi2_without_holonomic_constraints_is_jays():
    """(2.3) of Jay: there is no second solution."""
    o = mechanisms.jay_test()
    for _, _, new, _ in steps(o, random_sizes(H, COUNT), scheme="GenAlphaSOI2"):
        np.testing.assert_array_equal(new.x[: o.n_q], new.a)


def force_and_reaction(o, t, q, v, lam, psi):
    return o.force(t, q, v) + o.reaction(t, q, v, lam, psi)


def test_soi2_with_hht_coefficients_is_17():
    """(17c): M delta = g_q^T mu with mu = (1 + alpha) (lam1 - lam1_t)."""
    o = mechanisms.four_bar()
    alpha = -0.2
    for _, old, new, h in steps(o, random_sizes(H, COUNT), scheme="GenAlphaSOI2", alpha=alpha):
        M = o.mass(old.t + (1 + alpha) * h, old.q + h * (1 + alpha) * old.v)
        a_t, lam_t = np.split(new.x[: o.n_q + o.n_lam], [o.n_q])
        mu = (1 + alpha) * (new.lam - lam_t)
        reactions = o.holonomic_jacobian(new.t, new.q).T @ mu
        assert residual(M @ a_t, -M @ new.a, -reactions) < ROUNDING  # (17c)
        f0 = force_and_reaction(o, old.t, old.q, old.v, old.lam, old.psi)
        f1 = force_and_reaction(o, new.t, new.q, new.v, new.lam, new.psi)
        assert residual(M @ new.a, -(1 + alpha) * f1, alpha * f0) < ROUNDING  # (17d)


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
