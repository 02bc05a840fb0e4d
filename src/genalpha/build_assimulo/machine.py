"""What the machine must have: numpy and pip here, a C compiler, Python's headers, gfortran."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from genalpha.build_assimulo.stages import BuildError, UnavailableError, run, say

HOW_TO_GET_FORTRAN = (
    "install it with `apt-get install gfortran` (Debian, Ubuntu), `dnf install gcc-gfortran` "
    "(Fedora) or `brew install gcc` (macOS) and run this again"
)


def check_system() -> None:
    """Refuse Windows, where this recipe has no Fortran compiler to rely on."""
    if sys.platform == "win32":
        raise UnavailableError(
            "system",
            "Assimulo cannot be built by this recipe on Windows: "
            "`conda install -c conda-forge assimulo` has it compiled",
        )


def check_environment() -> str:
    """See to pip, and return the version of numpy, which the build shares."""
    if importlib.util.find_spec("pip") is None:
        raise BuildError(
            "environment", "this environment has no pip: run `python -m ensurepip` first"
        )
    try:
        return importlib.metadata.version("numpy")
    except importlib.metadata.PackageNotFoundError as error:
        raise BuildError("environment", "numpy is not installed in this environment") from error


def check_compilers(log: Path) -> None:
    """See to a C compiler, Python's headers and gfortran, or say exactly what to install."""
    if not (shutil.which("cc") or shutil.which("gcc")):
        raise UnavailableError("compiler", "no C compiler (cc or gcc) was found: install gcc")
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        raise UnavailableError(
            "compiler", f"no Python.h in {headers}: install the headers (python3-dev on Debian)"
        )
    if shutil.which("gfortran"):
        return
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not (is_root and shutil.which("apt-get")):
        raise UnavailableError("compiler", f"gfortran was not found: {HOW_TO_GET_FORTRAN}")
    say("installing gfortran with apt-get (it was not found, and this is root on Debian)")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", "gfortran"]
    try:
        run("compiler", ["apt-get", "update"], log, env=quiet)
        run("compiler", install, log, env=quiet)
    except BuildError as error:
        reason = f"apt-get could not install gfortran: {HOW_TO_GET_FORTRAN}"
        raise UnavailableError("compiler", reason, log) from error
