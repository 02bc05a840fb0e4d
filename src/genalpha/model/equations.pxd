# C types of `genalpha.model.equations`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.compiled cimport (
    add, add_product, add_transposed_product, part, snapshot, stacked, zeros
)


cdef class Equations:
    cdef public Py_ssize_t n_q, n_lam, n_psi
    cdef public object constant_mass
    cdef public bint is_ideal
    cdef public object mass, force, holonomic, holonomic_rate, holonomic_jacobian
    cdef public object nonholonomic, nonholonomic_jacobian, reaction
    cdef public object mass_now, force_now, holonomic_now, holonomic_jacobian_now
    cdef public object nonholonomic_jacobian_now

    @cython.locals(r=cnp.ndarray)
    cpdef cnp.ndarray imbalance(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
        cnp.ndarray psi
    )
    @cython.locals(n=Py_ssize_t, m=Py_ssize_t)
    cpdef add_imbalance(self, cnp.ndarray r, double c, double t, cnp.ndarray q, cnp.ndarray v,
                        cnp.ndarray x)
    cpdef Reaction reaction_at(self, double t, cnp.ndarray q)


cdef class Reaction:
    cdef public Equations equations
    cdef public double t
    cdef public cnp.ndarray q
    cdef public object G

    @cython.locals(o=Equations, m=Py_ssize_t, end=Py_ssize_t)
    cpdef add(self, cnp.ndarray r, double c, cnp.ndarray v, cnp.ndarray x, Py_ssize_t first)
