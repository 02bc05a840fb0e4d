"""Build Assimulo 3.0 from the package registry's own sdists and install it here.

Most users have Assimulo from conda-forge and never need this. The registry of Python packages
has only old sdists of it, and the newest does not build as it is. This script

1. checks the Python, numpy and compilers (as root on Debian it installs a missing gfortran);
2. makes a throw-away environment with the numpy of the environment it runs in;
3. fetches sdist 3.0, and sdist 2.9 for the f2py signature files that 3.0 forgot;
4. patches the sources (each patch is a function below, which says why);
5. compiles a wheel, keeps it in the user's cache directory, installs it and solves a pendulum.

The next environment with the same Python, numpy and recipe takes the cached wheel: no network, no
compiler. Run it as ``python -m genalpha.build_assimulo``; it needs only the standard library.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

VERSION = "3.0"
VERSION_WITH_SIGNATURES = "2.9"
SUPPORTED_PYTHONS = ((3, 10), (3, 11))
BUILD_REQUIREMENTS = ("setuptools<60", "wheel", "Cython<3", "unearth")
FORTRAN_FLAGS = "-std=legacy -fallow-argument-mismatch -fPIC -O2"
HOW_TO_GET_FORTRAN = (
    "install it with `apt-get install gfortran` (Debian, Ubuntu), `dnf install gcc-gfortran` "
    "(Fedora) or `brew install gcc` (macOS) and run this again"
)


class BuildError(Exception):
    """A stage failed: the text says which one, why, and where its log is."""

    def __init__(self, stage: str, reason: str, log: Path | None = None) -> None:
        where = f"\n  log: {log}" if log is not None else ""
        super().__init__(f"stage '{stage}' failed: {reason}{where}")


class UnavailableError(BuildError):
    """The machine cannot build Assimulo at all; ``--soft`` goes on without it."""


# --- patches: text in, text out; each refuses a text that it was not written for ---------------


def add_werr_to_solout(signature: str) -> str:
    """Give Radau5's ``solout`` the argument ``werr`` that the Fortran of 3.0 passes.

    The signature file of 2.9 is one argument behind. Without this every later argument of the
    callback is shifted by one, and Radau5DAE's dense output and events read rubbish.
    """
    patched = signature.replace("y,cont,lrc,nsolu,", "y,cont,werr,lrc,nsolu,", 1)
    patched = re.sub(
        r"^( *double precision dimension\()4\*nsolu\) :: cont(\r?\n)",
        r"\g<0>\1nsolu) :: werr\2",
        patched,
        count=1,
        flags=re.MULTILINE,
    )
    if patched.count("werr") != 2:
        raise ValueError("the signature of radau5's solout is not the expected one")
    return patched


def add_werr_to_dae_callback(source: str) -> str:
    """Let Radau5DAE's Python ``_solout`` take ``werr`` too; in 3.0 only Radau5ODE's does.

    f2py cuts the arguments to what the callback takes, so it would get ``lrc`` for ``irtrn``.
    """
    old = "def _solout(self, nrsol, told, t, y, cont, lrc, irtrn):"
    if source.count(old) != 1:
        raise ValueError("Radau5DAE._solout is not the expected one")
    return source.replace(old, old.replace("cont, lrc", "cont, werr, lrc"))


def replace_removed_aliases(source: str) -> str:
    """Write the builtins for ``N.float`` and its kind, which numpy 1.24 removed."""
    return re.sub(r"\b(?:N|np)\.(float|int|bool|complex)\b", r"\1", source)


def complete_starter_table(source: str) -> str:
    """Add the missing zero to the last row of the 5th-order table of ``RKStarterNordsieck``.

    numpy 1.24 and later refuse the ragged array, and with it the module that has LSODAR.
    """
    last_row_end = "38892959/120069679,11804845./141497517]])]"
    if source.count(last_row_end) != 1:
        raise ValueError("the 5th-order table of RKStarterNordsieck is not the expected one")
    return source.replace(last_row_end, last_row_end.replace("]])]", ",0.]])]"))


def patch_file(path: Path, patch: Callable[[str], str]) -> None:
    """Apply a patch to a file in place and keep its line endings."""
    old = path.read_bytes().decode("utf-8")
    new = patch(old)
    if new != old:
        path.write_bytes(new.encode("utf-8"))


def patch_sources(source: Path, older: Path) -> None:
    """Turn the unpacked sdist 3.0 into one that builds, with the signatures of sdist 2.9."""
    for signature in older.rglob("*.pyf"):
        target = source / signature.relative_to(older)
        if not target.exists():
            shutil.copyfile(signature, target)
    patch_file(source / "assimulo/thirdparty/hairer/radau_decsol.pyf", add_werr_to_solout)
    patch_file(source / "assimulo/solvers/radau5.py", add_werr_to_dae_callback)
    patch_file(source / "assimulo/solvers/odepack.py", complete_starter_table)
    for path in (*source.rglob("*.py"), *source.rglob("*.pyx")):
        if path.name != "setup.py":
            patch_file(path, replace_removed_aliases)
    for path in source.rglob("*.pyx"):
        # C files in the sdist come from an old Cython: they must be generated anew.
        path.with_suffix(".c").unlink(missing_ok=True)


# --- stages ------------------------------------------------------------------------------------


def say(text: str) -> None:
    """Print one line of progress at once, also into a pipe."""
    print(f"assimulo: {text}", flush=True)


def run(
    stage: str,
    command: Sequence[str],
    log: Path,
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> None:
    """Run a command of a stage, its output going to the log; raise BuildError when it fails."""
    environment = {**os.environ, **(env or {})}
    with log.open("a", encoding="utf-8") as stream:
        print(f"\n[{stage}] $ {' '.join(command)}", file=stream, flush=True)
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as error:
            raise BuildError(stage, str(error), log) from error
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-1]
        raise BuildError(stage, f"{command[0]} ended with code {done.returncode}: {tail}", log)


def check_python() -> None:
    """Refuse a Python without numpy.distutils, which Assimulo 3.0's setup.py needs."""
    if sys.version_info[:2] not in SUPPORTED_PYTHONS:
        known = " and ".join(f"{major}.{minor}" for major, minor in SUPPORTED_PYTHONS)
        raise UnavailableError(
            "python",
            f"Assimulo {VERSION} can be built on Python {known} only, this is "
            f"{sys.version_info.major}.{sys.version_info.minor} "
            "(`conda install -c conda-forge assimulo` has builds for newer ones)",
        )


def numpy_version() -> str:
    """Return the version of numpy in this environment: the build must use the same one."""
    try:
        return importlib.metadata.version("numpy")
    except importlib.metadata.PackageNotFoundError as error:
        raise BuildError("numpy", "numpy is not installed in this environment") from error


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


def make_build_environment(folder: Path, numpy: str, log: Path) -> Path:
    """Make the throw-away environment and return its folder of commands."""
    run("build environment", [sys.executable, "-m", "venv", str(folder)], log)
    commands = folder / "bin"
    pip = [str(commands / "python"), "-m", "pip", "install"]
    run("build environment", [*pip, *BUILD_REQUIREMENTS, f"numpy=={numpy}"], log)
    return commands


def fetch(version: str, folder: Path, commands: Path, log: Path) -> Path:
    """Fetch and unpack one sdist.

    ``pip download`` runs the sdist's setup.py for its metadata, which fails; unearth does not.
    """
    folder.mkdir()
    unearth = [str(commands / "unearth"), "--no-binary", "-d", str(folder)]
    run("sources", [*unearth, f"assimulo=={version}"], log)
    archives = [path for path in folder.iterdir() if path.is_file()]
    if len(archives) != 1:
        raise BuildError("sources", f"expected one sdist of {version}, got {archives}", log)
    shutil.unpack_archive(archives[0], folder)
    return next(path.parent for path in folder.glob("*/setup.py"))


def compile_wheel(source: Path, commands: Path, log: Path) -> Path:
    """Compile the patched sources and return the wheel."""
    flags = {
        "FFLAGS": FORTRAN_FLAGS,
        # Without this numpy.distutils takes FFLAGS instead of its own flags, not besides them.
        "NPY_DISTUTILS_APPEND_FLAGS": "1",
        "NPY_NUM_BUILD_JOBS": str(os.cpu_count() or 1),
    }
    # An empty SUNDIALS folder: 3.0 does not know the releases that a machine may have by now.
    setup = ["setup.py", "bdist_wheel", f"--sundials-home={source / 'no-sundials'}"]
    run("compile", [str(commands / "python"), *setup], log, cwd=source, env=flags)
    wheels = list((source / "dist").glob("*.whl"))
    if len(wheels) != 1:
        raise BuildError("compile", f"expected one wheel, got {wheels}", log)
    return wheels[0]


def build_wheel(numpy: str, destination: Path, log: Path) -> None:
    """Run every stage from the compilers to the wheel, which ends up alone in ``destination``."""
    check_compilers(log)
    with tempfile.TemporaryDirectory(prefix="genalpha-assimulo-") as name:
        folder = Path(name)
        say(f"preparing a build environment with numpy {numpy}")
        commands = make_build_environment(folder / "venv", numpy, log)
        say(f"fetching the sdists {VERSION} and {VERSION_WITH_SIGNATURES}")
        source = fetch(VERSION, folder / "new", commands, log)
        older = fetch(VERSION_WITH_SIGNATURES, folder / "old", commands, log)
        try:
            patch_sources(source, older)
        except (OSError, ValueError) as error:
            raise BuildError("patches", str(error), log) from error
        say("compiling (about two minutes)")
        wheel = compile_wheel(source, commands, log)
        # Two steps, so that the cache never holds half a wheel under its final name.
        half = Path(tempfile.mkdtemp(dir=destination.parent, prefix="half-"))
        shutil.copy(wheel, half)
        shutil.rmtree(destination, ignore_errors=True)
        half.rename(destination)


def install_and_verify(wheel: Path, log: Path) -> None:
    """Install the wheel into this environment and solve a pendulum with it."""
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall"]
    run("install", [*pip, str(wheel)], log)
    run("verify", [sys.executable, "-m", "genalpha.build_assimulo", "--verify"], log)


def verify() -> None:
    """Solve Assimulo's pendulum with Radau5DAE and with ODASSL; raise unless they agree.

    Run this in a process of its own: a badly built extension may end the whole process.
    """
    import numpy as np
    from assimulo.solvers import ODASSL, Radau5DAE
    from assimulo.special_systems import Mechanical_System

    gravity = 13.7503671
    system = Mechanical_System(
        n_p=2,
        forces=lambda t, p, v: np.array([0.0, -gravity]),
        n_la=1,
        pos0=[1.0, 0.0],
        vel0=[0.0, 0.0],
        lam0=[0.0],
        posd0=[0.0, 0.0],
        veld0=[0.0, -gravity],
        GT=lambda p: p.reshape(2, 1),
        constr3=lambda t, y: np.array([y[0] ** 2 + y[1] ** 2 - 1.0]),
        constr2=lambda t, y: np.array([y[0] * y[2] + y[1] * y[3]]),
        constr1=lambda t, y: np.array([y[2] ** 2 + y[3] ** 2 - y[4] - gravity * y[1]]),
    )
    ends = []
    for solver_class, formulation in ((Radau5DAE, "ind1"), (ODASSL, "ovstab2")):
        solver = solver_class(system.generate_problem(formulation))
        solver.verbosity = 50
        solver.atol = solver.rtol = 1e-8
        ends.append(solver.simulate(1.0, 10)[1][-1, :4])
    difference = float(np.max(np.abs(ends[0] - ends[1])))
    if not difference < 1e-5:
        raise BuildError("verify", f"Radau5DAE and ODASSL differ by {difference:.1e} at t = 1")


# --- command -----------------------------------------------------------------------------------


def default_cache() -> Path:
    """Return the user's cache directory for this project."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "genalpha"


def recipe_hash() -> str:
    """Return a hash of this file: any change of the recipe asks for a new build."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def cache_key(numpy: str, recipe: str) -> str:
    """Name what a wheel depends on: Assimulo, Python and platform, numpy, and the recipe."""
    python = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    return f"assimulo-{VERSION}-{python}-numpy-{numpy}-{recipe}"


def build_and_install(cache: Path, *, rebuild: bool = False) -> None:
    """Install Assimulo into this environment, from the cache where it has the right wheel."""
    check_python()
    numpy = numpy_version()
    key = cache_key(numpy, recipe_hash())
    cache.mkdir(parents=True, exist_ok=True)
    folder, log = cache / key, cache / f"{key}.log"
    log.write_text("", encoding="utf-8")
    cached = not rebuild and any(folder.glob("*.whl"))
    if not cached:
        build_wheel(numpy, folder, log)
    wheel = next(folder.glob("*.whl"))
    say(f"installing the {'cached' if cached else 'new'} wheel, then solving a pendulum with it")
    try:
        install_and_verify(wheel, log)
    except BuildError:
        # The next run must not meet the same bad wheel (its Fortran library may be gone).
        shutil.rmtree(folder, ignore_errors=True)
        raise
    say(f"Assimulo {VERSION} works here (Radau5DAE and ODASSL agree)")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m genalpha.build_assimulo",
        description="Build Assimulo 3.0 from the registry's sdists and install it into this "
        "environment. Needs Python 3.10 or 3.11, numpy, a C compiler and gfortran.",
    )
    parser.add_argument(
        "--replace", action="store_true", help="also when this environment has an Assimulo already"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="compile even if the cache has a wheel"
    )
    parser.add_argument(
        "--soft",
        action="store_true",
        help="end with code 0 where it cannot be built (Python 3.12 or newer, no compiler); a "
        "build that starts and fails is an error all the same",
    )
    parser.add_argument(
        "--verify", action="store_true", help="only solve a pendulum with the installed Assimulo"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=default_cache(),
        help="folder of the wheels and logs (default: %(default)s)",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parse_arguments(arguments)
    try:
        if options.verify:
            verify()
        elif importlib.util.find_spec("assimulo") and not (options.replace or options.rebuild):
            say("this environment has an Assimulo already (--replace installs over it)")
        else:
            build_and_install(options.cache, rebuild=options.rebuild)
    except UnavailableError as error:
        say(str(error))
        say("left out: Assimulo; genalpha.integrate works without it")
        return 0 if options.soft else 1
    except BuildError as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
