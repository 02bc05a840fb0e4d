# C types of `genalpha.schemes.soi2_inertia`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport combined, norm, plus


cdef class Beside:
    cdef list _times, _values
    cdef Py_ssize_t _since
    cdef double _off

    @cython.locals(line=cnp.ndarray, parabola=cnp.ndarray, doubt=double)
    cpdef told(self, double t, double h, cnp.ndarray there, double allowed)
    @cython.locals(value=cnp.ndarray, size=double, off=double)
    cpdef learn(self, double t, double h, cnp.ndarray there, cnp.ndarray true)
    @cython.locals(
        t1=double, t2=double, t3=double, x1=cnp.ndarray, x2=cnp.ndarray, x3=cnp.ndarray,
        slope=cnp.ndarray, before=cnp.ndarray, line=cnp.ndarray, bend=double
    )
    cdef tuple _extrapolated(self, double t)
