# C types of `genalpha.assimulo.reports`.

cimport cython
from genalpha.driver.advance cimport Advance
from genalpha.driver.integration cimport Keeper


cdef class Reports(Keeper):
    cdef object _solver
    cdef Advance _run
    cdef double _tf
    cdef dict _opts
    cdef list _found
    cdef bint _every, _gathers, _counts
    cdef public int flag

    @cython.locals(run=Advance, t=double, last=bint)
    cpdef bint keep(self) except -1
    cdef _check(self, double t, bint last)
    cdef bint _reported(self, double t, bint last) except -1
