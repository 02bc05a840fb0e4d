# C types of `genalpha.schemes.hhti2_residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product, solution
from genalpha.kernels.vectors cimport combined, norm, part, plus, stacked
from genalpha.model.equations cimport Equations
from genalpha.model.residual cimport Balance, OneResidual
from genalpha.numerics.accuracy cimport Scales, size
from genalpha.schemes.hhti2_corrections cimport Corrections, Matrices, Unknowns
from genalpha.schemes.hhti2_looks cimport Look, Looks
from genalpha.schemes.hhti2_newton cimport Weights


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, a, f, R
    cdef public double h
    cdef public cnp.ndarray kept, x
    cdef public double doubt


cdef class Pair:
    cdef public cnp.ndarray L, R
    cdef public double doubt


cdef class HHTI2OfResidual(Corrections):
    cdef public cnp.ndarray still, no_lam, lam0
    cdef public double t0
    cdef public bint shows
    cdef public object about
    cdef public Looks looks
    cdef public Pair old, beside

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
        n=Py_ssize_t, m=Py_ssize_t, end=Py_ssize_t, h=double, vdot0=cnp.ndarray, R=cnp.ndarray,
        f=cnp.ndarray, vdot=cnp.ndarray, lam=cnp.ndarray, jerk=cnp.ndarray, a=cnp.ndarray,
        L0=cnp.ndarray, apart=cnp.ndarray, R0=cnp.ndarray, R1=cnp.ndarray
    )
    cdef _guess(self, State s, cnp.ndarray guess)
    @cython.locals(R=cnp.ndarray)
    cdef cnp.ndarray _reaction(self, cnp.ndarray vdot, cnp.ndarray f)
    @cython.locals(whole=OneResidual)
    cdef Balance _balance(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam)
    @cython.locals(
        matrices=Matrices, compared=Scales, n=Py_ssize_t, m=Py_ssize_t, x=Unknowns, q=cnp.ndarray,
        v=cnp.ndarray, at=Look, right=cnp.ndarray, d=cnp.ndarray, change=Unknowns
    )
    cpdef tuple correct(self, solvers)
    cdef double _uncertainty(self, cnp.ndarray a, cnp.ndarray R) except? -1.0
    @cython.locals(
        f=cnp.ndarray, at=Balance, found=Look, vdot=cnp.ndarray, off=double, allowed=double,
        k=Py_ssize_t
    )
    cdef Look _look(self, Unknowns x, cnp.ndarray q, cnp.ndarray v, Matrices matrices)
    @cython.locals(
        whole=OneResidual, at=Balance, vdot=cnp.ndarray, rate=cnp.ndarray, reactions=cnp.ndarray
    )
    cdef Look _look_apart(self, Unknowns x, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f)
    cdef Look _of_states(self, Look found, cnp.ndarray R, Matrices matrices)
    @cython.locals(
        old=Pair, beside=Pair, left=cnp.ndarray, R0=cnp.ndarray, doubt=double, square=double,
        c=double, change=cnp.ndarray
    )
    cdef tuple _guess_of_old_reaction(self, cnp.ndarray L0)
    @cython.locals(
        whole=OneResidual, R0=cnp.ndarray, left=cnp.ndarray, change=cnp.ndarray, doubt=double,
        vdot=cnp.ndarray, at=Balance, d=cnp.ndarray, error=double
    )
    cdef Unknowns _with_old_reaction(self, Unknowns x, Matrices matrices)
    cdef cnp.ndarray _of_moving(self, cnp.ndarray lack, cnp.ndarray R, Matrices matrices)
    @cython.locals(
        looks=Looks, n=Py_ssize_t, m=Py_ssize_t, own=cnp.ndarray, allowed=double,
        vdot=cnp.ndarray, lam=cnp.ndarray, curvature=cnp.ndarray, reaction=cnp.ndarray,
        lack=cnp.ndarray, count=Py_ssize_t, d=cnp.ndarray, d_lam=cnp.ndarray,
        other=cnp.ndarray, missed=cnp.ndarray, doubt=double, moved=double, seen=bint,
        at=Balance, wrong=cnp.ndarray
    )
    cdef tuple _shown(
        self, Unknowns x, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f, Matrices matrices
    )
    cdef double _age(self) except? -1.0
