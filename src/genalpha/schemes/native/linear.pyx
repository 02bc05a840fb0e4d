# cython: boundscheck=False, wraparound=False, cdivision=True
"""Vectors and small dense matrices at addresses: what steps in machine code are made of."""

from libc.math cimport HUGE_VAL, fabs, fmax, fmin

from genalpha.kernels.lapack cimport dgetrf, dgetrs
from genalpha.kernels.memory cimport Size

from genalpha.numerics import linear

cdef double SMALLEST_PIVOT = linear.SMALLEST_PIVOT
#: Systems up to this size are solved by the loops below: a call of LAPACK costs more.
cdef int SMALL = 48


cdef void add_multiple(double* r, double c, double* x, Size n) noexcept nogil:
    cdef Size i
    for i in range(n):
        r[i] += c * x[i]


cdef void add_product(double* r, double c, double* A, double* x, Size n, Size m) noexcept nogil:
    """Add c A x, where A has n rows and m columns, in C order."""
    cdef Size i, j
    cdef double total
    for i in range(n):
        total = 0.0
        for j in range(m):
            total += A[i * m + j] * x[j]
        r[i] += c * total


cdef void add_transposed(double* r, double c, double* A, double* x, Size n, Size m) noexcept nogil:
    """Add c A^T x, where A has n rows and m columns, in C order."""
    cdef Size i
    for i in range(n):
        add_multiple(r, c * x[i], A + i * m, m)


cdef void put(LU* lu, Size row, Size column, double c, double* A, Size n, Size m) noexcept nogil:
    """Add c A to a block of a matrix that is to be factorized."""
    cdef Size i, j, size = lu.size
    for i in range(n):
        for j in range(m):
            lu.a[(column + j) * size + row + i] += c * A[i * m + j]


cdef void put_transposed(LU* lu, Size row, Size column, double c, double* A, Size n,
                         Size m) noexcept nogil:
    """Add c A^T to a block of a matrix that is to be factorized; A has n rows and m columns."""
    cdef Size i, j, size = lu.size
    for i in range(n):
        for j in range(m):
            lu.a[(column + i) * size + row + j] += c * A[i * m + j]


cdef double largest(double* x, Size n) noexcept nogil:
    """The largest modulus; NaN wins."""
    cdef double most = 0.0
    cdef Size i
    for i in range(n):
        if not fabs(x[i]) <= most:
            most = fabs(x[i])
        if most != most:
            break
    return most


cdef bint factorize(LU* lu) noexcept nogil:
    """Factorize in place; false if the matrix is singular to working precision, or holds NaN."""
    cdef int info = 0
    cdef Size i, n = lu.size
    cdef double pivot, smallest = HUGE_VAL, most = 0.0
    dgetrf(&lu.size, &lu.size, lu.a, &lu.size, lu.pivots, &info)
    for i in range(n):
        pivot = fabs(lu.a[i * (n + 1)])
        if not pivot < HUGE_VAL:
            return False
        smallest, most = fmin(smallest, pivot), fmax(most, pivot)
    return smallest > SMALLEST_PIVOT * most


cdef void solve(LU* lu, double* x) noexcept nogil:
    """Solve with a factorized matrix, in place."""
    cdef int info = 0, one = 1
    cdef char trans = b"N"
    cdef Size i, j, n = lu.size
    cdef double c
    cdef double* column
    if n > SMALL:
        dgetrs(&trans, &lu.size, &one, lu.a, &lu.size, lu.pivots, x, &lu.size, &info)
        return
    for i in range(n):
        j = lu.pivots[i] - 1
        c = x[i]
        x[i] = x[j]
        x[j] = c
    for j in range(n):
        column, c = lu.a + j * n, x[j]
        for i in range(j + 1, n):
            x[i] -= c * column[i]
    for j in range(n - 1, -1, -1):
        column = lu.a + j * n
        x[j] /= column[j]
        c = x[j]
        for i in range(j):
            x[i] -= c * column[i]
