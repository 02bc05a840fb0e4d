# C types of `genalpha.driver.march`.

cimport cython
from genalpha.driver.stepper cimport Stepper


cdef class StepSizes:
    cpdef advance(self, Stepper stepper, double t_end)


cdef class March:
    cdef public Stepper stepper
    cdef public StepSizes sizes
    cdef public double t_left, t
    cdef object _left, _state, _reduction
    @cython.locals(stepper=Stepper)
    cpdef step(self, double t_end)


cdef class FixedSteps(StepSizes):
    cdef public double h
    cdef double _origin, _end, _signed
    cdef Py_ssize_t _count
    @cython.locals(h=double, t=double)
    cpdef advance(self, Stepper stepper, double t_end)
    cdef _new_grid(self, double t, double t_end)
    @cython.locals(following=double, left=double)
    cdef (double, double) _size(self, double t, double t_end)


cdef class GivenSteps(StepSizes):
    cdef list _sizes
    cdef Py_ssize_t _count
    cpdef advance(self, Stepper stepper, double t_end)
