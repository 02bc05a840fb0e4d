# C types of `genalpha.schemes.i3`.

cimport cython
cimport numpy as cnp
from genalpha.numerics.accuracy cimport scales, size
from genalpha.model.equations cimport Equations
from genalpha.numerics.newton cimport Newton
from genalpha.numerics.prediction cimport extended, predicted
from genalpha.kernels.matrices cimport product, solution, transposed_product
from genalpha.kernels.vectors cimport add, combined, norm, part, plus, stacked, zeros


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, vdot, lam, psi, a, a_old
    cdef public double h
    cdef public tuple past


cdef class Trial:
    cdef public double t
    cdef public cnp.ndarray q_hat, v_hat
    cdef public double bp, gp


cdef class Matrices:
    cdef public object solve, scales


cpdef tuple adjusted(Equations o, settings, Newton newton, State state, double h)

@cython.locals(
    alpha_m=double, alpha_f=double, beta=double, gamma=double, t1=double, bp=double, gp=double,
    n=Py_ssize_t, m=Py_ssize_t, x=cnp.ndarray, a0=cnp.ndarray, v0=cnp.ndarray
)
cpdef State step(Equations o, settings, Newton newton, State state, double h)

cpdef State slim(State state)

@cython.locals(
    n=Py_ssize_t, m=Py_ssize_t, t=double, bp=double, gp=double, displacement=double,
    d=cnp.ndarray, r=cnp.ndarray
)
cpdef tuple _correct(
    Equations o, double relative, Newton newton, Trial trial, cnp.ndarray x,
    Matrices matrices
)

@cython.locals(
    n=Py_ssize_t, m=Py_ssize_t, t=double, bp=double, gp=double
)
cpdef Matrices _matrices(Equations o, Newton newton, Trial trial, cnp.ndarray x)
