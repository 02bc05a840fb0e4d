"""Source code made runnable: by a C compiler, by numba, or as plain Python, whichever is there.

Compiled code is kept in the user's cache folder under a name that its source decides, so that no
process compiles what another one has.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from genalpha.errors import InvalidOptionError
from genalpha.formulas.code import Routine, c_file, python_file

#: sqrt and the like become instructions; nothing else about the arithmetic changes.
FLAGS = ("-O2", "-fno-math-errno", "-shared", "-fPIC")
BACKENDS = ("auto", "c", "numba", "python")


class Library:
    """Functions of formulas, ready to be called.

    Attributes
    ----------
    backend : {"c", "numba", "python"}
    addresses : dict of str to int
        Of C functions; empty for Python.
    functions : dict of str to callable
        Of Python: f(t, vectors..., out, parameters).
    """

    def __init__(self, backend: str, kept: Any) -> None:
        self.backend, self.kept = backend, kept
        self.addresses: dict[str, int] = {}
        self.functions: dict[str, Callable[..., None]] = {}


def library(routines: Sequence[Routine], backend: str = "auto", parameters: int = 0) -> Library:
    """Compile functions, or find them compiled.

    Parameters
    ----------
    routines : sequence of Routine
    backend : {"auto", "c", "numba", "python"}
        "auto" takes a C compiler if there is one (its code is compiled in a tenth of a second and
        kept), then numba, then Python.
    parameters : int
        The number of parameters.

    Raises
    ------
    InvalidOptionError
        The backend that is asked for is not there.
    """
    chosen = backend if backend != "auto" else _best()
    if chosen == "c":
        return _of_c(tuple(x.name for x in routines), c_file(routines))
    source = python_file(routines)
    vectors = tuple((x.name, len(x.arguments.split()) - 1) for x in routines)
    return _of_numba(vectors, source, parameters) if chosen == "numba" else _of_python(source)


def _best() -> str:
    if compiler():
        return "c"
    return "numba" if importlib.util.find_spec("numba") else "python"


@cache
def compiler() -> tuple[str, ...]:
    """Return the command of a C compiler that takes GCC's options; empty if there is none."""
    wanted = (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang")
    for command in filter(None, wanted):
        words = shlex.split(command)
        if words and sys.platform != "win32" and shutil.which(words[0]):
            return tuple(words)
    return ()


def folder() -> Path:
    """Return the folder of compiled formulas: GENALPHA_CACHE, or one in the user's cache folder."""
    if found := os.environ.get("GENALPHA_CACHE"):
        return Path(found) / "formulas"
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or str(Path.home())
    elif sys.platform == "darwin":
        home = str(Path.home() / "Library" / "Caches")
    else:
        home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "genalpha" / "formulas"


def _kept(name: str, make: Callable[[Path], Any]) -> Path:
    """Return a file of the cache, made if it is missing; nobody sees a half-written one."""
    home = folder()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        is_ours = _is_ours(home)
    except OSError:
        is_ours = False
    path = (home if is_ours else _for_this_process()) / name
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            made = Path(scratch) / name
            make(made)
            os.replace(made, path)
    return path


def _is_ours(home: Path) -> bool:
    """Tell whether we can write to a folder, and nobody else can: code is loaded from it."""
    if sys.platform == "win32":  # a folder of the user's own is private there
        return os.access(home, os.W_OK)
    found = home.stat()
    private = found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return private and os.access(home, os.W_OK)


@cache
def _for_this_process() -> Path:
    """Return a folder that is gone when the process ends."""
    made = tempfile.TemporaryDirectory(prefix="genalpha-")
    atexit.register(made.cleanup)
    return Path(made.name)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


@cache
def _of_c(names: tuple[str, ...], source: str) -> Library:
    command = compiler()
    if not command:
        fault = "backend = 'c'; no C compiler was found (cc, gcc, clang, or the variable CC)"
        raise InvalidOptionError("formulas", [fault])

    def make(path: Path) -> None:
        text = path.with_suffix(".c")
        text.write_text(source)
        done = subprocess.run(
            [*command, *FLAGS, "-o", str(path), str(text), "-lm"], capture_output=True, text=True
        )
        if done.returncode:
            fault = f"the C compiler failed ({' '.join(command)}): {done.stderr.strip()[-300:]}"
            raise InvalidOptionError("formulas", [fault])

    machine = sysconfig.get_platform()
    name = f"{_digest(source, command, FLAGS, machine)}.so"
    path = _kept(name, make)
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError:  # of another system that shares the folder, or damaged
        path.unlink()
        loaded = ctypes.CDLL(str(_kept(name, make)))
    found = Library("c", loaded)
    for name in names:
        found.addresses[name] = ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value or 0
    return found


@cache
def _module(source: str) -> Any:
    """Import source code from a file of the cache, where numba keeps what it has compiled."""
    name = f"formulas_{_digest(source, sys.version)}"
    path = _kept(f"{name}.py", lambda made: made.write_text(source))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _of_python(source: str) -> Library:
    module = _module(source)
    found = Library("python", module)
    found.functions = {key: x for key, x in vars(module).items() if callable(x)}
    return found


@cache
def _of_numba(routines: tuple[tuple[str, int], ...], source: str, parameters: int) -> Library:
    """Compile with numba; the functions get their parameters from the user data."""
    if not importlib.util.find_spec("numba"):
        fault = "backend = 'numba'; numba is not installed: pip install genalpha[numba]"
        raise InvalidOptionError("formulas", [fault])
    wrappers = ["import numba", "from numba import types"]
    for name, vectors in routines:
        given = ", ".join(f"a{i}" for i in range(vectors))
        pointers = "types.CPointer(types.double), " * (vectors + 1)
        wrappers.append(
            f"_{name} = numba.njit(cache=True, error_model='numpy')({name})\n\n\n"
            f"@numba.cfunc(types.void(types.double, {pointers}types.voidptr), cache=True)\n"
            f"def c_{name}(t, {given}, out, data):\n"
            f"    _{name}(t, {given}, out, numba.carray(data, ({max(parameters, 1)},), "
            "dtype=types.double))"
        )
    module = _module(source + "\n\n" + "\n\n\n".join(wrappers) + "\n")
    found = Library("numba", module)
    found.addresses = {name: getattr(module, f"c_{name}").address for name, _ in routines}
    return found
