"""The compiled parts, which pyproject.toml cannot describe; without a compiler they are left out.

A Python module that has a .pxd file beside it, with the C types of its functions, is compiled as
it is; so are the kernels, which have a Python twin.
"""

import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCES = [
    path.with_suffix(kind)
    for path in sorted(Path("src/genalpha").rglob("*.pxd"))
    for kind in (".py", ".pyx")
    if path.with_suffix(kind).exists()
]
EXTENSIONS = [
    Extension(
        ".".join(source.with_suffix("").parts[1:]),
        [str(source)],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        # loops over vectors are in the kernels; symbols for a debugger would double a wheel's size
        extra_compile_args=["-O3" if source.suffix == ".pyx" else "-O2", "-g0"],
    )
    for source in SOURCES
]

MODULES = cythonize(
    EXTENSIONS,
    # C files fit one Python and one NumPy
    build_dir=f"build/cython/{sys.implementation.cache_tag}-numpy-{numpy.__version__}",
    include_path=["src"],
    # the types are in the .pxd files; annotations are for people and mypy
    compiler_directives={"language_level": 3, "annotation_typing": False, "cpow": True},
)
for module in MODULES:
    module.optional = True  # here, because cythonize forgets it

setup(ext_modules=MODULES, options={"build_ext": {"parallel": True}})
