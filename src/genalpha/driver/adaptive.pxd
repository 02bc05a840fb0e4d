# C types of `genalpha.driver.adaptive`.

cimport cython
cimport numpy as cnp
from genalpha.driver.sizes cimport StepSizes
from genalpha.driver.stepper cimport Stepper
from genalpha.numerics.local_error cimport ErrorConstants, History, error_norm
from genalpha.numerics.step_control cimport Controller, landing
from genalpha.numerics.trend cimport Trend, motion_part, moved
from genalpha.numerics.weights cimport Tolerances


cdef class AdaptiveSteps(StepSizes):
    cdef public double rtol, inith, maxh
    cdef public cnp.ndarray atol
    cdef public Py_ssize_t maxsteps
    cdef public bint suppress_alg
    cdef bint _switched
    cdef public Controller controller
    cdef tuple _failures
    cdef object _failure, _start, _ahead
    cdef Py_ssize_t _steps, _doubts, _standing
    cdef double _direction, _h, _first, _taken, _failed
    cdef Tolerances _tolerances
    cdef ErrorConstants _constants
    cdef History _history
    cdef Trend _trend

    @cython.locals(h=double, norm=double, phi=double, change=double, factor=double, share=double)
    cpdef advance(self, Stepper stepper, double t_end)
    cdef double _size_after(self, double norm, double change, double h) except? -1.0
    cdef double _longest(self, double norm) except? -1.0
    cdef double _before_a_switch(self, Stepper stepper, state, double norm, double h) except? -1.0
    cdef _notice(self, double t, double h)
    @cython.locals(h=double)
    cdef double _next(self, double t, double t_end) except? -1.0
    @cython.locals(
        tolerances=Tolerances, trend=Trend, error=double, phi=double, change=double,
        snap=cnp.ndarray,
    )
    cdef tuple _error(self, Stepper stepper, state, double h)
