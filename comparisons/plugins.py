"""Solvers and mechanisms of other people: modules or files that register them when loaded."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path


def located(plugin: str) -> str:
    """Return a plugin as workers find it: a module's name, or the whole path of a file."""
    return str(Path(plugin).resolve()) if plugin.endswith(".py") else plugin


def load(plugin: str) -> None:
    """Import a module, or run a file once."""
    if not plugin.endswith(".py"):
        importlib.import_module(plugin)
        return
    path = Path(plugin).resolve()
    name = f"plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return
    if not path.is_file():
        raise SystemExit(f"--plugin {plugin}: there is no such file")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
