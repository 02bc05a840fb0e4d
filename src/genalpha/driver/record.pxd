# C types of `genalpha.driver.record`.

cimport cython
from genalpha.driver.march cimport March
from genalpha.driver.stepper cimport Stepper


cdef class Record:
    cdef March _march
    cdef bint _complete
    cdef public list steps, times, a

    @cython.locals(march=March)
    cpdef run(self, double t_final)

    @cython.locals(march=March, stepper=Stepper)
    cpdef keep(self)
