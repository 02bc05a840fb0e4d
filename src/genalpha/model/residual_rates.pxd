# C types of `genalpha.model.residual_rates`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product
from genalpha.kernels.vectors cimport add, combined, largest_ratio, plus, taken
from genalpha.model.residual_rows cimport Balance, Rows


cdef class Rates(Rows):
    cdef public object latest, inertia_beside
    cdef cnp.ndarray _zero_lam, _zero_psi

    @cython.locals(moved=cnp.ndarray, faster=cnp.ndarray, rows=cnp.ndarray)
    cpdef Balance along(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, double s
    )
    cpdef double motion_time(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot) except? -1.0
    @cython.locals(
        moved=cnp.ndarray, faster=cnp.ndarray, s=double, rows=cnp.ndarray, found=cnp.ndarray
    )
    cpdef cnp.ndarray rate_beside(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
        cnp.ndarray psi, Balance at, double h, cnp.ndarray a=*
    )
    @cython.locals(moved=cnp.ndarray, rows=cnp.ndarray)
    cpdef rate_ahead(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray jerk, double s
    )
    @cython.locals(
        own=bint, T=double, s=double, c=double, third=double, near=Balance, behind=Balance,
        accurate=bint
    )
    cpdef tuple acceleration_level(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, Balance at, double enough
    )
    cpdef rate_there(self, cnp.ndarray v)
