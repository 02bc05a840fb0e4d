# C types of `genalpha.model.residual_blocks`; the residual is of a module that needs this one.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport largest, largest_change, row_times, rows_at, summed
from genalpha.kernels.vectors cimport increments, plus, slopes


cdef class Blocks:
    cdef public object A, G, K, R


cdef class Together:
    cdef public cnp.ndarray members
    cdef public Py_ssize_t count
    cdef cnp.ndarray _colour, _pattern
    @cython.locals(D=cnp.ndarray)
    cpdef cnp.ndarray placed(self, list rows, cnp.ndarray base, cnp.ndarray sizes)


cdef class Derivatives:
    cdef public object whole
    cdef cnp.ndarray _multipliers, _motion, _position, _velocity, _signs, _pattern, _G, _before
    cdef Together _alone, _together, _worth
    cdef bint _learns
    cdef double _last_setup, _made, _elapsed, _turning
    @cython.locals(before=cnp.ndarray, elapsed=double)
    cpdef note(self, double t, cnp.ndarray G)
    cpdef double turned(self, double t) except? -1.0
    @cython.locals(c=double)
    cpdef cnp.ndarray gradient(self, double t)
    cdef tuple _parts(self, cnp.ndarray D, double cq, double cv)
    @cython.locals(
        base=cnp.ndarray, sizes=cnp.ndarray, complete=bint, together=Together, found=list,
        D=cnp.ndarray, d=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray, vdot=cnp.ndarray,
        i=Py_ssize_t
    )
    cpdef Blocks differenced(self, tuple state, double ca, double cq, double cv)
    cdef cnp.ndarray _sizes(
        self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, double cq, double cv
    )
    cdef Together _chosen(self, double t)
    cdef _learn(self, cnp.ndarray D)
    cpdef Blocks from_jacobian(self, tuple state, double ca, double cq, double cv)
