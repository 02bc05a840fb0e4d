# C types of `genalpha.numerics.weights`.

cimport numpy as cnp
from genalpha.kernels.vectors cimport error_weights, weighted_norm


cdef class Tolerances:
    cdef public double rtol
    cdef public cnp.ndarray q, v, lam, psi
    cdef public double share

    cpdef double norm_q(self, cnp.ndarray error, cnp.ndarray q, cnp.ndarray q_new) except? -1.0
    cpdef cnp.ndarray weights_v(self, cnp.ndarray v, cnp.ndarray v_new)
    cpdef double norm_v(self, cnp.ndarray error, cnp.ndarray v, cnp.ndarray v_new) except? -1.0
