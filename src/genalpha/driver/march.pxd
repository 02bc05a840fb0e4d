# C types of `genalpha.driver.march`.

from genalpha.driver.sizes cimport StepSizes
from genalpha.driver.stepper cimport Stepper


cdef class March(Stepper):
    cdef public StepSizes sizes
