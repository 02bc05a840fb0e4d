# C types of `genalpha.driver.march`.

cimport cython
from genalpha.driver.stepper cimport Stepper


cdef class March:
    cdef public Stepper stepper
    cdef public object sizes
    cdef public double t_left, t
    cdef object _left
    cpdef step(self, double t_end)


cdef class FixedSteps:
    cdef public double h
    cdef double _origin, _end, _signed
    cdef Py_ssize_t _count
    @cython.locals(h=double, t=double)
    cpdef advance(self, Stepper stepper, double t_end)
    cpdef _new_grid(self, double t, double t_end)
    @cython.locals(following=double, left=double)
    cpdef tuple _size(self, double t, double t_end)


cdef class GivenSteps:
    cdef list _sizes
    cdef Py_ssize_t _count
