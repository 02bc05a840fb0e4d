# C types of `genalpha.schemes.soi2_asked`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product
from genalpha.kernels.vectors cimport combined, norm, part, plus, stacked
from genalpha.model.learnt cimport Learnt
from genalpha.model.residual cimport Inertia, OneResidual
from genalpha.model.residual_rows cimport Balance
from genalpha.schemes.soi2 cimport GenAlphaSOI2
from genalpha.schemes.soi2_inertia cimport Beside, Following


cdef class Both:
    cdef public cnp.ndarray x, z


cdef class Asked:
    cdef public cnp.ndarray q, v, vdot, lam, psi
    cdef public Balance at


cdef class Asking(GenAlphaSOI2):
    cdef public Inertia inertia
    cdef public Asked asked
    cdef public cnp.ndarray a0
    cdef public Py_ssize_t unverified, verified_matrices, steps_since
    cdef public Learnt by_multipliers
    cdef public tuple known, looked, told
    cdef public double turned, tried
    cdef public bint is_apart_known
    cdef public Beside beside
    cdef public Following apart, reactions

    cpdef _forget(self)
    @cython.locals(
        n=Py_ssize_t, m=Py_ssize_t, whole=OneResidual, lam=cnp.ndarray, psi=cnp.ndarray,
        vdot=cnp.ndarray, at=Balance
    )
    cdef Balance _ask(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray z)
    @cython.locals(
        whole=OneResidual, asked=Asked, vdot=cnp.ndarray, looked=tuple, faster=cnp.ndarray,
        age=double, allowed=double, rate=cnp.ndarray, a=cnp.ndarray, there=cnp.ndarray
    )
    cdef cnp.ndarray _rate(self, Balance at)
    @cython.locals(inertia=Inertia, beside=Beside, found=cnp.ndarray)
    cdef _know_inertia(self, cnp.ndarray a, cnp.ndarray there)
    @cython.locals(
        inertia=Inertia, apart=Following, change=cnp.ndarray, asked=Py_ssize_t, found=cnp.ndarray
    )
    cdef cnp.ndarray _inertia_of(self, cnp.ndarray a, cnp.ndarray other, cnp.ndarray known)
    @cython.locals(
        n=Py_ssize_t, asked=Asked, lam=cnp.ndarray, allowed=double, other=cnp.ndarray,
        change=cnp.ndarray, found=cnp.ndarray, there=Balance, before=cnp.ndarray, about=Learnt,
        reaction=cnp.ndarray
    )
    cdef cnp.ndarray _reaction(self, cnp.ndarray x, cnp.ndarray z, Balance at, cnp.ndarray inertia)
    @cython.locals(whole=OneResidual, asked=Asked)
    cdef bint _mass_is_right(self, cnp.ndarray a) except -1
