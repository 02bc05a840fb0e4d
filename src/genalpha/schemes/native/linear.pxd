# C types of `genalpha.schemes.native.linear`.

from genalpha.kernels.memory cimport Size


cdef struct LU:
    #: A matrix in Fortran order, which becomes its factors.
    double* a
    int* pivots
    int size


cdef bint factorize(LU* lu) noexcept nogil
cdef void solve(LU* lu, double* x) noexcept nogil

cdef void add_multiple(double* r, double c, double* x, Size n) noexcept nogil
cdef void add_product(double* r, double c, double* A, double* x, Size n, Size m) noexcept nogil
cdef void add_transposed(double* r, double c, double* A, double* x, Size n, Size m) noexcept nogil
cdef void put(LU* lu, Size row, Size column, double c, double* A, Size n, Size m) noexcept nogil
cdef void put_transposed(LU* lu, Size row, Size column, double c, double* A, Size n,
                         Size m) noexcept nogil
cdef double largest(double* x, Size n) noexcept nogil
