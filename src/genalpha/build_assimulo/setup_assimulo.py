"""Stands in for the setup.py of Assimulo 3.0, which needs numpy.distutils (gone since Python 3.12).

It is copied into the patched sources and run there, never imported. The Cython modules are built
as Assimulo builds them. Of each Fortran library, f2py writes the C wrapper from its signature file,
gfortran compiles the Fortran, and setuptools links both into one extension.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.f2py
from Cython.Build import cythonize
from setuptools import Extension, setup

THIRD_PARTY = Path("assimulo/thirdparty")
JOBS = os.cpu_count() or 1
FORTRAN = ("gfortran", "-std=legacy", "-fallow-argument-mismatch", "-fPIC", "-O2")
FIXED_FORM = ("-ffixed-form",)  # also in files that end in .f90
NO_DEBUGGING = "-g0"  # many Pythons ask for it, which makes the wheel large and its build slow
DOUBLE_REALS = ("-fdefault-real-8", "-fdefault-double-8")


class Library(NamedTuple):
    """A Fortran library: its module in ``assimulo.lib``, its signature file and its sources."""

    name: str
    signature: str
    sources: str
    flags: tuple[str, ...] = ()


# Sources are listed such that a Fortran module comes before those that use it.
LIBRARIES = (
    Library("dopri5", "hairer/dopri5.pyf", "dopri5.f"),
    Library("rodas", "hairer/rodas_decsol.pyf", "rodas_decsol.f"),
    Library("radau5", "hairer/radau_decsol.pyf", "radau_decsol.f"),
    Library(
        "radar5",
        "hairer/radar5.pyf",
        "radar5.f90 contr5.f90 radar5_int.f90 dontr5.f90 decsol.f90 dc_decdel.f90",
        FIXED_FORM,
    ),
    Library("odepack", "odepack/odepack.pyf", "opkdmain.f opkda1.f opkda2.f odepack_aux.f90"),
    Library(
        "odassl",
        "odassl/odassl.pyf",
        "odassl.f odastp.f odacor.f odajac.f d1mach.f daxpy.f ddanrm.f ddatrp.f ddot.f ddwats.f "
        "dgefa.f dgesl.f dscal.f idamax.f xerrwv.f",
    ),
    Library(
        "dasp3dp",
        "dasp3/dasp3dp.pyf",
        "DASP3.f ANORM.f CTRACT.f DECOMP.f HMAX.f INIVAL.f JACEST.f PDERIV.f PREPOL.f SOLVE.f "
        "SPAPAT.f",
        DOUBLE_REALS,
    ),
)


def run(command: list[str], folder: Path) -> None:
    """Run a command in a folder; a failure ends the build with the command's own output."""
    subprocess.run(command, cwd=folder, check=True)


def fortran_extension(library: Library) -> Extension:
    """Wrap and compile one Fortran library, and describe how it is linked."""
    signature = (THIRD_PARTY / library.signature).resolve()
    folder = Path("build/fortran", library.name)
    folder.mkdir(parents=True)
    run([sys.executable, "-m", "numpy.f2py", str(signature)], folder)
    wrapper = folder / f"{library.name}module.c"
    sources = [str(signature.parent / name) for name in library.sources.split()]
    # what f2py writes in Fortran, where a library needs it
    sources += [path.name for path in sorted(folder.glob("*-f2pywrappers*.f*"))]
    for source in sources:
        target = Path(source).with_suffix(".o").name
        run([*FORTRAN, *library.flags, "-c", source, "-o", target], folder)
    f2py = Path(numpy.f2py.__file__).parent / "src"
    return Extension(
        f"assimulo.lib.{library.name}",
        # a copy of numpy's file for each, so that no two compilers write the same object file
        [str(wrapper), copied(f2py / "fortranobject.c", folder)],
        include_dirs=[np.get_include(), str(f2py)],
        extra_compile_args=[NO_DEBUGGING],
        extra_objects=[str(path) for path in sorted(folder.glob("*.o"))],
        libraries=["gfortran"],
        library_dirs=[fortran_library_folder()],
    )


def copied(path: Path, folder: Path) -> str:
    """Copy a file into a folder and return where it is."""
    target = folder / path.name
    target.write_bytes(path.read_bytes())
    return str(target)


def fortran_library_folder() -> str:
    """Ask gfortran where its run-time library is; the C compiler may not know."""
    name = "libgfortran.dylib" if sys.platform == "darwin" else "libgfortran.so"
    command = ["gfortran", f"-print-file-name={name}"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return str(Path(answer.strip()).parent)


def cython_extensions() -> list[Extension]:
    """Describe Assimulo's Cython modules, those for SUNDIALS aside."""
    sources = [*Path("assimulo").glob("*.pyx"), Path("assimulo/solvers/euler.pyx")]
    extensions = [
        Extension(
            ".".join(source.with_suffix("").parts),
            [str(source)],
            include_dirs=[np.get_include()],
            extra_compile_args=[NO_DEBUGGING],
        )
        for source in sources
    ]
    return cythonize(
        extensions,
        include_path=[".", "assimulo"],
        # the meaning that these sources were written for, with Cython before 3
        compiler_directives={"language_level": 2, "legacy_implicit_noexcept": True},
    )


if __name__ == "__main__":
    with ThreadPoolExecutor(JOBS) as pool:
        fortran = list(pool.map(fortran_extension, LIBRARIES))
    setup(
        name="Assimulo",
        version="3.0",
        license="LGPL-3.0-only",
        packages=[
            "assimulo",
            "assimulo.lib",
            "assimulo.solvers",
            "assimulo.examples",
            "assimulo.tests",
            "assimulo.tests.solvers",
        ],
        package_data={
            "assimulo": ["version.txt", "CHANGELOG", "README", "LICENSE", "thirdparty/*/LICENSE_*"],
            "assimulo.examples": ["*.mtx"],
        },
        include_package_data=False,
        ext_modules=[*cython_extensions(), *fortran],
        options={"build_ext": {"parallel": JOBS}},
    )
