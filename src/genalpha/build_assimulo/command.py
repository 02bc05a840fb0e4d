"""From an empty machine to an installed Assimulo: the stages in order, and the command line."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from genalpha.build_assimulo import cache as wheels
from genalpha.build_assimulo.machine import check_compilers, check_environment, check_system
from genalpha.build_assimulo.patches import patch_sources
from genalpha.build_assimulo.pendulum import verify
from genalpha.build_assimulo.sources import fetch, install_tools
from genalpha.build_assimulo.stages import VERSION, BuildError, UnavailableError, run, say


def compile_wheel(source: Path, tools: dict[str, str], log: Path) -> Path:
    """Compile the patched sources and return the wheel."""
    shutil.copyfile(Path(__file__).with_name("setup_assimulo.py"), source / "setup.py")
    run("compile", [sys.executable, "setup.py", "bdist_wheel"], log, cwd=source, env=tools)
    built = list((source / "dist").glob("*.whl"))
    if len(built) != 1:
        raise BuildError("compile", f"expected one wheel, got {built}", log)
    return built[0]


def build_wheel(destination: Path, log: Path) -> Path:
    """Run every stage from the compilers to the wheel; return it where the cache keeps it."""
    check_compilers(log)
    with tempfile.TemporaryDirectory(prefix="genalpha-assimulo-") as name:
        folder = Path(name)
        say("fetching the build tools and the sdists 3.0 and 2.9, checked by their hashes")
        tools = install_tools(folder / "tools", log)
        source = fetch(VERSION, folder / "new", tools, log)
        older = fetch("2.9", folder / "old", tools, log)
        try:
            patch_sources(source, older)
        except (OSError, ValueError) as error:
            raise BuildError("patches", str(error), log) from error
        say("compiling (about two minutes)")
        return wheels.store_wheel(compile_wheel(source, tools, log), destination)


def install_and_verify(wheel: Path, log: Path) -> None:
    """Install the wheel into this environment and solve a pendulum with it."""
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall"]
    run("install", [*pip, str(wheel)], log)
    run("verify", [sys.executable, "-m", "genalpha.build_assimulo", "--verify"], log)


def build_and_install(cache: Path, *, rebuild: bool = False) -> None:
    """Install Assimulo into this environment, from the cache where it has the right wheel."""
    check_system()
    key = wheels.cache_key(check_environment(), wheels.recipe_hash())
    wheels.open_cache(cache)
    folder, log = cache / key, cache / f"{key}.log"
    with wheels.locked(cache / f"{key}.lock"):
        log.write_text("", encoding="utf-8")
        cached = None if rebuild else wheels.find_wheel(folder)
        wheel = cached or build_wheel(folder, log)
        say(f"installing the {'cached' if cached else 'new'} wheel, then solving a pendulum")
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
        "environment. Needs numpy, pip, a C compiler and gfortran.",
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
        help="end with code 0 where it cannot be built (Windows, no compiler); a build that "
        "starts and fails is an error all the same",
    )
    parser.add_argument(
        "--verify", action="store_true", help="only solve a pendulum with the installed Assimulo"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=wheels.default_cache(),
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
