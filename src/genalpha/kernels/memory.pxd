# Vectors as C sees them; see memory.pyx. Who cimports this must have called import_array().

cimport numpy as cnp
from libc.math cimport sqrt

ctypedef cnp.npy_intp Size

cdef cnp.ndarray vector(Size n)
cdef cnp.ndarray copied(cnp.ndarray x)


cdef inline double* doubles(cnp.ndarray x) except NULL:
    """The memory of a contiguous vector of doubles; anything else is a mistake of ours."""
    if x is None:
        raise TypeError("expected contiguous doubles, got None")
    if not (cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE and cnp.PyArray_IS_C_CONTIGUOUS(x)):
        raise TypeError(f"expected contiguous doubles, got {(<object> x).dtype}")
    return <double*> cnp.PyArray_DATA(x)


cdef inline Size* numbers(cnp.ndarray x) except NULL:
    """The memory of a contiguous vector of indices; anything else is a mistake of ours."""
    if x is None:
        raise TypeError("expected contiguous indices, got None")
    if not (cnp.PyArray_TYPE(x) == cnp.NPY_INTP and cnp.PyArray_IS_C_CONTIGUOUS(x)):
        raise TypeError(f"expected contiguous indices, got {(<object> x).dtype}")
    return <Size*> cnp.PyArray_DATA(x)


cdef inline bint fits(Size* at, Size count, Size n) except False:
    cdef Size i
    for i in range(count):
        if at[i] < 0 or at[i] >= n:
            raise IndexError(f"entry {at[i]} of {n}")
    return True


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
