# C types of `genalpha.schemes.soi2_residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked
from genalpha.kernels.matrices cimport solution
from genalpha.model.equations cimport Equations
from genalpha.model.residual cimport OneResidual
from genalpha.model.residual_rows cimport Balance
from genalpha.numerics.accuracy cimport Scales, scales, size
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.soi2 cimport Matrices, State
from genalpha.schemes.soi2_asked cimport Asked, Asking, Both
from genalpha.schemes.soi2_past cimport PastOfSteps


cdef class SOI2OfResidual(Asking):
    cdef public PastOfSteps past_of_steps

    @cython.locals(
        o=Equations, n=Py_ssize_t, a0=cnp.ndarray, Ma0=cnp.ndarray, found=Both, x=cnp.ndarray,
        z=cnp.ndarray, a1=cnp.ndarray, Ma1=cnp.ndarray
    )
    cpdef take(self, state, double h)
    @cython.locals(
        whole=OneResidual, shift=double, x=cnp.ndarray, z=cnp.ndarray, ahead=cnp.ndarray
    )
    cdef _prepare(self, State state, cnp.ndarray a0, cnp.ndarray Ma0, double h)
    @cython.locals(
        matrices=Matrices, o=Equations, newton=Newton, found=Both, hb=double, hg=double,
        n=Py_ssize_t, m=Py_ssize_t, x=cnp.ndarray, z=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray,
        at=Balance, k=cnp.ndarray, of_z=cnp.ndarray, inertia=cnp.ndarray, top=cnp.ndarray,
        difference=cnp.ndarray, asked=Asked, right=cnp.ndarray, d=cnp.ndarray, e=cnp.ndarray,
        moved=double, change=cnp.ndarray, rate=cnp.ndarray
    )
    cpdef tuple correct(self, solvers)
    @cython.locals(
        o=Equations, newton=Newton, found=Both, hb=double, hg=double, n=Py_ssize_t, m=Py_ssize_t,
        x=cnp.ndarray, z=cnp.ndarray, q=cnp.ndarray, v=cnp.ndarray, lam=cnp.ndarray,
        psi=cnp.ndarray, vdot=cnp.ndarray, wm=double, wf=double, compared=Scales,
        lam_t=cnp.ndarray
    )
    cpdef setup(self)
