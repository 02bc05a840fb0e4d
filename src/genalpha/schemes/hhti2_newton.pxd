# C types of `genalpha.schemes.hhti2_newton`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport add_product, solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked, zeros
from genalpha.model.equations cimport Equations, Reaction
from genalpha.numerics.accuracy cimport larger, scales, size
from genalpha.numerics.newton cimport Newton


cdef class Site:
    cdef public object mass
    cdef public Reaction reaction


cdef class Unknowns:
    cdef public cnp.ndarray a, L0, L1, R0, R1
    cdef public Site site


cdef class Matrices:
    cdef public object position, velocity, scales


cdef class Weights:
    cdef public double q0, q1, v0, v1, projection0, projection1


cdef class Trial:
    cdef public double t, h
    cdef public cnp.ndarray q_hat, v_hat, f0
    cdef public double hb, hg
    cdef public Weights weights
    cdef public cnp.ndarray v0
    cdef public Reaction reaction0
    cdef public object solve0, place


cpdef Site site_at(Equations o, double t, cnp.ndarray q)

@cython.locals(n=Py_ssize_t, m=Py_ssize_t, R0=cnp.ndarray)
cpdef Unknowns first_guess(Equations o, Trial trial, cnp.ndarray guess)

@cython.locals(w=Weights, h=double, half=double, q=cnp.ndarray, v=cnp.ndarray)
cpdef tuple position_and_velocity(Trial trial, cnp.ndarray a, cnp.ndarray R0, cnp.ndarray R1)

@cython.locals(alpha=double)
cpdef cnp.ndarray new_force(settings, cnp.ndarray a1, cnp.ndarray f0)

@cython.locals(per_beta=double, w=Weights)
cdef cnp.ndarray _without_reactions(settings, Trial trial, cnp.ndarray R0, cnp.ndarray R1)

@cython.locals(
    t=double, h=double, n=Py_ssize_t, m=Py_ssize_t, r=cnp.ndarray, d=cnp.ndarray,
    d_lam=cnp.ndarray, moved=double
)
cpdef tuple correct(
    Equations o, settings, Newton newton, Trial trial, Unknowns x, Matrices matrices
)

@cython.locals(w=Weights, n=Py_ssize_t, m=Py_ssize_t, site=Site, r=cnp.ndarray, e=cnp.ndarray)
cpdef tuple project(Equations o, settings, Trial trial, Unknowns x, Matrices matrices)

@cython.locals(r=cnp.ndarray)
cdef cnp.ndarray _old_reaction(Trial trial, cnp.ndarray L0)
