# C types of `genalpha.numerics.systems`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport assembled, largest, largest_of_rows, product

cpdef double size_of(terms) except? -1.0
@cython.locals(c=double, sizes=cnp.ndarray)
cpdef cnp.ndarray row_sizes(terms)

@cython.locals(blocks=list, row=Py_ssize_t, column=Py_ssize_t, n=Py_ssize_t)
cpdef tuple _placed(A, R, J)
