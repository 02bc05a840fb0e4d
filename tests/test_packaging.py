"""What is said about the package in several files is the same in all of them."""

import re
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import genalpha

tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def locked(file: Path) -> list[Requirement]:
    """Read a lock file, whose requirements end where their hashes begin."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Requirement(line.rstrip("\\ ")) for line in lines if "==" in line]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_lock_file_serves_every_python(python, platform):
    """`make pin` writes it anew after a change of the requirements in pyproject.toml."""
    here = {"python_version": python, "python_full_version": f"{python}.0"}
    here |= {"sys_platform": platform, "extra": ""}
    versions = {
        canonicalize_name(x.name): next(iter(x.specifier)).version
        for x in locked(ROOT / ".ci/lock.txt")
        if x.marker is None or x.marker.evaluate(here)
    }
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["project"]["dependencies"], *(x for extra in extras for x in extra)]
    for requirement in map(Requirement, asked):
        if requirement.marker and not requirement.marker.evaluate(here):
            continue
        if requirement.name != "genalpha":
            version = Version(versions[canonicalize_name(requirement.name)])
            assert version in requirement.specifier, requirement


@pytest.mark.parametrize("name", [".ci/lock.txt", "src/genalpha/build_assimulo/tools.txt"])
def test_lock_files_have_hashes_and_no_addresses(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    parts = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert len(parts) == len(locked(ROOT / name))
    assert all("--hash=sha256:" in part for part in parts)


def test_citation():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == genalpha.__version__
    assert citation["license"] == PROJECT["project"]["license"]
    cited = " ".join(paper["notes"] for paper in citation["references"])
    schemes = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2", "StabilizedEuler", "StabilizedRK2")
    assert all(scheme in cited for scheme in schemes)


def test_conda_recipe():
    recipe = yaml.safe_load((ROOT / ".ci/conda/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == genalpha.__version__
    assert recipe["about"]["license"] == PROJECT["project"]["license"]
    assert recipe["about"]["summary"] == PROJECT["project"]["description"]

    def plain(names):
        return {name.replace(" ", "").lower() for name in names} - {"python", "pip"}

    assert plain(recipe["requirements"]["run"]) == plain(PROJECT["project"]["dependencies"])
    assert plain(recipe["requirements"]["host"]) == plain(PROJECT["build-system"]["requires"])


def test_every_served_python_is_named():
    classifiers = " ".join(PROJECT["project"]["classifiers"])
    assert re.findall(r"Python :: (3\.\d+)", classifiers) == list(PYTHONS)
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    assert f"SERVED = {PYTHONS!r}".replace("'", '"') in (ROOT / ".ci/pythons.py").read_text()
    wheels = PROJECT["tool"]["cibuildwheel"]["build"]
    assert wheels == [f"cp{python.replace('.', '')}-*" for python in PYTHONS]
