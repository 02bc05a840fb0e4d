# C types of `genalpha.schemes.step`.

from genalpha.model.equations cimport Equations
from genalpha.numerics.newton cimport Newton, Problem


cdef class Step(Problem):
    cdef public Equations o
    cdef public object settings
    cdef public Newton newton
    cdef public double relative, alpha, alpha_m, alpha_f, beta, gamma
    cdef public tuple relation

    cpdef take(self, state, double h)
