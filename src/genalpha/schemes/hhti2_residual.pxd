# C types of `genalpha.schemes.hhti2_residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product, solution
from genalpha.kernels.vectors cimport combined, norm, part, plus, stacked
from genalpha.model.equations cimport Equations
from genalpha.model.residual cimport OneResidual
from genalpha.model.residual_rows cimport Balance
from genalpha.numerics.accuracy cimport Scales, size
from genalpha.schemes.hhti2_corrections cimport Matrices, State, Unknowns
from genalpha.schemes.hhti2_looks cimport Look, Looks
from genalpha.schemes.hhti2_newton cimport Weights
from genalpha.schemes.hhti2_old_reactions cimport Guess, Pair
from genalpha.schemes.hhti2_shown cimport Shown


cdef class HHTI2OfResidual(Shown):
    cdef public cnp.ndarray still
    cdef public object constant

    @cython.locals(
        s=State, x=Unknowns, L=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray, f=cnp.ndarray,
        found=cnp.ndarray, vdot=cnp.ndarray, lam=cnp.ndarray, doubt=double, kept=cnp.ndarray,
        apart=cnp.ndarray
    )
    cpdef take(self, state, double h)
    @cython.locals(
        n=Py_ssize_t, m=Py_ssize_t, guess=cnp.ndarray, a=cnp.ndarray, L0=cnp.ndarray,
        L1=cnp.ndarray, R0=cnp.ndarray
    )
    cdef _prepare(self, State s, cnp.ndarray a0, double h)
    @cython.locals(
        matrices=Matrices, compared=Scales, n=Py_ssize_t, m=Py_ssize_t, x=Unknowns, q=cnp.ndarray,
        v=cnp.ndarray, at=Look, right=cnp.ndarray, d=cnp.ndarray, change=Unknowns
    )
    cpdef tuple correct(self, solvers)
    @cython.locals(
        f=cnp.ndarray, at=Balance, found=Look, vdot=cnp.ndarray, off=double, allowed=double,
        lack=cnp.ndarray, looks=Looks, rate=cnp.ndarray
    )
    cdef Look _look(self, Unknowns x, cnp.ndarray q, cnp.ndarray v, Matrices matrices)
    @cython.locals(
        at=Balance, vdot=cnp.ndarray, rate=cnp.ndarray, reactions=cnp.ndarray
    )
    cdef Look _look_apart(self, Unknowns x, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f)
    @cython.locals(k=Py_ssize_t)
    cdef Look _of_states(self, Look found, cnp.ndarray R, Matrices matrices)
