# C types of `genalpha.schemes.soi2_residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked
from genalpha.model.equations cimport Equations
from genalpha.model.residual cimport Ahead, Balance, Inertia, OneResidual
from genalpha.numerics.accuracy cimport size
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.soi2 cimport GenAlphaSOI2, Matrices, State


cdef class Both:
    cdef public cnp.ndarray x, z


cdef class Asked:
    cdef public cnp.ndarray q, v, lam, psi
    cdef public Balance at
    cdef public cnp.ndarray vdot
    cdef public Ahead ahead


cdef class SOI2OfResidual(GenAlphaSOI2):
    cdef public Inertia inertia
    cdef public Asked asked
    cdef public cnp.ndarray a0

    @cython.locals(
        o=Equations, n=Py_ssize_t, a0=cnp.ndarray, Ma0=cnp.ndarray, found=Both, x=cnp.ndarray,
        z=cnp.ndarray, a1=cnp.ndarray, Ma1=cnp.ndarray
    )
    cpdef take(self, state, double h)
    @cython.locals(
        o=Equations, whole=OneResidual, shift=double, half=Py_ssize_t, guess=cnp.ndarray,
        x=cnp.ndarray, ahead=cnp.ndarray
    )
    cdef _prepare(self, State state, cnp.ndarray a0, cnp.ndarray Ma0, double h)
    @cython.locals(
        n=Py_ssize_t, m=Py_ssize_t, whole=OneResidual, lam=cnp.ndarray, psi=cnp.ndarray, at=Balance
    )
    cdef Balance _ask(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray x)
    @cython.locals(top=cnp.ndarray)
    cdef cnp.ndarray _lack(
        self, cnp.ndarray x, Balance at, double cg, cnp.ndarray g, double ck, cnp.ndarray k
    )
    @cython.locals(
        matrices=Matrices, o=Equations, newton=Newton, found=Both, hb=double, hg=double,
        n=Py_ssize_t, m=Py_ssize_t, x=cnp.ndarray, z=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray,
        at=Balance, k=cnp.ndarray, right=cnp.ndarray, d=cnp.ndarray, e=cnp.ndarray, moved=double,
        change=cnp.ndarray
    )
    cpdef tuple correct(self, solvers)
    @cython.locals(
        matrices=Matrices, found=Both, hg=double, n=Py_ssize_t, whole=OneResidual, x=cnp.ndarray,
        z=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray, at=Balance, rate=cnp.ndarray, asked=Asked,
        ahead=Ahead, right=cnp.ndarray, e=cnp.ndarray
    )
    cpdef cnp.ndarray project(self, solvers)
