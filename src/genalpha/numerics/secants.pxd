# C types of `genalpha.numerics.secants`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport broyden, combined, norm, part, plus, secant


cdef class Secants:
    cdef public bint learns
    cdef public double missed
    cdef double _made
    cdef list _pairs, _moves
    cdef cnp.ndarray _given, _moved

    cpdef begin(self)
    cpdef renew(self)
    @cython.locals(moved=double, lost=double, wrong=cnp.ndarray)
    cpdef cnp.ndarray accelerated(
        self, cnp.ndarray d, Py_ssize_t n, double weight, double t, double noise=*
    )
    cpdef cnp.ndarray improved(self, cnp.ndarray d, Py_ssize_t n, double weight, double t)
