# C types of `genalpha.schemes.hhti2_shown`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product, solution
from genalpha.kernels.vectors cimport combined, norm, part, plus, stacked
from genalpha.model.learnt cimport Learnt
from genalpha.model.residual_rows cimport Balance
from genalpha.numerics.prediction cimport Pasts
from genalpha.schemes.hhti2_corrections cimport Matrices, State, Unknowns
from genalpha.schemes.hhti2_looks cimport Looks
from genalpha.schemes.hhti2_old_reactions cimport Guess, OldReactions, Pair


cdef class Shown(OldReactions):
    cdef public cnp.ndarray free_lam, zero
    cdef public bint shows
    cdef public Looks looks

    @cython.locals(
        n=Py_ssize_t, m=Py_ssize_t, end=Py_ssize_t, h=double, vdot0=cnp.ndarray, R=cnp.ndarray,
        f=cnp.ndarray, vdot=cnp.ndarray, lam=cnp.ndarray, jerk=cnp.ndarray, a=cnp.ndarray,
        L0=cnp.ndarray, L1=cnp.ndarray, apart=cnp.ndarray, R0=cnp.ndarray, R1=cnp.ndarray
    )
    cdef _guess(self, State s, cnp.ndarray guess)
    @cython.locals(
        looks=Looks, about=Learnt, n=Py_ssize_t, m=Py_ssize_t, accurate=double, allowed=double,
        vdot=cnp.ndarray, lam=cnp.ndarray, curvature=cnp.ndarray, known=Pair, guess=Guess,
        true=cnp.ndarray, lack=cnp.ndarray, count=Py_ssize_t, d=cnp.ndarray, d_lam=cnp.ndarray,
        change=cnp.ndarray, doubt=double, moved=double, last=double, seen=bint, at=Balance,
        wrong=cnp.ndarray
    )
    cdef tuple _shown(
        self, Unknowns x, cnp.ndarray q, cnp.ndarray v, cnp.ndarray f, Matrices matrices
    )
    cdef Balance _balance(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam)
