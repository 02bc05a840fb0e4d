"""The examples of the documentation run, and what they show is true."""

from __future__ import annotations

import contextlib
import runpy
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.needs_assimulo

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_all_examples_are_tested():
    tested = {"pendulum", "bouncing", "motor", "all_solvers", "sweep"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested


def test_pendulum(capsys):
    _, t, y, _ = example("pendulum")["main"](t_final=1.0)
    assert len(t) == 101 and t[-1] == 1.0
    assert np.allclose(y[-1][:2], [-1.0, 0.0], atol=1e-3)
    assert abs(y[-1][0] ** 2 + y[-1][1] ** 2 - 1) < 1e-13
    assert "Residuals at the end" in capsys.readouterr().out


def test_pendulum_differs_from_a_script_for_ida_in_the_class_name_only():
    """The same script serves IDA, as far as IDA can solve index 3."""
    from genalpha.assimulo import IDA, IDAError

    lines = (EXAMPLES / "pendulum.py").read_text(encoding="utf-8")
    changed = lines.replace("SOLVER = GenAlphaSOI2", "SOLVER = IDA")
    names = {"IDA": IDA, "__name__": "pendulum"}
    exec(compile(changed, "pendulum.py", "exec"), names)
    with contextlib.suppress(IDAError):
        names["main"](t_final=0.1)


def test_bouncing(solver_class):
    script = example("bouncing")
    _, _, y, impacts = script["main"](solver_class, t_final=1.0)
    assert len(impacts) == 1 and impacts[0][2] < impacts[0][1]
    assert y[:, 2].min() > script["WALL"] - 1e-12
    between = y[:, 2:4] - y[:, :2]
    assert np.allclose((between**2).sum(axis=1), 1.0, atol=1e-7)


def test_motor(solver_class, capsys):
    script = example("motor")
    solver, t, _, speed = script["main"](solver_class, h=2e-2)
    assert np.allclose(speed, [script["exact_speed"](x) for x in t], atol=6e-3)
    assert capsys.readouterr().out.count("motor") == 3
    assert solver.statistics["ntimeevents"] == 3


def test_all_solvers():
    rows = example("all_solvers")["main"](t_final=0.5, tolerance=1e-6)
    assert [row[0] for row in rows] == [
        "GenAlphaI3",
        "GenAlphaSOI2",
        "HHTI2",
        "IDA",
        "Radau5DAE",
        "ODASSL",
    ]
    assert all(error < 1e-2 for *_, error, _ in rows)
    assert all(drift < 1e-12 for *_, drift in rows[:3])


def test_sweep():
    pytest.importorskip("sympy", reason="needs the extra [symbolic]")
    script = example("sweep")
    angles, turns = script["main"](points=5, t_final=0.5)
    assert turns.shape == (5, 5) and np.isfinite(turns).all()
    assert turns[2, 2] == 0.0  # it hangs
    np.testing.assert_allclose(turns, -turns[::-1, ::-1], atol=1e-6)  # the mirror image
    script["plot"](angles, turns)
