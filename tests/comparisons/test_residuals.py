"""Rows of the comparisons in which everybody gets a plain residual."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparisons import runner
from comparisons.bench import race
from comparisons.bench.layout import LAYOUTS
from comparisons.names import Counter, Setting, Variable
from comparisons.runner import Choice, Plan
from comparisons.solvers import SOLVERS
from genalpha.schemes import SCHEMES

pytestmark = pytest.mark.needs_assimulo

EVERYBODY = (*SCHEMES, "IDA", "Radau5DAE", "ODASSL")


@pytest.mark.parametrize("label", ["{} (residual)", "{} (residual, jac)"])
def test_calls_are_those_of_res(label: str, tmp_path: Path) -> None:
    """Each call of `res` calls the force once, from the making of the solver on."""
    names = tuple(label.format(name) for name in EVERYBODY)
    values = {Setting.TOLERANCE: (1e-4,)}
    choice = Choice(("simple_pendulum",), names, values=values)
    runs = runner.run(Plan(tmp_path, repeats=0), choice.keys())
    assert {run.solver for run in runs} == set(names)
    for run in runs:
        assert run.ok, (run.solver, run.reason)
        assert run.counters[Counter.RESIDUALS] == run.calls["force"], run.solver
        error = run.relative_error(Variable.Q)
        assert error is not None and error < 0.02
        without = "jac" not in label or "Radau5DAE" in run.solver or "ODASSL" in run.solver
        assert without or run.counters[Counter.JACOBIANS]


def test_they_are_in_the_main_job_and_in_the_race() -> None:
    for name in EVERYBODY:
        assert SOLVERS[f"{name} (residual)"].main
    for section, label in race.RESIDUAL.items():
        assert section in LAYOUTS
        assert {label.format(x) for x in EVERYBODY} <= set(race.on_residuals("pendulum_jn"))
