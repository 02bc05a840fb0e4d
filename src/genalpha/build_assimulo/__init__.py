"""Build Assimulo 3.0 from the package registry's own sdists and install it here.

Most users have Assimulo from conda-forge and never need this. The registry of Python packages
has only old sdists of it, and the newest does not build as it is. This package

1. checks pip, numpy and the compilers (as root on Debian it installs a missing gfortran);
2. fetches the build tools, and the sdists 3.0 and 2.9 (3.0 forgot its f2py signature files), each
   checked by its hash;
3. patches the sources (each patch is a function of ``patches``, which says why);
4. compiles a wheel with ``setup_assimulo``, keeps it in the user's cache directory with its hash,
   installs it and solves a pendulum with it.

The next environment with the same Python, numpy and recipe takes the cached wheel: no network, no
compiler. Two builds at once wait for each other. Run it as ``python -m genalpha.build_assimulo``;
it needs pip and the standard library only.
"""

from genalpha.build_assimulo.command import build_and_install, main
from genalpha.build_assimulo.stages import BuildError, UnavailableError

__all__ = ["BuildError", "UnavailableError", "build_and_install", "main"]
