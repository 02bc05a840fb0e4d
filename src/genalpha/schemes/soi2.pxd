# C types of `genalpha.schemes.soi2`.

cimport cython
cimport numpy as cnp
from genalpha.numerics.accuracy cimport scales, size
from genalpha.model.equations cimport Equations, Reaction
from genalpha.numerics.newton cimport Newton
from genalpha.numerics.prediction cimport extended, predicted
from genalpha.kernels.matrices cimport add_product, product, solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked, zeros


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, lam, psi, a, Ma, a_old, Ma_old, f
    cdef public double h
    cdef public tuple past


cdef class Unknowns:
    cdef public cnp.ndarray x, y
    cdef public Reaction reaction


cdef class Trial:
    cdef public double t
    cdef public cnp.ndarray q_hat, v_hat
    cdef public object M1
    cdef public cnp.ndarray old
    cdef public double hb, hg


cdef class Matrices:
    cdef public object position, velocity, scales


cpdef tuple adjusted(settings, State state, double h)

@cython.locals(
    alpha_m=double, alpha_f=double, shift=double, n=Py_ssize_t, m=Py_ssize_t, half=Py_ssize_t,
    trial=Trial, unknowns=Unknowns, x=cnp.ndarray, y=cnp.ndarray, a0=cnp.ndarray, Ma0=cnp.ndarray
)
cpdef State step(Equations o, settings, Newton newton, State state, double h)

@cython.locals(
    t=double, hb=double, hg=double, n=Py_ssize_t, m=Py_ssize_t, moved=double, d=cnp.ndarray,
    e=cnp.ndarray, r=cnp.ndarray, x=cnp.ndarray, y=cnp.ndarray
)
cpdef tuple _correct(
    Equations o, settings, Newton newton, Trial trial, Unknowns unknowns,
    Matrices matrices
)

@cython.locals(s=State)
cpdef State slim(State state)

cdef cnp.ndarray _of_the_end(cnp.ndarray x, cnp.ndarray y, Py_ssize_t n)

@cython.locals(
    t=double, hb=double, hg=double, n=Py_ssize_t, m=Py_ssize_t, e=cnp.ndarray, r=cnp.ndarray,
    x=cnp.ndarray, y=cnp.ndarray, reaction=Reaction
)
cpdef tuple _project(
    Equations o, settings, Trial trial, Unknowns unknowns, Matrices matrices
)

@cython.locals(
    weight_m=double, weight_f=double, t=double, hb=double, hg=double, n=Py_ssize_t, m=Py_ssize_t,
    x=cnp.ndarray, y=cnp.ndarray
)
cpdef Matrices _matrices(
    Equations o, settings, Newton newton, Trial trial, Unknowns unknowns
)
