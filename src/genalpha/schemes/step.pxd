# C types of `genalpha.schemes.step`.

from genalpha.model.equations cimport Equations
from genalpha.numerics.newton cimport Newton, Problem


cdef class Step(Problem):
    cdef Equations o
    cdef object settings
    cdef Newton newton
    cdef double relative, alpha, alpha_m, alpha_f, beta, gamma
    cdef tuple relation

    cpdef take(self, state, double h)
