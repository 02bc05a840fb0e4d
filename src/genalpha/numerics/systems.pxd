# C types of `genalpha.numerics.systems`.

cimport cython
from genalpha.kernels.matrices cimport assembled, largest, product

cpdef double size_of(terms) except? -1.0

@cython.locals(blocks=list, row=Py_ssize_t, column=Py_ssize_t, n=Py_ssize_t)
cpdef tuple _placed(A, R, J)
