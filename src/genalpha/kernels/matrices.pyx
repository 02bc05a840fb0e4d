# cython: boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Operations of `genalpha.kernels.plain` on matrices, dense and sparse, compiled; see `vectors`."""

cimport numpy as cnp
from libc.math cimport fabs, fmax, fmin
from libc.string cimport memcmp

from genalpha.kernels.lapack cimport dgetrf, dgetrs
from genalpha.kernels.memory cimport Size, copied, doubles, fits, numbers, vector
from genalpha.kernels.vectors cimport zeros

import numpy as np

cnp.import_array()

#: Dense products with more entries than this go to BLAS.
cdef Size LARGE = 1024
#: Right-hand sides of systems up to this size are solved for one by one.
cdef int SMALL = 64


cpdef cnp.ndarray assembled(Size size, blocks):
    cdef Size shape[2]
    shape[0] = shape[1] = size
    cdef cnp.ndarray whole = cnp.PyArray_ZEROS(2, shape, cnp.NPY_DOUBLE, 1)
    cdef double* to = <double*> cnp.PyArray_DATA(whole)
    cdef cnp.ndarray block
    cdef char* at
    cdef Size row, column, i, j, n, m, down, right
    cdef double c
    for row, column, c, block in blocks:
        n, m = cnp.PyArray_DIM(block, 0), cnp.PyArray_DIM(block, 1)
        if row < 0 or column < 0 or row + n > size or column + m > size:
            raise ValueError(f"a block of shape ({n}, {m}) at ({row}, {column}) does not fit")
        if cnp.PyArray_TYPE(block) != cnp.NPY_DOUBLE:
            block = block.astype(float)
        down, right = cnp.PyArray_STRIDE(block, 0), cnp.PyArray_STRIDE(block, 1)
        at = <char*> cnp.PyArray_DATA(block)
        for j in range(m):
            for i in range(n):
                to[(column + j) * size + row + i] += c * (
                    <double*> (at + i * down + j * right))[0]
    return whole


def same(cnp.ndarray x not None, cnp.ndarray y not None):
    if x is y:
        return True
    if not (
        cnp.PyArray_TYPE(x) == cnp.PyArray_TYPE(y)
        and cnp.PyArray_SIZE(x) == cnp.PyArray_SIZE(y)
        and cnp.PyArray_IS_C_CONTIGUOUS(x)
        and cnp.PyArray_IS_C_CONTIGUOUS(y)
    ):
        return bool(np.array_equal(x, y))
    return memcmp(cnp.PyArray_DATA(x), cnp.PyArray_DATA(y), cnp.PyArray_NBYTES(x)) == 0


def scattered(Size size, cnp.ndarray places not None, terms):
    cdef cnp.ndarray result = cnp.PyArray_ZEROS(1, &size, cnp.NPY_DOUBLE, 0)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    cdef cnp.int64_t* at = <cnp.int64_t*> cnp.PyArray_DATA(places)
    cdef Size i, n, first = 0, count = cnp.PyArray_SIZE(places)
    cdef cnp.ndarray values
    cdef double* x
    cdef double c
    if cnp.PyArray_TYPE(places) != cnp.NPY_INT64 or not cnp.PyArray_IS_C_CONTIGUOUS(places):
        raise TypeError(f"places of {(<object> places).dtype}")
    for c, values in terms:
        x, n = doubles(values), cnp.PyArray_SIZE(values)
        if first + n > count:
            raise ValueError(f"more than {count} values for {count} places")
        for i in range(n):
            if at[first + i] < 0 or at[first + i] >= size:
                raise ValueError(f"place {at[first + i]} of {size}")
            r[at[first + i]] += c * x[i]
        first += n
    return result


cpdef double largest(A) except? -1.0:
    cdef cnp.ndarray values = A if isinstance(A, cnp.ndarray) else A.data
    if cnp.PyArray_TYPE(values) != cnp.NPY_DOUBLE or not cnp.PyArray_ISONESEGMENT(values):
        return float(np.max(np.abs(values), initial=0.0))
    cdef double* x = <double*> cnp.PyArray_DATA(values)
    cdef double most = 0.0
    cdef Size i
    for i in range(cnp.PyArray_SIZE(values)):
        if not fabs(x[i]) <= most:
            most = fabs(x[i])
        if most != most:
            break
    return most


cdef inline void enlarge(double* most, double x) noexcept:
    """Put |x| in the place of what is not larger; NaN stays."""
    if not fabs(x) <= most[0] and most[0] == most[0]:
        most[0] = fabs(x)


cdef inline double* table(cnp.ndarray A, Size* rows, Size* columns) except NULL:
    """The memory and the shape of a matrix of doubles in C order."""
    if A is None or cnp.PyArray_NDIM(A) != 2:
        raise TypeError("expected a matrix")
    rows[0], columns[0] = cnp.PyArray_DIM(A, 0), cnp.PyArray_DIM(A, 1)
    return doubles(A)


cdef inline cnp.ndarray matrix(Size rows, Size columns):
    cdef Size[2] shape = [rows, columns]
    return cnp.PyArray_EMPTY(2, shape, cnp.NPY_DOUBLE, 0)


cdef inline double* same_shape(cnp.ndarray A, Size n, Size m) except NULL:
    cdef Size rows = 0, columns = 0
    cdef double* values = table(A, &rows, &columns)
    if rows != n or columns != m:
        raise ValueError(f"a matrix of shape {(rows, columns)} beside one of shape {(n, m)}")
    return values


cpdef cnp.ndarray summed(double a, cnp.ndarray A, double b, cnp.ndarray B):
    cdef Size i, n = 0, m = 0
    cdef double* x = table(A, &n, &m)
    cdef double* y = same_shape(B, n, m)
    cdef cnp.ndarray result = matrix(n, m)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    for i in range(n * m):
        r[i] = a * x[i] + b * y[i]
    return result


cpdef cnp.ndarray rows_at(cnp.ndarray A, cnp.ndarray places, double c, cnp.ndarray factors=None):
    cdef Size i, j, n = 0, m = 0, count = cnp.PyArray_SIZE(places)
    cdef double* x = table(A, &n, &m)
    cdef Size* at = numbers(places)
    cdef double* by = NULL if factors is None else doubles(factors)
    cdef cnp.ndarray result = matrix(count, m)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    cdef double factor
    fits(at, count, n)
    if by is not NULL and cnp.PyArray_SIZE(factors) < count:
        raise ValueError(f"{cnp.PyArray_SIZE(factors)} factors for {count} places")
    for i in range(count):
        factor = 1.0 if by is NULL else by[i]
        for j in range(m):
            r[i * m + j] = factor * (x[at[i] * m + j] / c)
    return result


cpdef list alike_columns(
    cnp.ndarray A, cnp.ndarray B, cnp.ndarray sizes, cnp.ndarray doubts
):
    cdef Size i, j, n = 0, m = 0, rows = 0, columns = 0
    cdef double* a = table(A, &n, &m)
    cdef double* b = table(B, &rows, &columns)
    cdef double* s = doubles(sizes)
    cdef double* d = doubles(doubts)
    cdef double allowed
    if n != rows or m != columns or cnp.PyArray_SIZE(sizes) != m or cnp.PyArray_SIZE(doubts) != m:
        raise ValueError(f"shapes {(n, m)}, {(rows, columns)}, and not as many sizes or doubts")
    cdef list alike = [True] * m
    for i in range(n):
        allowed = 0.0
        for j in range(m):
            allowed += fabs(a[i * m + j]) * d[j]
        for j in range(m):
            if not fabs(a[i * m + j] - b[i * m + j]) * s[j] <= allowed:
                alike[j] = False
    return [j for j in range(m) if alike[j]]


cpdef cnp.ndarray row_times(cnp.ndarray A, Size i, cnp.ndarray x):
    cdef Size j, n = 0, m = 0
    cdef double* a = table(A, &n, &m)
    cdef double* xs = doubles(x)
    cdef cnp.ndarray result = vector(m)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    if i < 0 or i >= n or cnp.PyArray_SIZE(x) != m:
        raise ValueError(f"row {i} of shape {(n, m)}, times {cnp.PyArray_SIZE(x)} values")
    for j in range(m):
        r[j] = a[i * m + j] * xs[j]
    return result


cpdef double largest_change(cnp.ndarray A, cnp.ndarray B) except? -1.0:
    cdef Size i, n = 0, m = 0
    cdef double* x = table(A, &n, &m)
    cdef double* y = same_shape(B, n, m)
    cdef double most = 0.0
    for i in range(n * m):
        enlarge(&most, x[i] - y[i])
    return most


ctypedef fused Index:
    cnp.int32_t
    cnp.int64_t


cdef bint plain_sparse(A, cnp.ndarray data, cnp.ndarray indices, cnp.ndarray indptr):
    """Whether a sparse matrix has the types that the loops below read."""
    cdef int kind = cnp.PyArray_TYPE(indices)
    return (
        A.format == "csc"
        and cnp.PyArray_TYPE(data) == cnp.NPY_DOUBLE
        and (kind == cnp.NPY_INT32 or kind == cnp.NPY_INT64)
        and cnp.PyArray_TYPE(indptr) == kind
    )


cpdef cnp.ndarray largest_of_rows(A):
    cdef Size i, j, n, m, down, right
    cdef cnp.ndarray values, indices, found
    cdef double* most
    if isinstance(A, cnp.ndarray):
        values = A if cnp.PyArray_TYPE(A) == cnp.NPY_DOUBLE else A.astype(float)
        n, m = cnp.PyArray_DIM(values, 0), cnp.PyArray_DIM(values, 1)
        down, right = cnp.PyArray_STRIDE(values, 0), cnp.PyArray_STRIDE(values, 1)
        found = zeros(n)
        most = <double*> cnp.PyArray_DATA(found)
        for i in range(n):
            for j in range(m):
                enlarge(most + i, (<double*> (cnp.PyArray_BYTES(values) + i * down + j * right))[0])
        return found
    values, indices, found = A.data, A.indices, zeros(A.shape[0])
    if cnp.PyArray_TYPE(indices) == cnp.NPY_INT64:
        largest_at[cnp.int64_t](found, doubles(values), <cnp.int64_t*> cnp.PyArray_DATA(indices),
                                cnp.PyArray_SIZE(values))
    elif cnp.PyArray_TYPE(indices) == cnp.NPY_INT32:
        largest_at[cnp.int32_t](found, doubles(values), <cnp.int32_t*> cnp.PyArray_DATA(indices),
                                cnp.PyArray_SIZE(values))
    else:
        raise TypeError(f"a sparse matrix with indices of {(<object> indices).dtype}")
    return found


cdef void largest_at(cnp.ndarray found, double* values, Index* rows, Size count) noexcept:
    """Enlarge what is found of each row."""
    cdef double* most = <double*> cnp.PyArray_DATA(found)
    cdef Size i
    for i in range(count):
        enlarge(most + rows[i], values[i])


cdef class Columns:
    """The arrays of a sparse matrix (CSC), without what makes SciPy's matrices slow to create."""

    cdef readonly cnp.ndarray data, indices, indptr
    cdef readonly tuple shape
    format = "csc"


cpdef snapshot(A):
    cdef Columns result
    if isinstance(A, cnp.ndarray):
        return copied(A)
    cdef cnp.ndarray data = A.data, indices = A.indices, indptr = A.indptr
    if not plain_sparse(A, data, indices, indptr):
        return A.copy()
    result = Columns.__new__(Columns)
    result.shape = A.shape
    result.data, result.indices, result.indptr = copied(data), copied(indices), copied(indptr)
    return result


cdef void dense_multiply(double c, cnp.ndarray A, int first, double* x, double* r) noexcept:
    """Add c A x (first = 0) or c A^T x (first = 1) to r, for a matrix of any memory layout."""
    cdef Size i, j, n = cnp.PyArray_DIM(A, first), m = cnp.PyArray_DIM(A, 1 - first)
    cdef Size down = cnp.PyArray_STRIDE(A, first), right = cnp.PyArray_STRIDE(A, 1 - first)
    cdef char* a = <char*> cnp.PyArray_DATA(A)
    cdef double total
    for i in range(n):
        total = 0.0
        for j in range(m):
            total += (<double*> (a + i * down + j * right))[0] * x[j]
        r[i] += c * total


cdef void multiply(double c, double* values, Index* rows, Index* ends, Size m, double* x,
                   double* r) noexcept nogil:
    """Add c A x to r."""
    cdef Size j, k
    cdef double factor
    for j in range(m):
        factor = c * x[j]
        for k in range(ends[j], ends[j + 1]):
            r[rows[k]] += values[k] * factor


cdef void multiply_transposed(double c, double* values, Index* rows, Index* ends, Size m,
                              double* x, double* r) noexcept nogil:
    """Add c A^T x to r."""
    cdef double total
    cdef Size j, k
    for j in range(m):
        total = 0.0
        for k in range(ends[j], ends[j + 1]):
            total += values[k] * x[rows[k]]
        r[j] += c * total


cdef int add_matrix_product(cnp.ndarray r, double c, A, int transposed, cnp.ndarray x,
                            Size first) except -1:
    """Add c A x or c A^T x to the first entries of r, where x begins at its entry `first`."""
    cdef double* to = doubles(r)
    cdef double* xs = doubles(x)
    cdef Size n, m, room = cnp.PyArray_SIZE(r), given = cnp.PyArray_SIZE(x) - first
    cdef bint is_dense = isinstance(A, cnp.ndarray)
    if is_dense:
        n, m = cnp.PyArray_DIM(<cnp.ndarray> A, 0), cnp.PyArray_DIM(<cnp.ndarray> A, 1)
    else:
        n, m = A.shape
    if transposed:
        n, m = m, n
    if first < 0 or given < m or room < n:
        raise ValueError(
            f"{n} rows and {m} columns for {given} values to be added to {room} values"
        )
    if is_dense and n * m <= LARGE and cnp.PyArray_TYPE(<cnp.ndarray> A) == cnp.NPY_DOUBLE:
        dense_multiply(c, A, transposed, xs + first, to)
        return 0
    cdef cnp.ndarray data, indices, indptr
    if not is_dense:
        data, indices, indptr = A.data, A.indices, A.indptr
        if plain_sparse(A, data, indices, indptr):
            add_sparse_product(to, c, transposed, data, indices, indptr, xs + first)
            return 0
    r[:n] += c * ((A.T if transposed else A) @ x[first : first + m])
    return 0


cdef void add_sparse_product(double* r, double c, int transposed, cnp.ndarray data,
                             cnp.ndarray indices, cnp.ndarray indptr, double* x) noexcept:
    cdef double* values = <double*> cnp.PyArray_DATA(data)
    cdef void* rows = cnp.PyArray_DATA(indices)
    cdef void* ends = cnp.PyArray_DATA(indptr)
    cdef Size m = cnp.PyArray_SIZE(indptr) - 1
    cdef cnp.int32_t* rows32 = <cnp.int32_t*> rows
    cdef cnp.int32_t* ends32 = <cnp.int32_t*> ends
    cdef cnp.int64_t* rows64 = <cnp.int64_t*> rows
    cdef cnp.int64_t* ends64 = <cnp.int64_t*> ends
    cdef bint short = cnp.PyArray_TYPE(indices) == cnp.NPY_INT32
    if transposed and short:
        multiply_transposed(c, values, rows32, ends32, m, x, r)
    elif transposed:
        multiply_transposed(c, values, rows64, ends64, m, x, r)
    elif short:
        multiply(c, values, rows32, ends32, m, x, r)
    else:
        multiply(c, values, rows64, ends64, m, x, r)


cdef cnp.ndarray matrix_product(double c, A, int transposed, cnp.ndarray x):
    cdef Size n, m
    if isinstance(A, cnp.ndarray):
        n, m = cnp.PyArray_DIM(<cnp.ndarray> A, transposed), cnp.PyArray_DIM(<cnp.ndarray> A, 1 - transposed)
    else:
        n, m = A.shape[transposed], A.shape[1 - transposed]
    if cnp.PyArray_SIZE(x) != m:
        raise ValueError(f"a matrix of {m} columns times a vector of {cnp.PyArray_SIZE(x)} values")
    cdef cnp.ndarray result = zeros(n)
    add_matrix_product(result, c, A, transposed, x, 0)
    return result


cpdef add_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first):
    add_matrix_product(r, c, A, 0, x, first)


cpdef add_transposed_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first):
    add_matrix_product(r, c, A, 1, x, first)


cpdef cnp.ndarray product(A, cnp.ndarray x):
    return matrix_product(1.0, A, 0, x)


cpdef cnp.ndarray transposed_product(double c, A, cnp.ndarray x):
    return matrix_product(c, A, 1, x)


cdef class DenseLU:
    cdef cnp.ndarray lu
    cdef cnp.ndarray pivots
    cdef int n
    cdef readonly double smallest
    cdef readonly double largest

    def __init__(self, cnp.ndarray matrix not None):
        if not (cnp.PyArray_TYPE(matrix) == cnp.NPY_DOUBLE and matrix.flags.f_contiguous):
            matrix = np.array(matrix, dtype=float, order="F")
        cdef int i, info = 0, n = <int> cnp.PyArray_DIM(matrix, 0)
        if cnp.PyArray_DIM(matrix, 1) != n:
            raise ValueError(f"a matrix of shape {(<object> matrix).shape} has no LU factorization here")
        self.n, self.lu = n, matrix
        self.pivots = np.empty(n, dtype=np.intc)
        cdef double* a = <double*> cnp.PyArray_DATA(matrix)
        cdef double size
        self.smallest, self.largest = np.inf, 0.0
        if n == 0:
            return
        dgetrf(&n, &n, a, &n, <int*> cnp.PyArray_DATA(self.pivots), &info)
        for i in range(n):
            size = fabs(a[i * (n + 1)])
            if size != size:
                self.smallest = self.largest = size
                return
            self.smallest = fmin(self.smallest, size)
            self.largest = fmax(self.largest, size)

    def __call__(self, cnp.ndarray right not None):
        cdef int k, info = 0, n = self.n, columns = 1, together
        cdef char trans = b"N"
        cdef cnp.ndarray x
        if cnp.PyArray_DIM(right, 0) != n:
            raise ValueError(f"right-hand side of shape {(<object> right).shape} for a matrix of size {n}")
        if cnp.PyArray_NDIM(right) == 1:
            x = copied(right)
        else:
            columns = <int> cnp.PyArray_DIM(right, 1)
            x = cnp.PyArray_NewCopy(right, cnp.NPY_FORTRANORDER)
        if cnp.PyArray_TYPE(x) != cnp.NPY_DOUBLE:
            raise TypeError(f"right-hand side of {right.dtype}")
        # small systems column by column, for which BLAS does not wake its threads
        together = columns if n > SMALL else 1
        for k in range(0, columns if n else 0, together if together else 1):
            dgetrs(&trans, &n, &together, <double*> cnp.PyArray_DATA(self.lu), &n,
                   <int*> cnp.PyArray_DATA(self.pivots),
                   <double*> cnp.PyArray_DATA(x) + <Size> k * n, &n, &info)
        return x


cpdef cnp.ndarray solution(solve, cnp.ndarray right):
    cdef DenseLU lu
    cdef int info = 0, columns = 1
    cdef char trans = b"N"
    if type(solve) is not DenseLU:
        return solve(right)
    lu = solve
    cdef double* x = doubles(right)
    if cnp.PyArray_SIZE(right) != lu.n:
        raise ValueError(f"{cnp.PyArray_SIZE(right)} values for a matrix of size {lu.n}")
    if lu.n:
        dgetrs(&trans, &lu.n, &columns, <double*> cnp.PyArray_DATA(lu.lu), &lu.n,
               <int*> cnp.PyArray_DATA(lu.pivots), x, &lu.n, &info)
    return right
