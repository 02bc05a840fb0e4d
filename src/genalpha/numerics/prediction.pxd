# C types of `genalpha.numerics.prediction`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport extrapolated

cpdef tuple extended(tuple past, double t, cnp.ndarray x)
cpdef cnp.ndarray predicted(tuple past, double t, tuple relation=*)

@cython.locals(pair=tuple, h=double, later=double, earlier=double, i=Py_ssize_t)
cdef bint _are_equal(tuple past, double t) except -1
