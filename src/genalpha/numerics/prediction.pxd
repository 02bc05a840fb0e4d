# C types of `genalpha.numerics.prediction`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport extrapolated, part, remember, stacked


cdef class Past:
    cdef cnp.ndarray _times, _values
    cdef Py_ssize_t _newest, _known, _equal
    cdef double _t, _h

    @cython.locals(h=double, part=double, length=Py_ssize_t)
    cpdef append(self, double t, cnp.ndarray x)
    @cython.locals(known=Py_ssize_t, smooth=Py_ssize_t)
    cpdef cnp.ndarray predicted(self, double t, tuple relation=*)
    @cython.locals(part=double)
    cdef bint _is_one_more(self, double t) except -1


cdef class Pasts(Past):
    cdef Py_ssize_t _n, _appended, _size
    cdef Past _of_y

    @cython.locals(n=Py_ssize_t, size=Py_ssize_t)
    cpdef append(self, double t, cnp.ndarray x)
    @cython.locals(x=cnp.ndarray)
    cpdef cnp.ndarray predicted(self, double t, tuple relation=*)
