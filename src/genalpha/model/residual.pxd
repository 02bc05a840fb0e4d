# C types of `genalpha.model.residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product
from genalpha.kernels.vectors cimport (
    add, add_taken, combined, largest_ratio, norm, part, plus, taken, write_at, zeros
)
from genalpha.model.learnt cimport Learnt


cdef class Balance:
    cdef public cnp.ndarray motion, position, velocity, rates


cdef class OneResidual:
    cdef object __weakref__
    cdef public object F, places, jacobian, derivatives
    cdef public bint uses_rates, linear, uses_jacobian, has_rates
    cdef public object ideal, constant_mass, start_vdot, start_blocks, latest
    cdef public object accelerations, inertia_beside
    cdef public Learnt near_mass
    cdef public Py_ssize_t n, m, l, size, changes
    cdef cnp.ndarray _q, _v, _lam, _psi, _motion, _position, _velocity, _signs, _rates
    cdef cnp.ndarray _rate_factors, _zero_v, _zero_lam, _zero_psi
    cdef tuple _known, _rates_at
    cdef bint _finds_mass

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
    cpdef rate_there(self, cnp.ndarray v)
    @cython.locals(rates=cnp.ndarray)
    cpdef Balance split(self, cnp.ndarray rows)
    @cython.locals(moved=cnp.ndarray, faster=cnp.ndarray, rows=cnp.ndarray)
    cpdef Balance along(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, double s
    )
    cpdef double motion_time(self, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot) except? -1.0
    @cython.locals(
        moved=cnp.ndarray, faster=cnp.ndarray, s=double, rows=cnp.ndarray, found=cnp.ndarray
    )
    cpdef cnp.ndarray rate_beside(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
        cnp.ndarray psi, Balance at, double h, cnp.ndarray a=*
    )
    @cython.locals(moved=cnp.ndarray, rows=cnp.ndarray)
    cpdef rate_ahead(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray jerk, double s
    )
    @cython.locals(
        own=bint, T=double, s=double, c=double, third=double, near=Balance, behind=Balance,
        accurate=bint
    )
    cpdef tuple acceleration_level(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, Balance at, double enough
    )
    @cython.locals(
        other=cnp.ndarray, imbalance=cnp.ndarray, rows=cnp.ndarray, change=cnp.ndarray,
        expected=cnp.ndarray, found=cnp.ndarray, wrong=cnp.ndarray, c=double,
        ratio=double
    )
    cpdef bint verify_mass(
        self, double t, cnp.ndarray q, cnp.ndarray v, tuple known, cnp.ndarray a, cnp.ndarray lam,
        cnp.ndarray psi
    ) except -1


cdef class Inertia:
    cdef OneResidual _whole
    cdef double _t, _age
    cdef cnp.ndarray _q, _v
    cdef list _known
    cdef public double allowed
    cdef public Py_ssize_t asked

    @cython.locals(
        whole=OneResidual, near=Learnt, moved=cnp.ndarray, nearest=cnp.ndarray, smallest=double,
        size=double, change=cnp.ndarray, other=cnp.ndarray, product_there=cnp.ndarray,
        many=cnp.ndarray, rows=cnp.ndarray, found=cnp.ndarray
    )
    cpdef cnp.ndarray times(self, cnp.ndarray a)
    @cython.locals(near=Learnt)
    cpdef know(self, cnp.ndarray a, cnp.ndarray found)
