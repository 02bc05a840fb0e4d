# C types of `genalpha.driver.record`.

cimport cython
cimport numpy as cnp
from genalpha.driver.march cimport March
from genalpha.driver.stepper cimport Stepper
from genalpha.kernels.vectors cimport write_row


cdef class Block:
    cdef public Py_ssize_t n, used
    cdef public object reduction
    cdef public cnp.ndarray rows


cdef class Record:
    cdef March _march
    cdef bint _complete
    cdef public list blocks, knots
    cdef Block _block

    @cython.locals(march=March)
    cpdef run(self, double t_final)

    @cython.locals(march=March, stepper=Stepper, block=Block)
    cpdef keep(self)
