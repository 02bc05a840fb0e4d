# C types of `genalpha.schemes.step`.

from genalpha.numerics.newton cimport Problem


cdef class Step(Problem):
    cpdef take(self, state, double h)
