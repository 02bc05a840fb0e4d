"""The package as pip installs it on a machine without a compiler: it works, on plain sources."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("Cython", reason="pip would have to fetch the build tools")

ROOT = Path(__file__).parents[1]
PARTS = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "src")
SCRIPT = """
import genalpha
from genalpha import build_assimulo, imports, integrate, mechanisms

print(genalpha.__file__)
assert not imports.COMPILED
assert build_assimulo.sources.TOOLS.exists()
pendulum = mechanisms.simple_pendulum()
end = integrate(pendulum, 0.5, rtol=1e-6).q[-1]
assert abs(end @ end - 1.0) < 1e-6, end
assert mechanisms.andrews_squeezer().reference is not None  # from a data file
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install into a folder, from a copy that nobody has compiled, with a compiler that fails."""
    copy, target = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("target")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part, copy / part, ignore=shutil.ignore_patterns("*.so", "*.pyd")
            )
        else:
            shutil.copy2(ROOT / part, copy)
    if (ROOT / "build/cython").exists():  # the C files, which would take a minute to write
        shutil.copytree(ROOT / "build/cython", copy / "build/cython")
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "--target", str(target), str(copy)],
        env={**os.environ, "CC": "/bin/false", "CXX": "/bin/false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.mark.skipif(not Path("/bin/false").exists(), reason="no command that always fails")
def test_installed_without_a_compiler(installed, tmp_path):
    assert not list(installed.rglob("*.so"))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(installed)
