# C types of `genalpha.driver.record`.

cimport cython
cimport numpy as cnp
from genalpha.driver.integration cimport Keeper
from genalpha.driver.march cimport March
from genalpha.kernels.vectors cimport write_row


cdef class Block:
    cdef public Py_ssize_t n, used
    cdef public object scheme, reduction
    cdef public cnp.ndarray rows
    cdef public set gaps


cdef class Record(Keeper):
    cdef March _march
    cdef bint _complete
    cdef public list blocks
    cdef public dict knots
    cdef public Py_ssize_t length
    cdef Block _block
    cdef object _wanted
    cdef Py_ssize_t _thin

    @cython.locals(march=March, block=Block)
    cpdef bint keep(self) except -1
    @cython.locals(block=Block)
    cdef Block _block_with_room(self)
    cdef Block _next_block(self)
