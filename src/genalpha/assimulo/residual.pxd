# C types of `genalpha.assimulo.residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport snapshot


cdef class Residual:
    cdef object __weakref__
    cdef public object problem
    cdef public bint explicit, asks_jacobian
    cdef public object switches
    cdef public Py_ssize_t calls, matrix_calls
    cdef dict _signatures
    cdef object _simple

    @cython.locals(vector=cnp.ndarray)
    cpdef fresh(self, double t, cnp.ndarray y, cnp.ndarray yd)
