# C types of `genalpha.model.residual`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport product
from genalpha.kernels.vectors cimport combined, largest_ratio, norm, plus, taken
from genalpha.model.learnt cimport Learnt
from genalpha.model.residual_rates cimport Rates


cdef class OneResidual(Rates):
    cdef public object jacobian, derivatives
    cdef public bint uses_rates, linear, uses_jacobian
    cdef public object ideal, constant_mass, start_vdot, start_blocks, accelerations
    cdef public cnp.ndarray free_lam
    cdef public Learnt near_mass
    cdef public Py_ssize_t changes
    cdef bint _finds_mass

    @cython.locals(
        other=cnp.ndarray, imbalance=cnp.ndarray, rows=cnp.ndarray, change=cnp.ndarray,
        found=cnp.ndarray
    )
    cpdef bint verify_mass(
        self, double t, cnp.ndarray q, cnp.ndarray v, tuple known, cnp.ndarray a, cnp.ndarray lam,
        cnp.ndarray psi
    ) except -1
    @cython.locals(expected=cnp.ndarray, wrong=cnp.ndarray, c=double, ratio=double)
    cpdef bint has_mass(
        self, cnp.ndarray a, cnp.ndarray product_there, cnp.ndarray others
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
