# C types of `genalpha.model.residual_blocks`; the residual is of a module that needs this one.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport largest, largest_change, row_times, rows_at, summed
from genalpha.kernels.vectors cimport increments, plus
from genalpha.model.staying cimport Staying, Together


cdef class Blocks:
    cdef public object A, G, K, R


cdef class Derivatives:
    cdef public object whole
    cdef cnp.ndarray _multipliers, _motion, _position, _velocity, _signs, _pattern, _G, _before
    cdef Together _alone, _together, _worth
    cdef Staying _staying
    cdef bint _learns
    cdef double _last_setup, _made, _elapsed, _turning
    @cython.locals(before=cnp.ndarray, elapsed=double)
    cpdef note(self, double t, cnp.ndarray G)
    cpdef double turned(self, double t) except? -1.0
    @cython.locals(c=double)
    cpdef cnp.ndarray gradient(self, double t)
    cdef tuple _parts(self, cnp.ndarray D, double cq, double cv)
    @cython.locals(base=cnp.ndarray, sizes=cnp.ndarray, D=cnp.ndarray)
    cpdef Blocks differenced(self, tuple state, double ca, double cq, double cv)
    @cython.locals(units=cnp.ndarray, doubts=cnp.ndarray, D=cnp.ndarray)
    cdef cnp.ndarray _complete(
        self, tuple state, cnp.ndarray base, cnp.ndarray sizes, double ca, double cq, double cv
    )
    @cython.locals(
        d=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray, vdot=cnp.ndarray, i=Py_ssize_t
    )
    cdef list _moved(
        self, Together together, tuple state, cnp.ndarray sizes, double ca, double cq, double cv
    )
    cdef cnp.ndarray _units(self, double ca, double cq, double cv)
    cdef cnp.ndarray _sizes(
        self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, double cq, double cv
    )
    cdef Together _chosen(self, double t)
    cdef bint _learn(self, cnp.ndarray D) except -1
    cpdef Blocks from_jacobian(self, tuple state, double ca, double cq, double cv)
