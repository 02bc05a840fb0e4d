# C types of `genalpha.numerics.newton`.

cimport cython
cimport numpy as cnp
from genalpha.numerics.counters cimport Counters
from genalpha.numerics.secants cimport Secants


cdef class Problem:
    cdef public object unknowns

    cpdef tuple correct(self, solvers)
    cpdef setup(self)


cdef class Newton:
    cdef public str mode
    cdef public int max_iterations, setup_cost
    cdef public Counters counters
    cdef public object solvers, last_solvers
    cdef public double rate, left
    cdef int _fewest, _extra, _age
    cdef double _life, _rate_of_new, _floor
    cdef public bint learns
    cdef Secants _secants
    cdef str _last
    cdef bint _was_finite, _was_near

    cpdef forget(self)
    cpdef cnp.ndarray accelerated(
        self, cnp.ndarray d, Py_ssize_t n, double mass_over_gradient, double t, double noise,
        units=*
    )
    cpdef cnp.ndarray improved(
        self, cnp.ndarray d, Py_ssize_t n, double mass_over_gradient, double t
    )
    cpdef solve(self, Problem problem)
    cpdef renewed(self, Problem problem)
    @cython.locals(believed=double)
    cdef _renew_believing(self, Problem problem)
    cdef _renew(self, Problem problem)
    @cython.locals(
        iteration=int, rate=double, size=double, worst=double, largest_before=double, last=tuple,
        sizes=tuple, remaining=double, rounding=double, left=double
    )
    cdef bint _iterate(self, Problem problem, bint renew) except -1
    cdef bint _is_rounding(self, double size) except -1
    @cython.locals(left=int)
    cdef bint _hopeless(self, int iteration, double size, double rate) except -1
    @cython.locals(seen=double, smallest=double, smallest_new=double)
    cdef _remember(self, int iteration, double worst)


cdef double _weight(double mass_over_gradient) except? -1.0

@cython.locals(largest=double, size=double)
cdef double _largest(tuple sizes) except? -1.0

@cython.locals(worst=double, rounding=double, rate=double, new=double, old=double, i=Py_ssize_t)
cdef double _rate(tuple sizes, tuple last) except? -1.0
