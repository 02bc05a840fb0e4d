# Vectors as C sees them; included by the kernels, which must have called import_array().

cimport numpy as cnp
from libc.math cimport sqrt
from libc.string cimport memcpy

ctypedef cnp.npy_intp Size


cdef inline double* doubles(cnp.ndarray x) except NULL:
    """The memory of a contiguous vector of doubles; anything else is a mistake of ours."""
    if x is None:
        raise TypeError("expected contiguous doubles, got None")
    if not (cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE and cnp.PyArray_IS_C_CONTIGUOUS(x)):
        raise TypeError(f"expected contiguous doubles, got {(<object> x).dtype}")
    return <double*> cnp.PyArray_DATA(x)


cdef inline cnp.ndarray vector(Size n):
    return cnp.PyArray_EMPTY(1, &n, cnp.NPY_DOUBLE, 0)


cdef inline cnp.ndarray copied(cnp.ndarray x):
    """A copy in C order."""
    if not cnp.PyArray_IS_C_CONTIGUOUS(x):
        return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)
    cdef cnp.ndarray result = cnp.PyArray_EMPTY(
        cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.PyArray_TYPE(x), 0
    )
    memcpy(cnp.PyArray_DATA(result), cnp.PyArray_DATA(x), cnp.PyArray_NBYTES(x))
    return result


cdef inline double length(double* x, Size n) noexcept nogil:
    cdef double total = 0.0
    cdef Size i
    for i in range(n):
        total += x[i] * x[i]
    return sqrt(total)


cdef inline void add_multiple(double* r, double c, double* x, Size n) noexcept nogil:
    cdef Size i
    for i in range(n):
        r[i] += c * x[i]
