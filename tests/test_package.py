"""What ``import genalpha`` loads, and what it says when Assimulo is missing."""

import importlib.util
import subprocess
import sys

import pytest

import genalpha
from genalpha.schemes import SCHEMES


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_import_is_light():
    heavy = ("assimulo", "matplotlib", "sksundae", "scipy")
    done = run_python(f"import genalpha, sys; print([m for m in {heavy} if m in sys.modules])")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["integrate", *SCHEMES])
def test_what_few_need_is_not_loaded(name):
    """A fifth of a second, many times what a run of a small mechanism takes."""
    if name in SCHEMES and not importlib.util.find_spec("assimulo"):
        pytest.skip("without Assimulo")
    some = ("scipy.optimize", "scipy.integrate", "scipy.ndimage", "scipy.fft", "matplotlib")
    done = run_python(
        ("import assimulo.solvers\n" if name in SCHEMES else "")
        + "import sys\nbefore = set(sys.modules)\n"
        + f"from genalpha import {name}\n"
        + f"print([m for m in {some} if m in sys.modules and m not in before])"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_public_names_are_listed_without_loading_them():
    assert set(genalpha.__all__) <= set(dir(genalpha))
    assert {"Mechanism", "integrate", "GenAlphaSOI2"} <= set(genalpha.__all__)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'GenBeta'"):
        genalpha.GenBeta  # noqa: B018


@pytest.mark.parametrize("name", SCHEMES)
def test_missing_assimulo_says_how_to_get_it(name):
    done = run_python(f"import sys; sys.modules['assimulo'] = None\nfrom genalpha import {name}")
    message = done.stderr
    assert f"ImportError: genalpha.{name} needs Assimulo" in message
    assert "conda install -c conda-forge assimulo" in message
    assert "python -m genalpha.build_assimulo" in message
    assert "genalpha.integrate" in message


def test_version_is_the_installed_one():
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("genalpha")
    except PackageNotFoundError:
        pytest.skip("the sources are run without having been installed")
    assert genalpha.__version__ == installed
