# C types of `genalpha.driver.march`.

from genalpha.driver.sizes cimport StepSizes
from genalpha.driver.stepper cimport Stepper


cdef class March(Stepper):
    cdef public StepSizes sizes

    cpdef step(self, double t_end)
    cpdef at(self, double t)
