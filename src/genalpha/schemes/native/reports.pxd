# C types of `genalpha.schemes.native.reports`.

from genalpha.kernels.memory cimport Size
from genalpha.schemes.native.callbacks cimport Callback, Callbacks
from genalpha.schemes.native.linear cimport LU


cdef class Reports(Callbacks):
    cdef Callback mass, force, G, K, g_two, k_one, g, rate, k
    cdef LU inertia, saddle
    cdef Size size
    cdef double* x

    cdef bint of_multipliers(self, double t, double* q, double* v, double* kept,
                             double* vdot) noexcept nogil
    cdef bint of_constraints(self, double t, double* q, double* v) noexcept nogil
    cdef bint factorize_at(self, double t, double* q, double* v) noexcept nogil
    cdef bint project(self, double t, double* q, double* v, double* close) noexcept nogil
    cdef bint come_near(self, double t, double* q, double* v, double* x, double* close,
                        double* moved) noexcept nogil
