"""What CONTRIBUTING.md says to do is enough: its examples, put where it says, in a copy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from importlib.util import find_spec
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
    choice = ["--mechanism", "simple_pendulum", "--solver", "SciPy LSODA", "--values", "tol=1e-6"]
    told = run(checkout, "comparisons", "run", *choice, "--repeats", "0", "--output", "output")
    assert re.search(r"SciPy LSODA.* 1/1 ", told)


def test_add_a_scheme(checkout: Path) -> None:
    """One file, without .pxd, and one line, on the compiled package: everything else follows."""
    package = checkout / "src" / "genalpha" / "schemes"
    shutil.copy(checkout / "tests" / "schemes" / "bdf2.py", package)
    change(
        package / "__init__.py",
        '    ("hhti2", "HHTI2"),\n',
        '    ("hhti2", "HHTI2"),\n    ("bdf2", "BDF2"),\n',
    )
    tests = ["schemes/test_equations.py", "comparisons/test_orders.py", "driver/test_options.py"]
    assimulo = ["assimulo/solvers/test_contract.py", "assimulo/solvers/test_options.py"]
    for files in (tests, assimulo if find_spec("assimulo") else []):
        if files:
            paths = [f"tests/{file}" for file in files]
            told = run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "-k", "BDF2", *paths)
            assert int(re.findall(r"(\d+) passed", told)[0]) >= 10
    solvers = ["BDF2", "BDF2 (adaptive)"] + ["BDF2 (Assimulo)"] * bool(find_spec("assimulo"))
    choice = [
        "--solver",
        *solvers,
        "--mechanism",
        "simple_pendulum",
        "--stride",
        "4",
        "--repeats",
        "0",
    ]
    told = run(checkout, "comparisons", "run", *choice, "--output", "output")
    for name in solvers:
        assert re.search(rf"{re.escape(name)} .* [1-9]/", told), told


def test_add_an_option(checkout: Path) -> None:
    """The example, declared by a scheme, is checked, is a property and has a row."""
    scheme = checkout / "src" / "genalpha" / "schemes" / "bdf2.py"
    shutil.copy(checkout / "tests" / "schemes" / "bdf2.py", scheme)
    change(scheme, "Array = np.ndarray\n", f"Array = np.ndarray\n\n{example('Add an option')}\n")
    change(scheme, '    name = "BDF2"\n', '    name = "BDF2"\n    options = (TWIST,)\n')
    text = scheme.read_text(encoding="utf-8")
    wanted = "from genalpha.options import Number, Option\nfrom genalpha.schemes.printed"
    scheme.write_text(text.replace("from genalpha.schemes.printed", wanted), encoding="utf-8")
    change(scheme.with_name("__init__.py"), '"HHTI2"),\n', '"HHTI2"),\n    ("bdf2", "BDF2"),\n')
    told = run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "-k", "BDF2 and every_option",
               "tests/driver/test_options.py")  # fmt: skip
    assert "1 passed" in told
    script = checkout / "try_it.py"
    script.write_text(
        "from genalpha import integrate, mechanisms\n"
        "print(integrate(mechanisms.simple_pendulum(), .1, 'BDF2', .01, twist=.5).q.shape)\n"
        "try: integrate(mechanisms.simple_pendulum(), .1, 'BDF2', .01, twist=1.5)\n"
        "except ValueError as error: print(error)\n",
        encoding="utf-8",
    )
    told = run(checkout, "try_it")
    assert "twist = 1.5; expected a number in [0, 1]" in told
