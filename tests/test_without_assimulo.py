"""A run without Assimulo passes and says what it left out (see tests/conftest.py)."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Run a file that needs Assimulo, one that does not, and one that needs it in one test."""
    conftest = HERE / "conftest.py"
    folder = tmp_path_factory.mktemp("suite")
    (folder / "conftest.py").write_text(conftest.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_whole.py").write_text(
        "import assimulo.ode\nimport pytest\n\npytestmark = pytest.mark.needs_assimulo\n"
    )
    (folder / "test_part.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.needs_assimulo\ndef test_with():\n    import assimulo.ode\n\n"
        "def test_without():\n    with pytest.raises(ImportError):\n        import assimulo\n"
    )
    command = [sys.executable, "-m", "pytest", "--without-assimulo", "--strict-markers"]
    done = subprocess.run(
        [*command, f"--rootdir={folder}", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rest_runs(output):
    assert "1 passed, 1 skipped" in output


def test_what_was_left_out_is_said(output):
    assert "left out: switched off by --without-assimulo" in output
    assert "left out: test_whole.py" in output
    assert "left out: test_part.py::test_with" in output
