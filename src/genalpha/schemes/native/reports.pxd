# C types of `genalpha.schemes.native.reports`.

from genalpha.schemes.native.callbacks cimport Callback, Callbacks
from genalpha.schemes.native.linear cimport LU


cdef class Reports(Callbacks):
    cdef Callback mass, force, G, K, g_two, k_one
    cdef LU inertia, saddle
    cdef double* x

    cdef bint of_multipliers(self, double t, double* q, double* v, double* kept,
                             double* vdot) noexcept nogil
    cdef bint of_constraints(self, double t, double* q, double* v, double* vdot) noexcept nogil
