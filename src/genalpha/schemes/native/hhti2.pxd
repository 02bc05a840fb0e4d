# C types of `genalpha.schemes.native.hhti2`.

from genalpha.schemes.native.linear cimport LU
from genalpha.schemes.native.newton cimport Steps


cdef class HHTI2(Steps):
    cdef double hb, hg
    # see `genalpha.schemes.hhti2_newton.Weights`
    cdef double q0, q1, v0, v1, projection0, projection1
    # parts of the unknowns
    cdef double* L0
    cdef double* L1
    cdef double* R1
    cdef double* f
    cdef double* f1
    cdef double* M1
    cdef double* G0
    cdef double* G1
    cdef double* transported
    cdef double* q_hat
    cdef double* v_hat
    cdef double* q_end
    cdef double* v_end
    cdef double* R0
    cdef double* R0_new
    cdef double* dR
    cdef double* dR1
    cdef double* d
    cdef double* e
    cdef double* end
    cdef double* change
    cdef LU position
    cdef LU velocity
    # the mass at q0: whether it is known for good, and whether it can be inverted
    cdef LU inertia
    cdef bint has_inertia, is_regular

    cdef void mass_of_the_end(self) noexcept nogil
    cdef void old_reaction(self, double* R) noexcept nogil
    cdef void place(self) noexcept nogil
    cdef void new_force(self) noexcept nogil
    cdef void change_of_old_reaction(self) noexcept nogil
    cdef void keep_position(self, double* dR0, double* dR1) noexcept nogil
    cdef void compared(self) noexcept nogil
    cdef void project(self) noexcept nogil
    cdef void transport(self) noexcept nogil
    cdef void put_gradients(self, LU* lu, double old, double new) noexcept nogil
