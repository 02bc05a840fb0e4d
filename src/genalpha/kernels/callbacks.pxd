# What compiled modules call of `callbacks` without a detour over Python.

cimport numpy as cnp

cpdef called(function, double t, cnp.ndarray q, cnp.ndarray v=*)
