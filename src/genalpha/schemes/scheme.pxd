# C types of `genalpha.schemes.scheme`.

from genalpha.model.equations cimport Equations
from genalpha.numerics.counters cimport Counters
from genalpha.numerics.newton cimport Newton, Problem
from genalpha.numerics.prediction cimport Past


cdef class Scheme(Problem):
    cdef public Equations o
    cdef public object settings
    cdef public Newton newton
    cdef public double relative
    cdef public bint shifts
    cdef public Counters counters
    cdef public Past past
    cdef public object systems

    cpdef factorize(self, name, A, R, J)
    cpdef count_matrix(self)
    cpdef take(self, state, double h)
    cpdef remember(self, double t, state)


cdef class GeneralizedAlpha(Scheme):
    cdef public double alpha, alpha_m, alpha_f, beta, gamma
    cdef public tuple relation
    cdef public bint adjusts
