"""The printed equations in other forms: they have the orders that the pages tell."""

from __future__ import annotations

import numpy as np
import pytest

from comparisons.papers import mukharlyamov, variants
from comparisons.papers.variants import errors_13, errors_34, run_13
from genalpha import Coefficients, Gains, integrate, mechanisms

C = Coefficients.chung_hulbert(0.2)


def test_the_printed_scheme_is_that_of_the_package() -> None:
    """Constant steps, plain start, M_alpha of the step before."""
    o, count, h = mechanisms.jay_negrut_test(), 8, 0.02
    points = run_13(o, C, [h] * count, "plain", False)
    s = integrate(
        o, count * h, "GenAlphaSOI2", h, coefficients=C, start="plain", newton_accuracy=1e-13
    )
    for name in ("q", "v", "a", "lam", "psi"):
        found = np.array([getattr(point, name) for point in points])
        np.testing.assert_allclose(found, getattr(s, name), atol=1e-9)


@pytest.mark.parametrize("anew", [False, True])
def test_both_mass_matrices_are_of_second_order(anew: bool) -> None:
    o, found = mechanisms.jay_negrut_test(), []
    for count in (10, 20):
        sizes = [0.5 / count / 3.0, 1.0 / count / 3.0] * count
        found.append(errors_13(o, C, sizes, run_13(o, C, sizes, "shifted", anew)))
    coarse, fine = found
    assert all(3.2 < coarse[x] / fine[x] < 5.0 for x in ("q", "v", "a", "psi"))


@pytest.mark.parametrize(("start", "order"), [("plain", 1), ("shifted", 2), ("implicit", 2)])
def test_starts_with_alpha_m_zero(start: str, order: int) -> None:
    """Theorem 1 of 2008 says order 2 of the plain one."""
    o, c, found = mechanisms.pendulum_jn(), Coefficients.hht(-0.1), []
    for count in (8, 16):
        sizes = [0.02 / count] * count
        found.append(errors_13(o, c, sizes, run_13(o, c, sizes, start, False)))
    for name in ("a", "lam"):
        assert np.log2(found[0][name] / found[1][name]) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize(("b", "one"), [(0.3, False), (0.3, True), (0.5, True)])
def test_lunk_and_simeon(b: float, one: bool) -> None:
    o = mechanisms.simple_pendulum()
    coarse, fine = (errors_34(o, b, one, n, 0.5) for n in (20, 40))
    assert all(3.0 < coarse[x] / fine[x] < 5.0 for x in ("q", "v", "mean of Lambda"))


def test_with_b_zero_they_are_the_same() -> None:
    o = mechanisms.simple_pendulum()
    ours, theirs = (errors_34(o, 0.0, one, 10, 0.5) for one in (False, True))
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_what_a_refused_root_would_do() -> None:
    """Jay's r_gamma at work: lam of the printed scheme (13) grows by 7/3 in every step."""
    c = Coefficients(0.3, 0.1, 0.16, 0.3)
    points = run_13(mechanisms.simple_pendulum(), c, [1e-3] * 20, "plain", False)
    steps = np.diff([point.lam[0] for point in points])[13:]
    np.testing.assert_allclose(np.abs(steps[1:] / steps[:-1]), 7.0 / 3.0, rtol=0.01)


def test_bounds_as_printed() -> None:
    sharp, loose = mukharlyamov.sharp(), mukharlyamov.loose()
    for run in (sharp, loose):
        assert run.printed == pytest.approx(run.guaranteed[0])
        assert run.printed_derivative == pytest.approx(run.printed, rel=0.05)
    assert np.abs(sharp.deviation).max() == pytest.approx(sharp.printed, rel=1e-3)
    assert np.abs(loose.deviation).max() < 0.3 * loose.printed


def test_printed_conditions_fail_with_holonomic_constraints() -> None:
    gains = Gains.baumgarte(20.0)
    run = mukharlyamov.run(mechanisms.simple_pendulum(), 0.05, mukharlyamov.EULER, 1e-3, gains)
    assert run.norm > 1.0
    assert run.printed == np.inf
    assert run.contraction < 1.0


def test_small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "COUNTS", (4, 6))
    for rows, count in ((variants.mass_choices(), 4), (variants.lunk_simeon(), 14)):
        assert len(rows) == count
        assert all(np.isfinite(list(row.errors.values())).all() for row in rows)
