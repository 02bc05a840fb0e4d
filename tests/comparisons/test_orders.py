"""Order of convergence in every component, with constant and with changing steps."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from genalpha import mechanisms
from genalpha.numerics.accuracy import FULL
from tests.schemes.support import alternating_sizes, equal_sizes, steps

COMPONENTS = ("q", "v", "a", "lam", "psi")
#: Mechanism -> length of the run, number of steps of the coarsest run.
PROBLEMS = {
    "jay_negrut_test": (1.0, 100),
    "jay_test": (1.0, 300),
    "hht_test": (1.0, 160),
    "pendulum_jn": (0.5, 200),
    "rolling_disk": (0.8, 100),
}
REFINEMENTS = (1.0, 1.3, 1.7, 2.2, 3.0)


@cache
def mechanism(name):
    return getattr(mechanisms, name)()


def true_a(o, scheme, t):
    """The function that `a` approximates: the acceleration, or for HHTI2 its part from forces."""
    motion = o.reference.motion(t)
    if scheme != "HHTI2":
        return motion.vdot
    return np.linalg.solve(o.mass(t, motion.q), o.force(t, motion.q, motion.v))


def errors(name, sizes, **options):
    """Largest error of each component at the same three times of every run, and a step earlier.

    One time would do, were it not for errors that change their sign just there; the step earlier
    is for alternating steps, both of which must be good. All times are late, because errors of
    the start die out only as n^2 rho_inf^n. Newton's iteration solves to rounding, because its
    default accuracy shows in the multipliers of the finest steps.
    """
    o = mechanism(name)
    options = {"newton_accuracy": FULL, **options}
    found = np.zeros(5)
    times = {len(sizes) * k // 8 for k in range(6, 9)}
    for number, (stepper, _, state, h) in enumerate(steps(o, sizes, **options), start=1):
        if not {number, number + 1} & times:
            continue
        truth = o.reference.motion(state.t)
        knot = stepper.knot()
        alpha = stepper.settings.coefficients.alpha
        a = true_a(o, options["scheme"], state.t + alpha * h)
        pairs = (
            (knot.q, truth.q),
            (knot.v, truth.v),
            (state.a, a),
            (knot.lam, truth.lam),
            (knot.psi, truth.psi),
        )
        found = np.maximum(found, [np.linalg.norm(x - y) for x, y in pairs])
    return found


def orders(name, sizes_of, **options):
    """Slopes of log error over log h, by regression; NaN where there is no such component."""
    length, coarsest = PROBLEMS[name]
    counts = [8 * round(coarsest * r / 8) for r in REFINEMENTS]
    table = np.array([errors(name, sizes_of(length, count), **options) for count in counts])
    there = table.min(axis=0) > 0.0
    slopes = np.full(5, np.nan)
    slopes[there] = np.polyfit(-np.log(counts), np.log(table[:, there]), 1)[0]
    return dict(zip(COMPONENTS, slopes, strict=True))


def check_second_order(slopes, components=COMPONENTS):
    wrong = {
        key: round(float(slopes[key]), 3)
        for key in components
        if np.isfinite(slopes[key]) and not 1.9 <= slopes[key] <= 2.15
    }
    assert not wrong, wrong


SIZES = pytest.mark.parametrize("sizes_of", [equal_sizes, alternating_sizes])
NAMES = pytest.mark.parametrize("name", PROBLEMS)


@SIZES
@NAMES
@pytest.mark.parametrize("rho_inf", [0.0, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2"])
def test_generalized_alpha_is_second_order(scheme, rho_inf, name, sizes_of):
    slopes = orders(name, sizes_of, scheme=scheme, rho_inf=rho_inf)
    if (scheme, rho_inf, name) == ("GenAlphaI3", 0.8, "hht_test"):
        del slopes["q"], slopes["v"]  # see the next test
    check_second_order(slopes, slopes)


def test_order_where_the_leading_error_almost_vanishes():
    """GenAlphaI3 on hht_test with rho_inf = 0.8 shows its order in q and v for small steps only."""
    counts = [800, 960, 1120, 1360, 1600]
    table = np.array(
        [
            errors("hht_test", equal_sizes(1.0, count), scheme="GenAlphaI3", rho_inf=0.8)[:2]
            for count in counts
        ]
    )
    slopes = np.polyfit(-np.log(counts), np.log(table), 1)[0]
    assert np.all((slopes >= 1.9) & (slopes <= 2.15)), slopes


@SIZES
@pytest.mark.parametrize("name", [n for n in PROBLEMS if n != "jay_negrut_test"])
@pytest.mark.parametrize("alpha", [0.0, -0.1, -0.3])
def test_hht_is_second_order(alpha, name, sizes_of):
    slopes = orders(name, sizes_of, scheme="HHTI2", alpha=alpha)
    check_second_order(slopes, COMPONENTS if alpha else ("q", "v"))


@SIZES
@pytest.mark.parametrize(
    ("variant", "b"), [("end", 0.3), ("end", 1.0), ("predicted", 0.3), ("midpoint", 0.0)]
)
def test_variants_of_hht_are_second_order(variant, b, sizes_of):
    check_second_order(
        orders("hht_test", sizes_of, scheme="HHTI2", alpha=-0.15, b=b, variant=variant)
    )


def test_without_adjustment_a_and_multipliers_are_first_order():
    """Fig. 2 of Jay and Negrut (2008), beside Fig. 1."""
    slopes = orders(
        "jay_negrut_test", alternating_sizes, scheme="GenAlphaSOI2", rho_inf=0.2, adjust_steps=False
    )
    check_second_order(slopes, ("q", "v"))
    for key in ("a", "lam", "psi"):
        assert 0.85 <= slopes[key] <= 1.15, slopes


def test_without_adjustment_hht_is_first_order():
    """Fig. 5.3 of Jay and Negrut (2007), beside Fig. 5.4."""
    slopes = orders(
        "hht_test", alternating_sizes, scheme="HHTI2", alpha=-0.15, b=0.3, adjust_steps=False
    )
    for key in ("q", "v", "a"):
        assert 0.85 <= slopes[key] <= 1.2, slopes


@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_shifted_start_is_second_order_at_once(scheme):
    """The starting `a` itself, and the multiplier of the very first step."""
    o = mechanism("hht_test")
    sizes = np.array([0.02, 0.01, 0.005, 0.0025])
    a_errors, lam_errors = {}, {}
    for start in ("shifted", "plain"):
        a_errors[start], lam_errors[start] = [], []
        for h in sizes:
            stepper, old, _, _ = next(steps(o, [h], scheme=scheme, start=start))
            alpha = stepper.settings.coefficients.alpha
            truth = true_a(o, scheme, o.t0 + alpha * h)
            a_errors[start].append(np.linalg.norm(old.a - truth))
            lam = o.reference.motion(o.t0 + h).lam
            lam_errors[start].append(np.linalg.norm(stepper.knot().lam - lam))

    def slope(errors):
        return np.polyfit(np.log(sizes), np.log(errors), 1)[0]

    assert 1.9 <= slope(a_errors["shifted"]) <= 2.1
    assert 0.9 <= slope(a_errors["plain"]) <= 1.1
    assert slope(lam_errors["shifted"]) >= 1.9
    if scheme != "HHTI2":  # its multipliers come from the constraints at acceleration level
        assert slope(lam_errors["plain"]) <= 1.2
