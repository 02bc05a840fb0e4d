# C types of `genalpha.driver.stepper`.

from genalpha.numerics.counters cimport Counters


cdef class Later:
    cdef public object scheme, reduction, state
    cpdef knot(self)


cdef class Stepper:
    cdef public object full, options, settings, scheme, newton, mechanism, reduction
    cdef public Counters counters
    cdef public object state
    cdef object _known
    cpdef attempt(self, double h)
    cpdef accept(self, state, t=*)
    cpdef knot(self)
    cpdef known(self)
