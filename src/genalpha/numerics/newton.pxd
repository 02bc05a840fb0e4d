# C types of `genalpha.numerics.newton`.

cimport cython
cimport numpy as cnp
from genalpha.numerics.counters cimport Counters
from genalpha.kernels.vectors cimport broyden


cdef class Newton:
    cdef public str mode
    cdef public int max_iterations, setup_cost
    cdef public Counters counters
    cdef public object systems, solvers, last_solvers
    cdef public double rate
    cdef int _fewest, _extra, _age
    cdef double _life
    cdef list _moves
    cdef str _last

    cpdef forget(self)
    cpdef factorize(self, name, A, R, J)
    @cython.locals(weight=double)
    cpdef cnp.ndarray accelerated(self, cnp.ndarray d, Py_ssize_t n, double mass_over_gradient)
    cpdef solve(self, x, correct, setup)
    cdef _renew(self, setup, x)
    @cython.locals(
        iteration=int, rate=double, size=double, worst=double, last=tuple, sizes=tuple
    )
    cdef _iterate(self, x, correct, renew)
    @cython.locals(left=int)
    cdef bint _hopeless(self, int iteration, double size, double rate) except -1
    cdef _remember(self, int iteration, double worst)


@cython.locals(worst=double, rate=double, new=double, old=double, i=Py_ssize_t)
cdef double _rate(tuple sizes, tuple last) except? -1.0
