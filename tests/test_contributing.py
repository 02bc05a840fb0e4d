"""What CONTRIBUTING.md says to do is enough: its examples, put where it says, in a copy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import genalpha

ROOT = Path(__file__).parents[1]
pytest.importorskip("rich", reason="the comparisons need it")


def example(heading: str) -> str:
    """The Python block of a section."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1]
    found = re.search(r"^ *```python\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    assert found
    return textwrap.dedent(found[1])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the recipes touch, and of what proves them; it keeps the times of files."""
    shutil.copytree(Path(genalpha.__file__).parent, tmp_path / "src" / "genalpha")
    without = shutil.ignore_patterns("output", "__pycache__")
    for name in ("comparisons", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=without)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(checkout: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=checkout, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_add_a_mechanism(checkout: Path) -> None:
    package = checkout / "src" / "genalpha" / "mechanisms"
    (package / "incline.py").write_text(example("Add a mechanism"), encoding="utf-8")
    change(
        package / "__init__.py",
        "from genalpha.mechanisms.pendulums",
        "from genalpha.mechanisms.incline import incline\nfrom genalpha.mechanisms.pendulums",
    )
    change(
        package / "__init__.py",
        "    chaplygin_sleigh,\n)\n",
        "    chaplygin_sleigh,\n    incline,\n)\n",
    )
    tests = "tests/mechanisms/test_catalogue.py"
    told = run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "-k", "incline", tests)
    assert "9 passed" in told
    choice = ["--mechanism", "incline", "--solver", "GenAlphaSOI2", "--stride", "4"]
    told = run(checkout, "comparisons", "run", *choice, "--repeats", "0", "--output", "output")
    assert re.search(r"GenAlphaSOI2.* 2/2 ", told)


def test_add_a_peer(checkout: Path) -> None:
    package = checkout / "comparisons" / "solvers"
    (package / "lsoda.py").write_text(example("Add a peer"), encoding="utf-8")
    change(package / "__init__.py", '    "scipy_ode",\n', '    "scipy_ode",\n    "lsoda",\n')
    choice = ["--mechanism", "simple_pendulum", "--solver", "SciPy LSODA", "--knob", "tol=1e-6"]
    told = run(checkout, "comparisons", "run", *choice, "--repeats", "0", "--output", "output")
    assert re.search(r"SciPy LSODA.* 1/1 ", told)
