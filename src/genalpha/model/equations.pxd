# C types of `genalpha.model.equations`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.callbacks cimport called
from genalpha.kernels.matrices cimport add_product, add_transposed_product, snapshot
from genalpha.kernels.vectors cimport add, part, stacked, zeros
from genalpha.model.residual cimport OneResidual


cdef class Equations:
    cdef public Py_ssize_t n_q, n_lam, n_psi
    cdef public object constant_mass
    cdef public OneResidual whole
    cdef public bint is_ideal
    cdef public object mass, force, holonomic, holonomic_rate, holonomic_jacobian
    cdef public object nonholonomic, nonholonomic_jacobian, reaction

    @cython.locals(r=cnp.ndarray)
    cpdef cnp.ndarray imbalance(
        self, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
        cnp.ndarray psi
    )


cdef class Reaction:
    cdef public Equations equations
    cdef public double t
    cdef public cnp.ndarray q
    cdef public object G

    @cython.locals(o=Equations, m=Py_ssize_t, end=Py_ssize_t)
    cpdef add(self, cnp.ndarray r, double c, cnp.ndarray v, cnp.ndarray x, Py_ssize_t first)


cpdef mass_now(Equations o, double t, cnp.ndarray q)
cpdef mass_then(Equations o, double t, cnp.ndarray q)

@cython.locals(n=Py_ssize_t, m=Py_ssize_t)
cpdef add_imbalance(
    Equations o, cnp.ndarray r, double c, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray x
)

@cython.locals(n=Py_ssize_t, m=Py_ssize_t)
cpdef add_balance(
    Equations o, cnp.ndarray r, double c, double cg, double ck, double t, cnp.ndarray q,
    cnp.ndarray v, cnp.ndarray x
)

cpdef Reaction reaction_at(Equations o, double t, cnp.ndarray q)
