# C types of `genalpha.model.staying`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport alike_columns, rows_at
from genalpha.kernels.vectors cimport slopes


cdef class Together:
    cdef public cnp.ndarray members, colour, pattern
    cdef public Py_ssize_t count
    @cython.locals(D=cnp.ndarray)
    cpdef cnp.ndarray placed(self, list rows, cnp.ndarray base, cnp.ndarray sizes)
    cpdef Together without(self, list which)


cdef class Staying:
    cdef public Together together
    cdef cnp.ndarray _rows, _last, _columns
    cdef list _which
    cdef object _where
    cdef Py_ssize_t _left
    cpdef forget(self)
    @cython.locals(last=cnp.ndarray, which=list, together=Together)
    cpdef learn(
        self, cnp.ndarray D, cnp.ndarray units, cnp.ndarray sizes, cnp.ndarray doubts,
        Together otherwise
    )
    @cython.locals(together=Together)
    cpdef cnp.ndarray completed(
        self, list rows, cnp.ndarray base, cnp.ndarray units, cnp.ndarray sizes,
        cnp.ndarray doubts
    )
