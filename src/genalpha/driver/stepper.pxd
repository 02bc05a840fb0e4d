# C types of `genalpha.driver.stepper`.

cimport cython
cimport numpy as cnp
from genalpha.driver.advance cimport Advance
from genalpha.kernels.vectors cimport norm
from genalpha.numerics.counters cimport Counters
from genalpha.numerics.newton cimport Newton
from genalpha.schemes.scheme cimport Scheme


@cython.locals(vdot=cnp.ndarray)
cpdef complete(scheme, reduction, double t, cnp.ndarray q, cnp.ndarray v, kept)


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
