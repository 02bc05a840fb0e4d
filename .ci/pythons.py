"""Types and tests on every Python that the project serves and this machine has.

``python .ci/pythons.py short`` is `make short-pythons`: types and a few tests, nothing compiled.
``python .ci/pythons.py`` is `make pythons`: compiled, with the essential tests; the newest Python
gets Assimulo too, which takes a few minutes to compile. The Python that runs this file is left out:
`make test` tries everything on it. A Python that is missing is skipped, and said so at the end.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

SERVED = ("3.10", "3.11", "3.12", "3.13", "3.14")
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def version_of(python: str) -> str | None:
    """Return the version that an interpreter says it is; None where it does not run."""
    try:
        done = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.match(r"Python (\d+\.\d+)", done.stdout)
    return found[1] if found and done.returncode == 0 else None


def find(version: str) -> str | None:
    """Look for an interpreter: on the path, then among pyenv's and uv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    uv = Path.home() / ".local/share/uv/python"
    managed = [*pyenv.glob(f"{version}.*"), *uv.glob(f"cpython-{version}.*")]
    candidates = [f"python{version}", *(str(folder / "bin/python3") for folder in managed)]
    return next((python for python in candidates if version_of(python) == version), None)


def try_out(target: str, version: str, python: str, assimulo: str) -> bool:
    """Make a target with one interpreter, in an environment of its own."""
    print(f"\n== Python {version} ({python}), Assimulo: {assimulo}", flush=True)
    environment = {key: value for key, value in os.environ.items() if "MAKE" not in key}
    settings = [f"PYTHON={python}", f"VENV=.venv-{version}", f"ASSIMULO={assimulo}"]
    return subprocess.run(["make", target, *settings], env=environment).returncode == 0


def main(arguments: list[str]) -> int:
    """Try all Pythons, even after a failure, and sum up."""
    short = arguments == ["short"]
    pythons = {version: find(version) for version in SERVED if version != HERE}
    present = {version: python for version, python in pythons.items() if python}
    summary = dict.fromkeys(pythons, "SKIPPED, no interpreter here")
    for version, python in present.items():
        newest = version == list(present)[-1] and not short
        assimulo = os.environ.get("ASSIMULO", "yes") if newest else "no"
        start = time.monotonic()
        good = try_out("short" if short else "essential", version, python, assimulo)
        took = time.monotonic() - start
        summary[version] = f"{'ok' if good else 'FAILED'} after {took:.0f} s"
    print("\n== other Pythons")
    for version, result in summary.items():
        print(f"Python {version}: {result}")
    return int(any(result.startswith("FAILED") for result in summary.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
