"""Files that `--plugin` names: solvers and mechanisms of other people, as on the how-to page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from comparisons import cli
from comparisons.cases import CASES, Case, add_mechanism
from comparisons.names import Variable
from comparisons.plugins import load, located
from comparisons.reference import reference_note, sampled_reference
from comparisons.solvers import SOLVERS
from genalpha.mechanisms import simple_pendulum
from genalpha.model import Mechanism

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pages" / "how-to" / "comparing.md"
FILES = re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in FILES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [name for name, _ in FILES] == ["arm.py", "euler.py"]
    return tmp_path


@pytest.fixture
def registries():
    """What is registered in a test is forgotten after it."""
    cases, solvers = dict(CASES), dict(SOLVERS)
    yield
    for registry, old in ((CASES, cases), (SOLVERS, solvers)):
        registry.clear()
        registry.update(old)


def test_the_page_from_another_folder(files: Path) -> None:
    command = ["run", "--plugin", "arm.py", "euler.py", "--mechanism", "arm", "--solver"]
    chosen = ["explicit Euler", "GenAlphaSOI2 (adaptive)", "--values", "h=1.25e-2,6.25e-3,3.125e-3"]
    rest = ["tol=1e-5", "--repeats", "0", "--output", "results"]
    run = subprocess.run(
        [sys.executable, "-m", "comparisons", *command, *chosen, *rest], cwd=files, text=True,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr + run.stdout
    assert re.search(r"explicit Euler .* 3/3 .* (0\.9|1\.\d) ", run.stdout), run.stdout
    assert re.search(r"GenAlphaSOI2 \(adaptive\) .* 1/1 ", run.stdout), run.stdout
    assert "arm has no reference of its own" in run.stdout
    assert (files / "results" / "report.html").exists()


@pytest.mark.usefixtures("registries")
def test_without_a_command_the_mechanisms_of_the_file_are_run(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list = []
    monkeypatch.setattr(cli, "watched_run", lambda plan, keys, console: asked.append((plan, keys)))
    monkeypatch.setattr(cli, "_show", lambda *arguments: 0)
    cli.main(["--plugin", str(files / "arm.py")])
    plan, keys = asked[0]
    assert {key.mechanism for key in keys} == {"arm"}
    assert {"GenAlphaSOI2", "IDA"} <= {key.solver for key in keys}
    assert plan.plugins == (str(files / "arm.py"),)
    cli.main(["--plugin", str(files / "euler.py")])
    _, keys = asked[1]
    assert {key.mechanism for key in keys} == {case.name for case in CASES.values() if case.main}
    assert "explicit Euler" in {key.solver for key in keys}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"--plugin .*none\.py: there is no such file"):
        load(located(str(tmp_path / "none.py")))


def nameless() -> Mechanism:
    return simple_pendulum().replace(reference=None)


@pytest.mark.usefixtures("registries")
def test_a_computed_reference_is_as_good_as_it_says(tmp_path: Path) -> None:
    case = add_mechanism(nameless, 1.0, steps=41, name="nameless")
    assert case.steps == 80
    found = sampled_reference(case, tmp_path)
    true = sampled_reference(Case("simple_pendulum", simple_pendulum, 1.0, 80), tmp_path)
    assert set(found) == set(true) == set(Variable) - {Variable.PSI, Variable.Z}
    note = reference_note("nameless", tmp_path)
    estimate = float(re.findall(r"estimated as (\S+)", note)[0])
    assert estimate < 1e-7
    error = np.abs(found[Variable.Q] - true[Variable.Q]).max()
    assert error <= 1.5 * estimate  # printed to one digit
    assert np.allclose(found[Variable.LAM], true[Variable.LAM], rtol=1e-6)
    assert reference_note("simple_pendulum", tmp_path) == ""
