"""Fetch what the build needs from the package registry, and trust nothing but its hash."""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
import zipfile
from pathlib import Path

from genalpha.build_assimulo.stages import BuildError, run

#: The build tools with all that they need, by version and hash (`make pin` writes it).
TOOLS = Path(__file__).with_name("tools.txt")
SDISTS = {
    "3.0": "61cdca4562745078c966cc4fab44d8bc0db11a9e6856b45c470ac65c16af9e8a",
    # has the f2py signature files that 3.0 forgot
    "2.9": "e61f5278618f3c2c920c0ef758eae0ae9a0538240d0ceaaae06b5dadff35aa2e",
}


def install_tools(folder: Path, log: Path) -> dict[str, str]:
    """Install the build tools into a folder of their own; return the environment that has them.

    They come before this environment's packages, whose numpy is the one to compile against.
    """
    pip = [sys.executable, "-m", "pip", "install", "--target", str(folder), "--no-deps"]
    only = ["--only-binary", ":all:", "--require-hashes", "--requirement", str(TOOLS)]
    run("tools", [*pip, *only], log)
    earlier = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(folder), *([earlier] if earlier else [])])}


def fetch(version: str, folder: Path, tools: dict[str, str], log: Path) -> Path:
    """Fetch, check and unpack one sdist; return the folder of its setup.py.

    ``pip download`` runs the sdist's setup.py for its metadata, which fails; unearth does not.
    """
    folder.mkdir()
    unearth = [sys.executable, "-m", "unearth", "--no-binary", "--download", str(folder)]
    run("sources", [*unearth, f"assimulo=={version}"], log, env=tools)
    archives = [path for path in folder.iterdir() if path.is_file()]
    if len(archives) != 1:
        raise BuildError("sources", f"expected one sdist of {version}, got {archives}", log)
    check_hash(archives[0], SDISTS[version])
    unpack(archives[0], folder)
    return next(path.parent for path in folder.glob("*/setup.py"))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_hash(archive: Path, expected: str) -> None:
    """Refuse an archive that is not the one this recipe was written for."""
    found = digest(archive)
    if found != expected:
        raise BuildError(
            "sources",
            f"{archive.name} is not the file that it should be: "
            f"its SHA-256 is {found}, expected {expected}",
        )


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive, and nothing of it outside the folder."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as files:
            files.extractall(folder)  # drops drives, leading slashes and ".."
        return
    with tarfile.open(archive) as files:
        if hasattr(tarfile, "data_filter"):
            files.extractall(folder, filter="data")
        else:  # Pythons before 3.10.12 and 3.11.4
            extract_plain_files(files, folder)


def extract_plain_files(files: tarfile.TarFile, folder: Path) -> None:
    """Do what the filter "data" does, as far as an sdist needs it: files and folders inside."""
    top = folder.resolve()
    for member in files.getmembers():
        inside = (top / member.name).resolve().is_relative_to(top)
        if not inside or not (member.isfile() or member.isdir()):
            raise BuildError("sources", f"the sdist has the unexpected member {member.name!r}")
    files.extractall(folder)
