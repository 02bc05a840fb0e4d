"""The study of tolerance proportionality, on a few runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from comparisons.names import Form, Setting, Status, Variable
from comparisons.record import Extent, Record
from comparisons.tolerances import Fit, Proportionality, main, rows, study, table


def record(value, q, lam=None, status=Status.OK, mechanism="rolling_disk"):
    error = {Variable.Q: Extent(q, q)}
    if lam is not None:
        error[Variable.LAM] = Extent(lam, lam)
    return Record(
        mechanism, "IDA", Form.IND2, Setting.TOLERANCE, value, 1.0, status, error=error,
        scale={Variable.Q: 2.0, Variable.LAM: 10.0},
        counters=dict.fromkeys(("steps", "rejected"), 10),
    )  # fmt: skip


def test_fit():
    x = np.array([1e-2, 1e-4, 1e-6])
    fit = Fit.through(x, 3.0 * x**0.7)
    assert (fit.slope, fit.constant) == pytest.approx((0.7, 3.0))
    assert np.isnan(Fit.through([1e-2], [1.0]).slope)


def test_what_a_series_shows():
    runs = [record(x, 2.0 * 5.0 * x ** (2 / 3), 10.0 * x**0.5) for x in (1e-2, 1e-4, 1e-6)]
    each = Proportionality("rolling_disk", "IDA", tuple(runs))
    assert each.position.slope == pytest.approx(2 / 3)
    assert each.position.constant == pytest.approx(5.0)  # relative to the scale, which is 2
    assert each.multipliers.slope == pytest.approx(0.5)
    assert each.falls and each.rejected == 1.0
    worse = Proportionality("rolling_disk", "IDA", (*runs, record(1e-7, 1.0, 1.0)))
    assert not worse.falls


def test_failures_are_told():
    bad = replace(record(1e-2, 1.0), status=Status.FAILED, reason="too hard", error={})
    good = [record(x, x) for x in (1e-4, 1e-7)]
    (cells,) = rows([Proportionality("rolling_disk", "IDA", (bad, *good))])
    assert "1e-04 … 1e-07; fails at 1e-02" in cells and "IDA, ind2" in cells
    (cells,) = rows([Proportionality("rolling_disk", "IDA", (bad,))])
    assert "–; fails at 1e-02" in cells


def test_runs(tmp_path):
    found = study(["rolling_disk"], ["GenAlphaSOI2 (adaptive)"], (1e-4, 1e-6), output=tmp_path)
    (each,) = found
    assert each.position.slope == pytest.approx(2 / 3, abs=0.1)
    assert each.multipliers.slope == pytest.approx(2 / 3, abs=0.1)
    assert "| `rolling_disk` | `GenAlphaSOI2` | 1e-04 … 1e-06 | 0." in table(found)


def test_command_line_knows_its_words():
    with pytest.raises(SystemExit):
        main(["--solver", "LSODAR"])
