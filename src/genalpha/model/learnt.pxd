# C types of `genalpha.model.learnt`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product
from genalpha.kernels.vectors cimport combined, norm, plus, scalar_product


cdef class Learnt:
    cdef public double off
    cdef object _matrix
    cdef double _made, _then
    cdef cnp.ndarray _vector, _missed

    cpdef renew(self, matrix, double t)
    @cython.locals(found=cnp.ndarray, then=double, growth=double, age=double)
    cpdef cnp.ndarray times(self, cnp.ndarray x, double t)
    @cython.locals(doubt=double, vector=cnp.ndarray, c=double)
    cpdef double doubt(self, cnp.ndarray x, cnp.ndarray found, double age) except? -1.0
    @cython.locals(whole=double)
    cpdef double missed(self, cnp.ndarray x, cnp.ndarray true) except? -1.0
    @cython.locals(whole=double, square=double, off=double, missed=cnp.ndarray)
    cpdef learn(self, cnp.ndarray x, cnp.ndarray true, double t)
