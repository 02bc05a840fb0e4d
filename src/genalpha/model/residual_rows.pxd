# C types of `genalpha.model.residual_rows`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport add_taken, part, taken, write_at, zeros


cdef class Balance:
    cdef public cnp.ndarray motion, position, velocity, rates


cdef class Rows:
    cdef object __weakref__
    cdef public object F, places
    cdef public bint has_rates
    cdef public Py_ssize_t n, m, l, size
    cdef cnp.ndarray _q, _v, _lam, _psi, _motion, _position, _velocity, _signs, _rates
    cdef cnp.ndarray _rate_factors
    cdef tuple _known, _rates_at

    @cython.locals(y=cnp.ndarray, yd=cnp.ndarray)
    cpdef tuple state(
        self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam, cnp.ndarray psi
    )
    cpdef cnp.ndarray rows(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
        cnp.ndarray psi
    )
    @cython.locals(rows=cnp.ndarray)
    cpdef Balance balance(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
        cnp.ndarray psi
    )
    @cython.locals(y=cnp.ndarray, yd=cnp.ndarray)
    cdef cnp.ndarray _rows_of(self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray x)
    @cython.locals(n=Py_ssize_t, m=Py_ssize_t, end=Py_ssize_t, rows=cnp.ndarray)
    cpdef add_balance(
        self, cnp.ndarray r, double c, double cg, double ck, double t, cnp.ndarray q,
        cnp.ndarray v, cnp.ndarray x
    )
    cpdef remember(self, tuple state, cnp.ndarray rows)
    cpdef cnp.ndarray recalled(self, tuple state)
    @cython.locals(rates=cnp.ndarray)
    cpdef Balance split(self, cnp.ndarray rows)
