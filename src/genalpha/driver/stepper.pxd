# C types of `genalpha.driver.stepper`.

from genalpha.numerics.counters cimport Counters
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.scheme cimport Scheme


cdef class Stepper:
    cdef public object full, options, settings, scheme, mechanism, reduction
    cdef public Newton newton
    cdef public double t
    cdef public Counters counters
    cdef public object state, known
    cdef tuple _checked
    cdef object _native
    cdef int _in_vain
    cdef Scheme _step
    cpdef attempt(self, double h)
    cpdef accept(self, state, t=*)
    cpdef knot(self)
