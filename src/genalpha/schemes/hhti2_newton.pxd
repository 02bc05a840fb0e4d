# C types of `genalpha.schemes.hhti2_newton`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.callbacks cimport called
from genalpha.kernels.matrices cimport add_product, solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked, zeros
from genalpha.model.equations cimport Equations, Reaction, mass_then, reaction_at
from genalpha.numerics.accuracy cimport Scales, larger, scales, size
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.hht cimport HHT, new_force


cdef class Unknowns:
    cdef public cnp.ndarray a, L0, L1, R0, R1
    cdef public object mass
    cdef public Reaction reaction


cdef class Matrices:
    cdef public object position, velocity
    cdef public Scales scales, of_rates


cdef class Weights:
    cdef public double q0, q1, v0, v1, projection0, projection1


cdef class Holonomic(HHT):
    cdef public double t, h, hb, hg
    cdef public str variant
    cdef public Weights weights
    cdef public cnp.ndarray q0, v0, f0, q_hat, v_hat
    cdef public Reaction reaction0
    cdef public object solve0

    @cython.locals(x=Unknowns)
    cpdef prepare(
        self, double h, double t0, cnp.ndarray q0, cnp.ndarray v0, cnp.ndarray a0, cnp.ndarray f0,
        Reaction reaction0, solve0
    )
    @cython.locals(
        n=Py_ssize_t, m=Py_ssize_t, guess=cnp.ndarray, a=cnp.ndarray, L0=cnp.ndarray,
        L1=cnp.ndarray, R1=cnp.ndarray
    )
    cpdef Unknowns guess(self)
    @cython.locals(w=Weights, half=double, q=cnp.ndarray)
    cpdef cnp.ndarray position(self, Unknowns x)
    @cython.locals(w=Weights, h=double, v=cnp.ndarray)
    cpdef cnp.ndarray velocity(self, Unknowns x)
    cpdef cnp.ndarray new_force(self, cnp.ndarray a1)
    @cython.locals(r=cnp.ndarray)
    cpdef cnp.ndarray old_reaction(self, cnp.ndarray L0)
    @cython.locals(
        o=Equations, x=Unknowns, t=double, h=double, n=Py_ssize_t, m=Py_ssize_t, r=cnp.ndarray,
        d=cnp.ndarray, d_lam=cnp.ndarray, moved=double, matrices=Matrices, q=cnp.ndarray,
        v=cnp.ndarray, L0=cnp.ndarray, L1=cnp.ndarray, R0=cnp.ndarray, R1=cnp.ndarray
    )
    cpdef tuple correct(self, solvers)
    @cython.locals(
        o=Equations, w=Weights, x=Unknowns, n=Py_ssize_t, m=Py_ssize_t, r=cnp.ndarray,
        e=cnp.ndarray, matrices=Matrices, R0=cnp.ndarray, dR0=cnp.ndarray
    )
    cpdef cnp.ndarray project(self, solvers)
    @cython.locals(per_beta=double, w=Weights)
    cdef cnp.ndarray _unmoved(self, cnp.ndarray a, cnp.ndarray dR0, cnp.ndarray dR1)
    @cython.locals(o=Equations, reaction=Reaction, weight=double, t=double, q=cnp.ndarray)
    cdef _add_imbalance_of_reaction(self, cnp.ndarray r, cnp.ndarray v, Unknowns x)
