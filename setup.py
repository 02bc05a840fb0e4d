"""The compiled part, which pyproject.toml cannot describe; without a compiler it is left out."""

import numpy
from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "genalpha.kernels.compiled",
            ["src/genalpha/kernels/compiled.pyx"],
            include_dirs=[numpy.get_include()],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
