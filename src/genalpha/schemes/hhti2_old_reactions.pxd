# C types of `genalpha.schemes.hhti2_old_reactions`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product, solution
from genalpha.kernels.vectors cimport combined, norm, part, plus, scalar_product
from genalpha.model.equations cimport Equations
from genalpha.model.learnt cimport Learnt
from genalpha.model.residual cimport OneResidual
from genalpha.model.residual_rows cimport Balance
from genalpha.schemes.hhti2_corrections cimport Corrections, Matrices, Unknowns


cdef class Pair:
    cdef public cnp.ndarray L, R
    cdef public double doubt


cdef class Guess:
    cdef public cnp.ndarray R, left, change
    cdef public double doubt


cdef class OldReactions(Corrections):
    cdef public OneResidual whole
    cdef public Py_ssize_t n_moving, n_states
    cdef public Learnt about
    cdef public double turned, turned_then, t0
    cdef public Pair old, beside

    @cython.locals(
        about=Learnt, left=cnp.ndarray, R=cnp.ndarray, doubt=double, square=double, c=double,
        d=double, across=cnp.ndarray, change=cnp.ndarray
    )
    cdef Guess _guess_of_reaction(
        self, cnp.ndarray L, Pair old, Pair beside, double t, double error
    )
    @cython.locals(doubt=double)
    cdef double _doubt(self, cnp.ndarray left, cnp.ndarray change) except? -1.0
    @cython.locals(
        guess=Guess, R0=cnp.ndarray, error=double, vdot=cnp.ndarray, at=Balance, d=cnp.ndarray
    )
    cdef Unknowns _with_old_reaction(self, Unknowns x, Matrices matrices)
    cdef cnp.ndarray _of_moving(self, cnp.ndarray lack, cnp.ndarray R, Matrices matrices)
    @cython.locals(R=cnp.ndarray)
    cdef cnp.ndarray _reaction(self, cnp.ndarray vdot, cnp.ndarray f)
    @cython.locals(k=Py_ssize_t)
    cdef double _uncertainty(self, cnp.ndarray a, cnp.ndarray R) except? -1.0
    cdef _note_age(self)
    cdef double _age(self) except? -1.0
