# C types of `genalpha.schemes.hhti2_nonholonomic`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport add_product, solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked, zeros
from genalpha.model.equations cimport Equations
from genalpha.numerics.accuracy cimport larger, scales, size
from genalpha.numerics.newton cimport Newton
from genalpha.numerics.prediction cimport extended, predicted
from genalpha.schemes.hhti2 cimport adjusted
from genalpha.schemes.hhti2_newton cimport new_force


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, a, f
    cdef public double h
    cdef public cnp.ndarray P
    cdef public tuple past


cdef class Unknowns:
    cdef public cnp.ndarray a, P, R


cdef class Trial:
    cdef public double t, h
    cdef public cnp.ndarray q_hat, v_hat, v0, f0
    cdef public double hb, hg
    cdef public tuple middle
    cdef public object solve_mass


cdef class Matrices:
    cdef public object solve, scales


@cython.locals(t1=double, n=Py_ssize_t, trial=Trial, x=Unknowns)
cpdef State step(Equations o, settings, Newton newton, State state, double h)

cdef cnp.ndarray _reaction(Equations o, Trial trial, cnp.ndarray v, cnp.ndarray P)

@cython.locals(h=double, q=cnp.ndarray)
cdef tuple _position_and_velocity(Trial trial, Unknowns x)

@cython.locals(t=double, hg=double, n=Py_ssize_t, r=cnp.ndarray, d=cnp.ndarray, moved=double)
cpdef tuple _correct(
    Equations o, settings, Newton newton, Trial trial, Unknowns x, Matrices matrices
)

@cython.locals(s=State)
cpdef State slim(State state)
