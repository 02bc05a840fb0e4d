# C types of `genalpha.schemes.hhti2_following`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.callbacks cimport called
from genalpha.kernels.matrices cimport product, solution
from genalpha.kernels.vectors cimport add, combined, norm, part, plus, stacked
from genalpha.model.equations cimport Equations, Reaction
from genalpha.schemes.hhti2_newton cimport Holonomic, Matrices, Unknowns


cdef class Following(Holonomic):
    cdef public bint follows
    cdef public cnp.ndarray lam0, guessed

    @cython.locals(
        n=Py_ssize_t, m=Py_ssize_t, h=double, end=Py_ssize_t, guess=cnp.ndarray, f=cnp.ndarray,
        vdot=cnp.ndarray, lam=cnp.ndarray, apart0=cnp.ndarray, apart1=cnp.ndarray, a=cnp.ndarray,
        L0=cnp.ndarray, L1=cnp.ndarray, R1=cnp.ndarray
    )
    cpdef Unknowns guess(self)
    @cython.locals(
        o=Equations, x=Unknowns, n=Py_ssize_t, m=Py_ssize_t, matrices=Matrices, reaction=Reaction,
        found=cnp.ndarray, curvature=cnp.ndarray, vdot=cnp.ndarray, lam=cnp.ndarray, r=cnp.ndarray,
        d=cnp.ndarray
    )
    cpdef tuple true_motion(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f)
