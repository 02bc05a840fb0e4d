# C types of `genalpha.schemes.hhti2_corrections`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product, solution
from genalpha.kernels.vectors cimport combined, part, plus, stacked
from genalpha.numerics.accuracy cimport Scales, larger, size
from genalpha.schemes.hhti2 cimport HHTI2
from genalpha.schemes.hhti2_looks cimport Look
from genalpha.schemes.hhti2_newton cimport Weights


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, a, f, R
    cdef public double h
    cdef public cnp.ndarray kept, x
    cdef public double doubt
    cdef public cnp.ndarray vdot


cdef class Unknowns:
    cdef public cnp.ndarray a, L0, L1, R0, R1


cdef class Matrices:
    cdef public object position, velocity
    cdef public Scales scales, of_rates
    cdef public object forces, G, by_lam, mass, inertia


cdef class Corrections(HHTI2):
    @cython.locals(w=Weights, half=double, q=cnp.ndarray)
    cdef cnp.ndarray _q1(self, Unknowns x)
    @cython.locals(w=Weights, h=double)
    cdef cnp.ndarray _v1(self, Unknowns x)
    @cython.locals(
        w=Weights, h=double, n=Py_ssize_t, m=Py_ssize_t, d_lam=cnp.ndarray, dR=cnp.ndarray,
        a=cnp.ndarray, faster=cnp.ndarray, rate=cnp.ndarray, e=cnp.ndarray, e_lam=cnp.ndarray,
        dL0=cnp.ndarray, dL1=cnp.ndarray, dR0=cnp.ndarray, dR1=cnp.ndarray
    )
    cdef tuple _corrections(self, Look at, cnp.ndarray d, Matrices matrices)
    cdef cnp.ndarray _of_rates(self, cnp.ndarray faster, cnp.ndarray d, Matrices matrices)
    @cython.locals(n=Py_ssize_t, m=Py_ssize_t, z=cnp.ndarray)
    cdef Unknowns _accelerated(self, Unknowns d, cnp.ndarray q, Scales compared)
    @cython.locals(
        w=Weights, n=Py_ssize_t, m=Py_ssize_t, per=double, dR0=cnp.ndarray, a=cnp.ndarray,
        R1=cnp.ndarray, L1=cnp.ndarray, y=Unknowns, value=cnp.ndarray, of_q=cnp.ndarray,
        change=cnp.ndarray, moved=double, faster=cnp.ndarray, of_lam=cnp.ndarray
    )
    cdef tuple _change(
        self, Unknowns x, cnp.ndarray q, cnp.ndarray v, Unknowns d, Matrices matrices
    )
    @cython.locals(w=Weights, per=double)
    cdef cnp.ndarray _moved(self, cnp.ndarray a, cnp.ndarray dR0, cnp.ndarray dR1)
