# C types of `genalpha.numerics.trend`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport weighted_cosine


cpdef double motion_part(double error, double h) except? -1.0


cdef class Trend:
    cdef list _past

    @cython.locals(
        oldest=double, last=double, now=double, before=double, change=double, shift=double
    )
    cpdef double factor(self, double phi, cnp.ndarray snap, cnp.ndarray weight) except? -1.0
    cpdef append(self, double phi, cnp.ndarray snap)
