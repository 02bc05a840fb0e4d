# C types of `genalpha.driver.sizes`.

cimport cython
from genalpha.driver.stepper cimport Stepper


cdef class StepSizes:
    cpdef advance(self, Stepper stepper, double t_end)


cdef class Grid:
    cdef public double end
    cdef double _origin, _signed
    cdef Py_ssize_t _count
    @cython.locals(following=double, left=double, shortest=double)
    cpdef (double, double) following(self, double t)
    cpdef count(self, Py_ssize_t steps=*)


cdef class FixedSteps(StepSizes):
    cdef public double h
    cdef Grid _grid
    @cython.locals(h=double, t=double, grid=Grid)
    cpdef advance(self, Stepper stepper, double t_end)


cdef class GivenSteps(StepSizes):
    cdef list _sizes, _ends
    cdef Py_ssize_t _count
    cpdef advance(self, Stepper stepper, double t_end)
