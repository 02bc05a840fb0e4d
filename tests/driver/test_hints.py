"""The slow path says so: which derivatives are missing, and how often their differences call."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest

from genalpha import Mechanism, integrate, mechanisms


def coupled(n: int = 6) -> Mechanism:
    """Springs that nobody has differentiated."""
    return Mechanism(
        force=lambda t, q, v: -100.0 * (q**3).sum() * np.ones(n) - np.sin(q),
        q0=np.linspace(0.1, 0.6, n), v0=np.zeros(n), name="coupled",
    )  # fmt: skip


def test_the_factor_is_that_of_the_calls(caplog: pytest.LogCaptureFixture) -> None:
    made, calls = coupled(), 0
    force = made._arguments["force"]

    def counted(t, q, v):
        nonlocal calls
        calls += 1
        return force(t, q, v)

    o = made.replace(force=counted)
    calls = 0
    with caplog.at_level(logging.INFO, logger="genalpha"):
        solution = integrate(o, 0.5, h=0.05, jacobian="every iteration")
    text = solution.hint
    assert [record.getMessage() for record in caplog.records] == [f"coupled: {text}"]
    factor = float(re.findall(r"force was called (\S+) times per evaluation", text)[0])
    assert factor == pytest.approx(calls / solution.statistics.nfcns, abs=0.06)
    assert text.endswith("give the mechanism stiffness, damping")


def test_nothing_is_said_where_all_is_given(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="genalpha"):
        solution = integrate(mechanisms.four_bar(), 0.1)
    assert solution.hint == "" and not caplog.records
