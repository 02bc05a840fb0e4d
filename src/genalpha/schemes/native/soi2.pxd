# C types of `genalpha.schemes.native.soi2`.

from genalpha.schemes.native.linear cimport LU
from genalpha.schemes.native.newton cimport Steps


cdef class SOI2(Steps):
    cdef double weight_m, weight_f, hb, hg
    # the unknowns of the projection, which follow those of the position step
    cdef double* y
    cdef double* Ma
    cdef double* Ma_old
    cdef double* f
    cdef double* old
    cdef double* M1
    cdef double* G1
    cdef double* q_hat
    cdef double* v_hat
    cdef double* q1
    cdef double* v1
    cdef double* v1_t
    cdef double* d
    cdef double* e
    cdef double* end
    cdef double* change
    cdef LU position
    cdef LU velocity

    cdef void place(self) noexcept nogil
    cdef void project(self) noexcept nogil
    cdef void put_gradients(self, LU* lu, double c, double along, double t) noexcept nogil
