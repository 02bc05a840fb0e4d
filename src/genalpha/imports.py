"""Compiled modules or their Python sources: which ones are imported.

The modules that every step runs through are compiled: those with a .pxd file beside them, which
gives their variables C types (see setup.py). The Python file is the source all the same. It is
run as it is, with the same results but 10 to 30 times slower for small mechanisms, if

- the environment variable GENALPHA_PLAIN is set,
- there was no compiler when genalpha was installed, or
- genalpha runs from a checkout whose sources have changed since they were compiled.

The last two are said once, in a `PlainSourcesWarning`. It is all of them or none, because compiled
modules rely on each other's types. Public names are the same in both modes (a test compares them).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


class PlainSourcesWarning(RuntimeWarning):
    """Sources are run where compiled modules were to be expected."""


def _sources(types: Path) -> list[Path]:
    """Return the module, in Python or Cython, that a .pxd file belongs to; some have none."""
    return [x for x in (types.with_suffix(".py"), types.with_suffix(".pyx")) if x.exists()]


def _why_plain() -> str:
    """Say which module is not compiled, or not up to date, and what to do; empty if none is."""
    is_checkout = (HERE.parents[1] / "setup.py").exists()
    what_to_do = (
        "`make setup` compiles it"
        if is_checkout
        else "install genalpha again where there is a C compiler"
    )
    found = {
        types: sources for types in sorted(HERE.rglob("*.pxd")) if (sources := _sources(types))
    }
    for types, sources in found.items():
        name = sources[0].relative_to(HERE).as_posix()
        built = [types.with_suffix(suffix) for suffix in EXTENSION_SUFFIXES]
        times = [file.stat().st_mtime for file in built if file.exists()]
        if not times:
            return f"{name} is not compiled; {what_to_do}"
        newest = max(file.stat().st_mtime for file in (types, *sources))
        if is_checkout and max(times) < newest:
            return f"{name} has changed since it was compiled; {what_to_do}"
    return "" if found else f"nothing of it is compiled; {what_to_do}"


class _Sources:
    """Finds the Python sources of our modules, whatever has been compiled."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("genalpha.") or path is None:
            return None
        found = (FileFinder(folder, (SourceFileLoader, [".py"])).find_spec(name) for folder in path)
        return next((spec for spec in found if spec is not None and spec.loader), None)


_WANTED = bool(os.environ.get("GENALPHA_PLAIN"))
_REASON = "" if _WANTED else _why_plain()
#: Whether compiled modules are in use.
COMPILED = not (_WANTED or _REASON)
#: The same in one word, for records.
MODE = "compiled" if COMPILED else "plain"
if not COMPILED:
    sys.meta_path.insert(0, _Sources)
if _REASON:
    warnings.warn(
        "genalpha runs its Python sources, 10 to 30 times slower than compiled ones: "
        f"{_REASON} (GENALPHA_PLAIN=1 runs them without this warning)",
        PlainSourcesWarning,
        stacklevel=2,
    )
