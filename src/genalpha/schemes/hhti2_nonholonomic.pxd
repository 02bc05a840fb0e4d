# C types of `genalpha.schemes.hhti2_nonholonomic`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.callbacks cimport called
from genalpha.kernels.matrices cimport add_product, solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked, zeros
from genalpha.model.equations cimport Equations, mass_now
from genalpha.numerics.accuracy cimport Scales, larger, scales, size
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.hht cimport HHT, new_force


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, a, f
    cdef public double h
    cdef public cnp.ndarray kept, x


cdef class Unknowns:
    cdef public cnp.ndarray a, P, R


cdef class Matrices:
    cdef public object solve
    cdef public Scales scales


cdef class Nonholonomic(HHT):
    cdef public double t, h, hb, hg, t_middle
    cdef public cnp.ndarray v0, f0, q_hat, v_hat, q_middle
    cdef public object solve_mass

    @cython.locals(x=Unknowns)
    cpdef take(self, state, double h)
    @cython.locals(o=Equations, n=Py_ssize_t, a0=cnp.ndarray, guess=cnp.ndarray, P=cnp.ndarray)
    cdef _begin(self, State state, double h)
    cpdef cnp.ndarray position(self, Unknowns x)
    cpdef cnp.ndarray velocity(self, Unknowns x)
    @cython.locals(mean=cnp.ndarray, r=cnp.ndarray)
    cpdef cnp.ndarray reaction(self, cnp.ndarray v, cnp.ndarray P)
    @cython.locals(
        o=Equations, newton=Newton, x=Unknowns, t=double, hg=double, n=Py_ssize_t, q=cnp.ndarray,
        v=cnp.ndarray, r=cnp.ndarray, d=cnp.ndarray, P=cnp.ndarray, R=cnp.ndarray, a=cnp.ndarray,
        matrices=Matrices
    )
    cpdef tuple correct(self, solvers)
