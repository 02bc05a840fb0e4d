# C types of `genalpha.schemes.hht`.

cimport numpy as cnp
from genalpha.kernels.vectors cimport combined, plus
from genalpha.schemes.scheme cimport GeneralizedAlpha


cdef class HHT(GeneralizedAlpha):
    cpdef cnp.ndarray adjusted(self, cnp.ndarray a, cnp.ndarray f, double ratio)


cpdef cnp.ndarray new_force(double alpha, cnp.ndarray a1, cnp.ndarray f0)
