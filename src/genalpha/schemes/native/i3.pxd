# C types of `genalpha.schemes.native.i3`.

from genalpha.schemes.native.linear cimport LU
from genalpha.schemes.native.newton cimport Steps


cdef class I3(Steps):
    cdef double bp, gp
    cdef double* q_hat
    cdef double* v_hat
    cdef double* a_hat
    cdef double* q1
    cdef double* v1
    cdef double* d
    cdef LU matrix
    cdef void place(self) noexcept nogil
