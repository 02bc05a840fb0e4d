# C types of `genalpha.driver.stepper`.

from genalpha.driver.advance cimport Advance
from genalpha.numerics.counters cimport Counters
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.scheme cimport Scheme


cdef class Stepper(Advance):
    cdef public object full, options, settings, scheme, reduction
    cdef public Newton newton
    cdef public Counters counters
    cdef public object state, known
    cdef object _left_state, _left_reduction, _left_known
    cdef tuple _checked
    cdef object _native
    cdef int _in_vain
    cdef Scheme _step
    cpdef attempt(self, double h)
    cpdef accept(self, state, double t=*)
    cpdef knot(self)
    cdef _stand(self)
