# C types of `genalpha.schemes.hhti2_looks`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product
from genalpha.kernels.vectors cimport add, combined, norm, plus, zeros
from genalpha.model.residual cimport OneResidual
from genalpha.model.residual_rows cimport Balance


cdef class Look:
    cdef public cnp.ndarray forces, reactions, position, rate


cdef class Looks:
    cdef OneResidual _whole
    cdef double _t, _h, _relative
    cdef public cnp.ndarray vdot, lam, curvature, v, rate
    cdef cnp.ndarray _jerk, _seen, _slope
    cdef bint _jumps

    @cython.locals(change=cnp.ndarray, seen=bint)
    cpdef Look look(
        self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f, cnp.ndarray f0, Balance at,
        double allowed
    )
    cpdef bint settles(
        self, cnp.ndarray v, Balance at, double off, double allowed, double age
    ) except -1
    @cython.locals(moved=double, whole=double)
    cpdef double doubt(self, cnp.ndarray v) except? -1.0
    cpdef look_again(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, Balance at)
    @cython.locals(T=double, s=double, near=Balance, reactions=cnp.ndarray)
    cdef Look _with_rows(
        self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f, cnp.ndarray change, Balance at
    )
    @cython.locals(
        s=double, c=double, near=Balance, behind=Balance, here=cnp.ndarray, rate=cnp.ndarray,
        forces=cnp.ndarray, apart=cnp.ndarray, usual=double
    )
    cdef Look _without_rows(
        self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f, cnp.ndarray change, Balance at,
        bint seen
    )
    @cython.locals(
        moved=cnp.ndarray, faster=cnp.ndarray, forces=cnp.ndarray, rows=cnp.ndarray
    )
    cdef Balance _beside(
        self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f, cnp.ndarray change, double s
    )
