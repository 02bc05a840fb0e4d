"""The machine, the versions and the code that a record comes from."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import datetime, timezone
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import genalpha
from genalpha.imports import MODE

PACKAGES = ("genalpha", "numpy", "scipy", "assimulo", "scikit-sundae", "solve-dae", "exudyn")
#: A record made where these differ is not taken for one made here.
DECISIVE = ("cpu", "python", "code", "mode", *PACKAGES)
#: What of genalpha and of the harness is code.
SOURCES = (".py", ".pyx", ".pxd")


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def digest(*roots: Path) -> str:
    """Return a digest of the sources in some folders, so that stale records are known."""
    found = hashlib.sha256()
    for root in roots:
        for path in sorted(x for x in root.rglob("*") if x.suffix in SOURCES):
            found.update(path.relative_to(root).as_posix().encode() + b"\0")
            found.update(path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


@lru_cache(maxsize=1)
def environment() -> dict[str, str]:
    """Return machine, versions, digest of the code, and whether it ran compiled."""
    return {
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "code": digest(Path(genalpha.__file__).parent, Path(__file__).parent),
        "mode": MODE,
        **{package: _version(package) for package in PACKAGES},
    }


def same_code(recorded: dict[str, str]) -> bool:
    """Tell whether a record was made by this code, on this kind of machine."""
    here = environment()
    return all(recorded.get(key) == here[key] for key in DECISIVE)


def now() -> str:
    """Return date and time in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
