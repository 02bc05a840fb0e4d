"""Addresses of LAPACK's functions, for compiled modules."""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

from scipy.linalg import cython_lapack


cdef void* address(str name) except NULL:
    capsule = cython_lapack.__pyx_capi__[name]
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


dgetrf = <Dgetrf> address("dgetrf")
dgetrs = <Dgetrs> address("dgetrs")
