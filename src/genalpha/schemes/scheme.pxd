# C types of `genalpha.schemes.scheme`.

from genalpha.model.equations cimport Equations
from genalpha.numerics.newton cimport Newton, Problem


cdef class Scheme(Problem):
    cdef public Equations o
    cdef public object settings
    cdef public Newton newton
    cdef public double relative
    cdef public bint shifts

    cpdef take(self, state, double h)


cdef class GeneralizedAlpha(Scheme):
    cdef public double alpha, alpha_m, alpha_f, beta, gamma
    cdef public tuple relation
    cdef public bint adjusts
