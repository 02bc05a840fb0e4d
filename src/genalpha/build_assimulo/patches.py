"""Patches of Assimulo's sources: text in, text out; each refuses a text it was not written for."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path


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
