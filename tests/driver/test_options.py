"""Options of `integrate`: what is refused, and by which name."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import Coefficients, integrate
from genalpha.driver import UndampedWarning
from genalpha.driver.options import Options, Owner, options_of
from genalpha.errors import GenAlphaError, InvalidOptionError, UnsupportedProblemError
from genalpha.schemes import SCHEMES
from tests.driver.support import mechanism, oscillator, pendulum


def faults(*arguments, **options):
    with pytest.raises(InvalidOptionError) as caught:
        integrate(*arguments, **options)
    return caught.value.faults


def test_all_faulty_options_in_one_error():
    found = faults(
        pendulum(),
        1.0,
        "Euler",
        h=0.1,
        start="cold",
        jacobian="never",
        rho_inf=1.5,
        alpha=0.2,
        newton_accuracy=0.0,
        max_iterations=0,
    )
    names = ("scheme", "start", "jacobian", "alpha and rho_inf", "rho_inf", "alpha")
    names += ("newton_accuracy", "max_iterations")
    assert len(found) == len(names)
    for name in names:
        assert any(fault.startswith(name) for fault in found), name


def test_all_faulty_times_and_tolerances_in_one_error():
    found = faults(
        pendulum(), np.inf, atol=[1.0, -1.0], rtol=-1.0, inith=np.nan, maxh=-1.0, maxsteps=0
    )
    for name in ("t_final", "atol", "rtol", "inith", "maxh", "maxsteps"):
        assert any(fault.startswith(name) for fault in found), name
    assert len(found) == 6


def test_faults_of_all_kinds_in_one_error():
    found = faults(pendulum(), 1.0, start="cold", tol=1e-3, t_eval=[0.5, 1.5], rtol=-1.0, h=None)
    starts = ("t_eval", "unknown option 'tol'", "start", "rtol")
    assert len(found) == len(starts)
    for start in starts:
        assert any(fault.startswith(start) for fault in found), start


def test_no_tolerance_at_all():
    assert "no error would be allowed" in faults(pendulum(), 1.0, rtol=0.0, atol=0.0)[0]
    assert "expected numbers >= 0" in faults(pendulum(), 1.0, atol=[1, 1, 1, 1, np.nan])[0]


def test_unknown_options_are_all_named():
    found = faults(pendulum(), 1.0, h=0.1, rho=0.5, tol=1e-3)
    assert [fault.split(";")[0] for fault in found] == [
        "unknown option 'rho'",
        "unknown option 'tol'",
    ]
    assert "rho_inf" in found[0]


@pytest.mark.parametrize("h", [0.0, np.nan, np.inf, [], [0.5, 0.0, 0.5]])
def test_step_sizes_that_are_none(h):
    assert "expected nonzero, finite step sizes" in faults(pendulum(), 1.0, h=h)[0]


@pytest.mark.parametrize("t_final", [0.0, np.nan])
def test_no_interval(t_final):
    assert faults(pendulum(), t_final, h=0.1)[0].startswith("t_final")


def test_step_sizes_that_do_not_add_up():
    text = "the step sizes h add up to 0.9; they must add up to t_final - t0 = 1"
    assert faults(pendulum(), 1.0, h=[0.5, 0.4])[0] == text
    assert "t_final - t0 = -1" in faults(pendulum(), -1.0, h=[0.5, 0.5])[0]


@pytest.mark.parametrize("t_eval", [[], [0.5, 1.5], [-0.1], [[0.5]], [0.5, np.nan]])
def test_times_out_of_the_interval(t_eval):
    assert faults(pendulum(), 1.0, h=0.1, t_eval=t_eval)[0].startswith("t_eval")


@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2"])
@pytest.mark.parametrize(
    ("coefficients", "condition"),
    [
        (Coefficients(0.1, 0.2, 0.3, 0.7), "order-2 condition"),
        (Coefficients(0.6, 0.7, 0.4, 0.6), "zero stability"),
        (Coefficients.stoermer(), "beta = 0"),
    ],
)
def test_refused_coefficients_name_the_condition(scheme, coefficients, condition):
    found = faults(pendulum(), 1.0, scheme, h=0.1, coefficients=coefficients)
    assert any(condition in fault for fault in found)


def test_several_conditions_at_once():
    bad = Coefficients(0.6, 0.7, 0.0, 0.7)
    assert len(faults(pendulum(), 1.0, "GenAlphaI3", h=0.1, coefficients=bad)) == 3


def test_instability_at_infinity_matters_with_constraints_only():
    wild = Coefficients(0.0, 0.0, 0.2, 0.5)  # Newmark with beta < 1/4: a root of -2.6
    assert "Lemma 1" in faults(pendulum(), 1.0, "GenAlphaI3", h=0.1, coefficients=wild)[0]
    integrate(oscillator(), 1.0, "GenAlphaI3", h=0.1, coefficients=wild)


def test_contraction_factors_of_the_nonholonomic_theorem():
    skate = mechanism("knife_edge")
    wild = Coefficients(0.45, 0.6, 0.5, 0.65)
    assert any(
        "r_alpha_f" in fault and "= 1.5:" in fault
        for fault in faults(skate, 1.0, "GenAlphaSOI2", h=0.1, coefficients=wild)
    )


def test_stoermer_without_constraints():
    """beta = 0 is allowed there in GenAlphaSOI2, far from the origin too."""
    o = oscillator(2.0).replace(q0=[50.0], stiffness=None, damping=None)
    solution = integrate(o, 1.0, h=0.01, coefficients=Coefficients.stoermer())
    assert abs(solution.q[-1, 0] - 50 * np.cos(2.0)) < 50 * 2e-4
    assert (
        "beta = 0" in faults(o, 1.0, "GenAlphaI3", h=0.1, coefficients=Coefficients.stoermer())[0]
    )


@pytest.mark.parametrize("rho_inf", [0.0, 0.2, 0.8])
def test_hht_wants_coefficients_of_hht(rho_inf):
    """Also where alpha_m - alpha_f is no alpha of HHT; rho_inf = 1/2 is HHT with alpha = -1/3."""
    c = Coefficients.chung_hulbert(rho_inf)
    found = faults(pendulum(), 1.0, "HHTI2", h=0.1, coefficients=c)
    assert "are not those of HHT; give alpha, or take GenAlphaSOI2" in found[0]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"b": 0.5}, "b = 0.5; expected a finite number other than 0.5"),
        ({"b": np.nan}, "b = nan"),
        ({"b": 1e300}, "b = 1e+300; expected at most 1e+06 in size"),
        ({"b": -1e7}, "b = -10000000; expected at most 1e+06 in size"),
        ({"b": 0.5 + 1e-12}, "not within 1e-06 of 1/2"),
        ({"variant": "start"}, "variant = 'start'; expected one of 'end'"),
        ({"variant": "midpoint", "b": 0.3}, "expected 0 with the variant 'midpoint'"),
    ],
)
def test_options_of_hht(options, fault):
    assert fault in faults(pendulum(), 1.0, "HHTI2", h=0.1, **options)[0]


@pytest.mark.parametrize("options", [{"b": 0.3}, {"variant": "midpoint"}])
def test_options_of_hht_that_nonholonomic_constraints_do_not_have(options):
    (name,) = options
    found = faults(mechanism("knife_edge"), 1.0, "HHTI2", h=0.1, **options)
    assert found[0].startswith(name) and "for holonomic constraints" in found[0]


@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        ("GenAlphaI3", {"variant": "end"}),
        ("GenAlphaSOI2", {"b": 0.0}),
        ("HHTI2", {"rho_inf": 0.5}),
        ("GenAlphaI3", {"gains": "auto"}),
    ],
)
def test_options_of_other_schemes_are_refused_by_name(scheme, options):
    (name,) = options
    found = faults(pendulum(), 1.0, scheme, h=0.1, **options)
    assert (
        found[0].startswith(f"unknown option {name!r}; {scheme} has ") or "did you mean" in found[0]
    )


def test_bad_values_are_refused_where_they_are_not_used_too():
    found = faults(pendulum(), 1.0, h=0.1, rtol=-1, maxsteps=-5)
    assert [fault.split(" ")[0] for fault in found] == ["rtol", "maxsteps"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_option_takes_what_it_says_and_refuses_the_rest(scheme):
    """By the examples of each kind; None and bad values are told with name and value."""
    o = pendulum()
    size = Owner(2 * o.n_q + o.n_lam)
    for option in options_of(SCHEMES[scheme]):
        good, bad = option.kind.examples(size)
        for value in good:
            chosen = Options(scheme, o, **{option.name: value})
            assert not [x for x in chosen.faults if "PyKLU" not in x], (option.name, value)
        for value in bad:
            (fault,) = Options(scheme, o, **{option.name: value}).faults
            assert fault.startswith(f"{option.name} = {value!r:.80}; expected "), fault
        assert len(option.doc) > 30


def test_aliases_and_words_in_capitals():
    chosen = Options("GenAlphaI3", newt=7, linear_solver="DENSE", maxsteps=1e6)
    assert not chosen.faults
    assert (chosen.max_iterations, chosen.linear_solver, chosen.maxsteps) == (7, "DENSE", 10**6)


def test_hht_with_both_kinds_of_constraints():
    with pytest.raises(UnsupportedProblemError, match="GenAlphaSOI2 takes both"):
        integrate(mechanism("jay_negrut_test"), 1.0, "HHTI2", h=0.1)


def test_no_damping_warns_in_the_index_3_scheme():
    with pytest.warns(UndampedWarning, match="rho_inf = 1") as record:
        integrate(pendulum(), 0.1, "GenAlphaI3", h=0.01, rho_inf=1.0)
    assert len(record) == 1
    # elsewhere it does not: warnings are errors here
    integrate(pendulum(), 0.1, "GenAlphaSOI2", h=0.01, rho_inf=1.0)
    integrate(oscillator(), 0.1, "GenAlphaI3", h=0.01, rho_inf=1.0)
    integrate(pendulum(), 0.1, "GenAlphaI3", h=0.01, rho_inf=0.99)


def test_coefficients_in_all_ways():
    ways = [
        {"rho_inf": 0.5},
        {"coefficients": Coefficients.chung_hulbert(0.5)},
        {"coefficients": Coefficients(0.0, 1 / 3, 4 / 9, 5 / 6)},
    ]
    ends = [integrate(pendulum(), 0.5, h=0.05, **way).q[-1] for way in ways]
    np.testing.assert_allclose(ends, [ends[0]] * 3, rtol=1e-13)
    other = integrate(pendulum(), 0.5, h=0.05, alpha=-0.1).q[-1]
    assert np.abs(other - ends[0]).max() > 1e-6


def test_errors_have_one_base():
    with pytest.raises(GenAlphaError):
        integrate(pendulum(), 1.0, h=0.0)
    with pytest.raises(ValueError, match="h = 0"):
        integrate(pendulum(), 1.0, h=0.0)
