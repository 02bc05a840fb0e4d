# C types of `genalpha.schemes.hhti2`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport plus, stacked
from genalpha.model.equations cimport Equations, Reaction, reaction_at
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.hhti2_following cimport Following
from genalpha.schemes.hhti2_newton cimport Unknowns


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, a, f
    cdef public double h
    cdef public cnp.ndarray kept, x
    cdef public Reaction reaction
    cdef public object mass, solve
    cdef public cnp.ndarray vdot, lam


cdef class HHTI2(Following):
    @cython.locals(o=Equations)
    cpdef begin(self, double t, motion, double h)
    @cython.locals(
        o=Equations, newton=Newton, s=State, a0=cnp.ndarray, L=cnp.ndarray, f1=cnp.ndarray,
        x=Unknowns, vdot=cnp.ndarray, lam=cnp.ndarray, apart=cnp.ndarray
    )
    cpdef take(self, state, double h)
