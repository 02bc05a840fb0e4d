# C types of `genalpha.numerics.trend`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport weighted_cosine


cpdef double motion_part(double error, double h) except? -1.0
cpdef double moved(double error, double change, double older) except? -1.0


cdef class Trend:
    cdef double _phi
    cdef cnp.ndarray _snap

    @cython.locals(change=double)
    cpdef double change(self, double phi, cnp.ndarray snap, cnp.ndarray weight) except? -1.0
    cpdef append(self, double phi, cnp.ndarray snap)
