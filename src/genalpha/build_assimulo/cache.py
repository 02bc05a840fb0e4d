"""The cache of built wheels: one folder per Python, numpy and recipe, each wheel with its hash."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from genalpha.build_assimulo.sources import digest
from genalpha.build_assimulo.stages import VERSION, BuildError, say

HASH_FILE = "sha256"


def default_cache() -> Path:
    """Return the user's cache directory for this project."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "genalpha"


def recipe_hash(folder: Path = Path(__file__).parent) -> str:
    """Return a hash of this package's files: any change of the recipe asks for a new build."""
    files = sorted(path for path in folder.iterdir() if path.suffix in (".py", ".txt"))
    parts = b"".join(path.name.encode() + path.read_bytes() for path in files)
    return hashlib.sha256(parts).hexdigest()[:12]


def cache_key(numpy: str, recipe: str) -> str:
    """Name what a wheel depends on: Assimulo, Python and platform, numpy, and the recipe."""
    # EXT_SUFFIX tells Pythons apart whose extensions do not fit: free-threaded, debug
    python = (sysconfig.get_config_var("EXT_SUFFIX") or sys.implementation.cache_tag).strip(".")
    return f"assimulo-{VERSION}-{python}-numpy-{numpy}-{recipe}"


def open_cache(folder: Path) -> None:
    """Make the cache, for the user alone; refuse one into which others could put a wheel."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    state = folder.stat()
    is_ours = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
    if not is_ours or state.st_mode & 0o002:
        raise BuildError(
            "cache",
            f"other users can write into {folder}: name another folder with --cache, or make it "
            "yours alone with `chmod go-w`",
        )


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock: a second build of the same wheel waits, then finds it in the cache."""
    import fcntl  # not on Windows, which was refused before

    with path.open("w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build of the same wheel is running: waiting for it")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def find_wheel(folder: Path) -> Path | None:
    """Return the wheel of a folder of the cache, if there is one and it is as it was built."""
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        return None
    note = folder / HASH_FILE
    if len(wheels) == 1 and note.exists() and note.read_text().strip() == digest(wheels[0]):
        return wheels[0]
    say(f"the cached wheel in {folder} is damaged or unknown: building it again")
    return None


def store_wheel(wheel: Path, folder: Path) -> Path:
    """Put a wheel and its hash into a folder of the cache, and return the wheel there."""
    # Two steps, so that the cache never holds half a wheel under its final name.
    half = Path(tempfile.mkdtemp(dir=folder.parent, prefix="half-"))
    shutil.copy(wheel, half)
    (half / HASH_FILE).write_text(digest(wheel) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    half.rename(folder)
    return folder / wheel.name
