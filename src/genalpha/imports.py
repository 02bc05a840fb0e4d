"""Compiled modules or their Python sources: which ones are imported.

The modules that every step runs through are compiled: those with a .pxd file beside them, which
gives their variables C types (see setup.py). The Python file is the source all the same. It is
run as it is, with the same results but 10 to 30 times slower for small mechanisms, if

- there was no compiler when genalpha was installed,
- the environment variable GENALPHA_PLAIN is set, or
- genalpha runs from a checkout whose sources have changed since they were compiled.

It is all of them or none, because compiled modules rely on each other's types.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


def _sources(types: Path) -> list[Path]:
    """Return the module, in Python or Cython, that a .pxd file belongs to; some have none."""
    return [x for x in (types.with_suffix(".py"), types.with_suffix(".pyx")) if x.exists()]


def _is_compiled() -> bool:
    """Tell whether every module that can be compiled is, and in a checkout, up to date."""
    is_checkout = (HERE.parents[1] / "setup.py").exists()
    types = [path for path in HERE.rglob("*.pxd") if _sources(path)]
    for path in types:
        built = [path.with_suffix(suffix) for suffix in EXTENSION_SUFFIXES]
        times = [file.stat().st_mtime for file in built if file.exists()]
        if not times:
            return False
        newest = max(file.stat().st_mtime for file in (path, *_sources(path)))
        if is_checkout and max(times) < newest:
            return False
    return bool(types)


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


#: Whether compiled modules are in use.
COMPILED = not os.environ.get("GENALPHA_PLAIN") and _is_compiled()
if not COMPILED:
    sys.meta_path.insert(0, _Sources)
