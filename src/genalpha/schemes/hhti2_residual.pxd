# C types of `genalpha.schemes.hhti2_residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product, solution
from genalpha.kernels.vectors cimport combined, norm, part, plus, stacked, zeros
from genalpha.model.equations cimport Equations
from genalpha.model.residual cimport Balance, OneResidual
from genalpha.numerics.accuracy cimport Scales, larger, size
from genalpha.schemes.hhti2 cimport HHTI2
from genalpha.schemes.hhti2_newton cimport Weights


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, a, f, R
    cdef public double h
    cdef public cnp.ndarray kept, x


cdef class Unknowns:
    cdef public cnp.ndarray a, L0, L1, R0, R1


cdef class Matrices:
    cdef public object position, velocity
    cdef public Scales scales, of_rates
    cdef public object by_lam, mass, inertia


cdef class Reactions:
    cdef Py_ssize_t _n
    cdef list _known

    cpdef add(self, cnp.ndarray L, cnp.ndarray R, double error)
    @cython.locals(found=double)
    cpdef double doubt(self, cnp.ndarray L) except? -1.0
    @cython.locals(c=double, left=cnp.ndarray, reaction=cnp.ndarray)
    cdef tuple _apart(self, cnp.ndarray L)


cdef class HHTI2OfResidual(HHTI2):
    cdef public cnp.ndarray still, no_lam
    cdef public double t0
    cdef public Reactions reactions

    @cython.locals(
        s=State, x=Unknowns, L=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray, found=cnp.ndarray
    )
    cpdef take(self, state, double h)
    @cython.locals(
        n=Py_ssize_t, m=Py_ssize_t, guess=cnp.ndarray, a=cnp.ndarray, L0=cnp.ndarray,
        L1=cnp.ndarray, R1=cnp.ndarray
    )
    cdef _prepare(self, State s, cnp.ndarray a0, double h)
    @cython.locals(w=Weights, half=double, q=cnp.ndarray)
    cdef cnp.ndarray _q1(self, Unknowns x)
    @cython.locals(w=Weights, h=double)
    cdef cnp.ndarray _v1(self, Unknowns x)
    @cython.locals(whole=OneResidual)
    cdef Balance _balance(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam)
    @cython.locals(
        matrices=Matrices, o=Equations, compared=Scales, n=Py_ssize_t,
        m=Py_ssize_t, x=Unknowns, q=cnp.ndarray, v=cnp.ndarray, at=Balance, right=cnp.ndarray,
        d=cnp.ndarray, d_lam=cnp.ndarray, dR=cnp.ndarray, a=cnp.ndarray, L0=cnp.ndarray,
        L1=cnp.ndarray, R0=cnp.ndarray, R1=cnp.ndarray, moved=double, e=cnp.ndarray
    )
    cpdef tuple correct(self, solvers)
    cdef cnp.ndarray _of_reaction(self, cnp.ndarray lack, cnp.ndarray R, Matrices matrices)
    cdef double _uncertainty(self, cnp.ndarray a, cnp.ndarray R) except? -1.0
    @cython.locals(
        whole=OneResidual, allowed=double, error=double, doubt=double, R0=cnp.ndarray,
        vdot=cnp.ndarray, at=Balance, d=cnp.ndarray
    )
    cdef Unknowns _with_old_reaction(self, Unknowns x, Matrices matrices)
    @cython.locals(
        matrices=Matrices, o=Equations, whole=OneResidual, w=Weights, x=Unknowns, n=Py_ssize_t,
        q=cnp.ndarray, v=cnp.ndarray, vdot=cnp.ndarray, at=Balance,
        lack=cnp.ndarray, rate=cnp.ndarray, e=cnp.ndarray, e_lam=cnp.ndarray, dL0=cnp.ndarray,
        dR0=cnp.ndarray, dR1=cnp.ndarray, a=cnp.ndarray, L0=cnp.ndarray, L1=cnp.ndarray,
        R0=cnp.ndarray, R1=cnp.ndarray
    )
    cpdef cnp.ndarray project(self, solvers)
    @cython.locals(w=Weights, per=double)
    cdef cnp.ndarray _moved(self, cnp.ndarray a, cnp.ndarray dR0, cnp.ndarray dR1)
