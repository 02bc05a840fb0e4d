# C types of `genalpha.driver.integration`.

cimport cython
from genalpha.driver.advance cimport Advance


cdef class Keeper:
    cpdef bint keep(self) except -1


cdef class Integration:
    cdef public Advance advance
    cdef public Keeper keeper
    cdef public object watch
    cdef object _counters

    @cython.locals(advance=Advance, keeper=Keeper, steps=Py_ssize_t, t_checked=double, leaps=bint)
    cpdef run(self, double t_end)
