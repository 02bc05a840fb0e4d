# C types of `genalpha.schemes.i3`.

cimport cython
cimport numpy as cnp
from genalpha.numerics.accuracy cimport Scales, scales, size
from genalpha.model.equations cimport Equations, add_balance
from genalpha.numerics.newton cimport Newton
from genalpha.kernels.matrices cimport product, snapshot, solution
from genalpha.kernels.vectors cimport add, combined, part, plus, stacked, zeros
from genalpha.numerics.gradients cimport StepTerms, step_terms
from genalpha.numerics.prediction cimport Past
from genalpha.schemes.drift cimport drifted, present_drift
from genalpha.schemes.scheme cimport GeneralizedAlpha


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, x, a, a_old
    cdef public double h
    cdef public Py_ssize_t n, m
    cdef public double offset
    cdef public object rate, unit_drift_before, unit_drift


cdef class Matrices:
    cdef public object solve
    cdef public Scales scales
    cdef public object G


cdef class GenAlphaI3(GeneralizedAlpha):
    cdef public double t, bp, gp, offset, drift, earlier
    cdef public str adjustment
    cdef public bint updates_gamma
    cdef public cnp.ndarray q_hat, v_hat, a_hat
    cdef public Past places

    @cython.locals(
        o=Equations, ratio=double, change=double, a=cnp.ndarray, drift=cnp.ndarray, square=double,
        share=double
    )
    cpdef tuple adjusted(self, State state, double h)
    @cython.locals(
        bp=double, gp=double, o=Equations, x=cnp.ndarray, a0=cnp.ndarray, n=Py_ssize_t,
        m=Py_ssize_t
    )
    cpdef take(self, state, double h)
    @cython.locals(
        alpha_m=double, alpha_f=double, beta=double, gamma=double, v0=cnp.ndarray, a0=cnp.ndarray,
        a_hat=cnp.ndarray
    )
    cdef cnp.ndarray _begin(self, State state, double h)
    @cython.locals(o=Equations, newton=Newton, matrices=Matrices, q=cnp.ndarray, there=cnp.ndarray)
    cdef cnp.ndarray _guess(self)
    cpdef remember(self, double t, state)
    @cython.locals(
        o=Equations, newton=Newton, x=cnp.ndarray, n=Py_ssize_t, m=Py_ssize_t, t=double, bp=double,
        gp=double, displacement=double, d=cnp.ndarray, r=cnp.ndarray, matrices=Matrices
    )
    cpdef tuple correct(self, solvers)
    @cython.locals(
        o=Equations, newton=Newton, x=cnp.ndarray, n=Py_ssize_t, m=Py_ssize_t, t=double, bp=double,
        gp=double, S=StepTerms, compared=Scales
    )
    cpdef setup(self)
