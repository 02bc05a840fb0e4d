# C types of `genalpha.schemes.native.reports`.

from genalpha.kernels.memory cimport Size
from genalpha.schemes.native.linear cimport LU
from genalpha.schemes.native.newton cimport Callback


cdef class Reports:
    cdef list _kept
    cdef dict _natives
    cdef Size n, m, l
    cdef Callback mass, force, G, K, g_two, k_one
    cdef LU inertia, saddle
    cdef double* x

    cdef double* room(self, Size count)
    cdef int load(self, Callback* f, str name, Size size) except -1
    cdef _count(self, Callback* f, str name)
    cdef bint of_multipliers(self, double t, double* q, double* v, double* kept,
                             double* vdot) noexcept nogil
    cdef bint of_constraints(self, double t, double* q, double* v, double* vdot) noexcept nogil
