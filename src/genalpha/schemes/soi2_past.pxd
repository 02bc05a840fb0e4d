# C types of `genalpha.schemes.soi2_past`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport combined, part, plus, stacked
from genalpha.numerics.prediction cimport Past


cdef class PastOfSteps:
    cdef Py_ssize_t _n, _count, _appended
    cdef double _alpha
    cdef tuple _relation
    cdef Past _a, _multipliers, _apart

    @cython.locals(n=Py_ssize_t, count=Py_ssize_t, x=cnp.ndarray, z=cnp.ndarray)
    cpdef append(self, double t, double h, cnp.ndarray unknowns)
    @cython.locals(relation=tuple, a=cnp.ndarray, z=cnp.ndarray)
    cpdef tuple guess(self, double t, double h)
