# C functions as callbacks, as compiled modules call them: without Python.

cimport numpy as cnp
from genalpha.kernels.memory cimport Size

ctypedef void (*OfPosition)(double, double*, double*, void*) noexcept nogil
ctypedef void (*OfVelocity)(double, double*, double*, double*, void*) noexcept nogil
ctypedef void (*OfMultipliers)(
    double, double*, double*, double*, double*, double*, void*
) noexcept nogil
ctypedef void (*OfAll)(
    double, double*, double*, double*, double*, double*, double*, void*
) noexcept nogil


cdef struct Function:
    #: Address, what it gets last, and how many vectors it takes: 1, 2, 4 or 5; 0: there is none.
    void* address
    void* data
    int vectors


cdef inline void evaluate(Function* f, double t, double* q, double* v, double* vdot, double* lam,
                          double* psi, double* out) noexcept nogil:
    """Call a function with those of the arguments that it takes."""
    if f.vectors == 1:
        (<OfPosition> f.address)(t, q, out, f.data)
    elif f.vectors == 2:
        (<OfVelocity> f.address)(t, q, v, out, f.data)
    elif f.vectors == 4:
        (<OfMultipliers> f.address)(t, q, v, lam, psi, out, f.data)
    elif f.vectors == 5:
        (<OfAll> f.address)(t, q, v, vdot, lam, psi, out, f.data)


cdef class Native:
    cdef Function function
    cdef cnp.ndarray buffer
    cdef object kept
    cdef readonly tuple inputs, shape
    cdef readonly Size address, data
    cdef public long calls
    cdef cnp.ndarray free(self)
    cdef cnp.ndarray of(self, double t, cnp.ndarray q, cnp.ndarray v)
