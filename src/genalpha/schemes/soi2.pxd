# C types of `genalpha.schemes.soi2`.

cimport cython
cimport numpy as cnp
from genalpha.numerics.accuracy cimport Scales, scales, size
from genalpha.model.equations cimport Equations, Reaction, mass_then, reaction_at
from genalpha.numerics.newton cimport Newton
from genalpha.kernels.callbacks cimport called
from genalpha.kernels.matrices cimport add_product, product, solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked, zeros
from genalpha.schemes.scheme cimport GeneralizedAlpha


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, kept, a, Ma, a_old, Ma_old, f
    cdef public double h
    cdef public cnp.ndarray x
    cdef public Py_ssize_t m, n_psi


cdef class Unknowns:
    cdef public cnp.ndarray x, y
    cdef public Reaction reaction


cdef class Matrices:
    cdef public object position, velocity
    cdef public Scales scales, of_rates


cdef class GenAlphaSOI2(GeneralizedAlpha):
    cdef public double weight_m, weight_f, t, hb, hg
    cdef public cnp.ndarray q_hat, v_hat, old, still
    cdef public object M1

    @cython.locals(ratio=double)
    cpdef tuple adjusted(self, State state, double h)
    @cython.locals(
        o=Equations, newton=Newton, found=Unknowns, x=cnp.ndarray, y=cnp.ndarray, n=Py_ssize_t,
        end=cnp.ndarray, a0=cnp.ndarray, Ma0=cnp.ndarray, a1=cnp.ndarray
    )
    cpdef take(self, state, double h)
    @cython.locals(
        o=Equations, shift=double, half=Py_ssize_t, guess=cnp.ndarray, x=cnp.ndarray, y=cnp.ndarray
    )
    cdef _begin(self, State state, cnp.ndarray a0, cnp.ndarray Ma0, double h)
    @cython.locals(
        o=Equations, newton=Newton, found=Unknowns, matrices=Matrices, t=double, hb=double,
        hg=double, n=Py_ssize_t, m=Py_ssize_t, moved=double, d=cnp.ndarray, e=cnp.ndarray,
        r=cnp.ndarray, x=cnp.ndarray, y=cnp.ndarray
    )
    cpdef tuple correct(self, solvers)
    @cython.locals(
        o=Equations, found=Unknowns, matrices=Matrices, t=double, hg=double, n=Py_ssize_t,
        m=Py_ssize_t, e=cnp.ndarray, r=cnp.ndarray, x=cnp.ndarray, y=cnp.ndarray, reaction=Reaction
    )
    cpdef cnp.ndarray project(self, solvers)
    @cython.locals(
        o=Equations, found=Unknowns, t=double, hb=double, hg=double, n=Py_ssize_t,
        m=Py_ssize_t, x=cnp.ndarray, y=cnp.ndarray
    )
    cpdef setup(self)


cdef cnp.ndarray _of_the_end(cnp.ndarray x, cnp.ndarray y, Py_ssize_t n)
