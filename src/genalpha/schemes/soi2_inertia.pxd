# C types of `genalpha.schemes.soi2_inertia`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product
from genalpha.kernels.vectors cimport combined, norm, plus


cdef class Beside:
    cdef list _known
    cdef Py_ssize_t _since
    cdef double _last, _off

    cpdef forget(self)
    @cython.locals(found=tuple)
    cpdef told(self, double t, double h, cnp.ndarray there, double allowed)
    @cython.locals(value=cnp.ndarray, size=double, known=list, found=tuple, off=double)
    cpdef learn(self, double t, double h, cnp.ndarray there, cnp.ndarray true, made_of=*)
    @cython.locals(
        t1=double, t2=double, t3=double, t4=double, h1=double, h2=double, h3=double, h4=double,
        e1=cnp.ndarray, e2=cnp.ndarray, e3=cnp.ndarray, e4=cnp.ndarray, x=double, x2=double,
        x3=double, x4=double, y=double, y2=double, y3=double, y4=double, z=double, z2=double,
        z3=double, z4=double, det=double, b2=double, b3=double, d2=double, d3=double, left=double,
        c=double, least=double, low=cnp.ndarray, missed=cnp.ndarray
    )
    cdef tuple _extrapolated(self, double t, double h)


cdef class Following(Beside):
    cdef object _matrix

    cpdef renew(self, matrix)
    cpdef times(self, double t, double h, cnp.ndarray x, double allowed)
    cpdef follow(self, double t, double h, cnp.ndarray x, cnp.ndarray true)
