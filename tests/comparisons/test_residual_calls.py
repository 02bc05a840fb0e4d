"""The comparison of calls at equal error."""

from __future__ import annotations

import pytest

from comparisons import residual_calls
from comparisons.residual_calls import CASES, Run, at, measured, run
from genalpha import integrate


def test_costs_are_interpolated_at_the_same_error():
    """Calls that grow as error^(-1/2): the value between two runs is exact."""
    runs = [Run(1e-1, 100.0, 1.0), Run(1e-3, 1000.0, 10.0), Run(1e-5, 10000.0, 100.0)]
    found = at(runs, 1e-2)
    assert found is not None
    assert found.calls == pytest.approx(1000.0 / 10.0**0.5)
    assert found.cpu == pytest.approx(10.0 / 10.0**0.5)
    assert at(runs, 1e-6) is None
    first = at(runs, 1.0)
    assert first is not None and first.calls == 100.0


def test_a_run_counts_from_the_constructor_on():
    make, end = CASES["pendulum"]
    mechanism = make()
    truth = integrate(mechanism, 0.01 * end, rtol=1e-8)
    found = run("GenAlphaI3", "ind3", mechanism, 0.01 * end, 1e-2, truth)
    assert 0.0 < found.error <= found.largest < 1e-2
    assert found.calls >= 2 * mechanism.n_q + mechanism.n_lam


def test_a_run_that_takes_too_many_calls_stays_with_its_reason(monkeypatch):
    """Whatever a solver makes of an exception in res, its run ends.

    Where none has gone well, tighter tolerances are tried, too: loose ones may be the wild ones.
    """
    monkeypatch.setattr(residual_calls, "MOST_CALLS", 40)
    make, end = CASES["pendulum"]
    mechanism = make()
    for key in (("GenAlphaI3", "ind3"), ("ODASSL", "ovstab2")):
        found = measured(key, mechanism, end, None, False)
        assert not found.runs
        assert found.failures == [(x, "more than 40 calls") for x in residual_calls.TOLERANCES]
