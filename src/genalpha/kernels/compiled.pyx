# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""The operations of `genalpha.kernels.plain`, compiled.

For the short vectors of small mechanisms, NumPy's own operations cost ten times what the arithmetic
costs. These here do in one call what takes NumPy several, straight on the memory of the arrays.
What each operation means is said in `plain`; a test compares the two.
"""

cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from libc.math cimport HUGE_VAL, fabs, fmax, fmin, sqrt
from libc.string cimport memcmp, memcpy

import numpy as np
from scipy.linalg import cython_lapack

cnp.import_array()

ctypedef void (*Dgetrf)(int*, int*, double*, int*, int*, int*) noexcept nogil
ctypedef void (*Dgetrs)(
    char*, int*, int*, double*, int*, int*, double*, int*, int*
) noexcept nogil


cdef void* lapack(str name) except NULL:
    """SciPy's own LAPACK, without the wrapper that converts arguments."""
    capsule = cython_lapack.__pyx_capi__[name]
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


cdef Dgetrf dgetrf = <Dgetrf> lapack("dgetrf")
cdef Dgetrs dgetrs = <Dgetrs> lapack("dgetrs")

#: Dense products with more entries than this go to BLAS.
cdef Size LARGE = 1024
cdef int SMALL = 64
#: A vector without entries, which nobody can change.
cdef cnp.ndarray NOTHING = np.zeros(0)
cdef double TINY = np.finfo(float).tiny


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


cpdef double norm(cnp.ndarray x) except? -1.0:
    cdef double* values = doubles(x)
    return length(values, cnp.PyArray_SIZE(x))


cpdef cnp.ndarray part(cnp.ndarray x, Size first, Size last):
    cdef double* values = doubles(x)
    if first < 0 or last < first or last > cnp.PyArray_SIZE(x):
        raise ValueError(f"entries {first} to {last} of {cnp.PyArray_SIZE(x)}")
    if first == last:
        return NOTHING
    cdef cnp.ndarray result = vector(last - first)
    memcpy(cnp.PyArray_DATA(result), values + first, (last - first) * sizeof(double))
    return result


cpdef cnp.ndarray plus(cnp.ndarray x, double c, cnp.ndarray y):
    cdef double* a = doubles(x)
    cdef double* b = doubles(y)
    cdef Size i, n = cnp.PyArray_SIZE(x)
    cdef cnp.ndarray result = vector(n)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    if cnp.PyArray_SIZE(y) < n:
        raise ValueError(f"{cnp.PyArray_SIZE(y)} values to add to {n}")
    for i in range(n):
        r[i] = a[i] + c * b[i]
    return result


cpdef cnp.ndarray combined(double a, cnp.ndarray x, double b, cnp.ndarray y,
                           double c=0.0, cnp.ndarray z=None):
    cdef double* xs = doubles(x)
    cdef double* ys = doubles(y)
    cdef double* zs
    cdef Size i, n = cnp.PyArray_SIZE(x)
    cdef cnp.ndarray result = vector(n)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    if cnp.PyArray_SIZE(y) < n or (z is not None and cnp.PyArray_SIZE(z) < n):
        raise ValueError(f"vectors shorter than the first, which has {n} values")
    if z is None:
        for i in range(n):
            r[i] = a * xs[i] + b * ys[i]
    else:
        zs = doubles(z)
        for i in range(n):
            r[i] = a * xs[i] + b * ys[i] + c * zs[i]
    return result


cpdef cnp.ndarray extrapolated(tuple past, double t, tuple relation=()):
    cdef Size i, j, order, known = len(past), more = len(relation), count = known - more
    cdef double* x[12]
    cdef double at[12]
    cdef double c, change, weight = 1.0, last = HUGE_VAL
    cdef cnp.ndarray value
    cdef Size n = 0
    if known > 12 or known <= more:
        raise ValueError(f"{known} values to extrapolate; at least {more + 1}, at most 12")
    for i in range(known):
        pair = past[i]
        at[i], value = pair[0], pair[1]
        x[i] = doubles(value)
        if i and cnp.PyArray_SIZE(value) != n:
            raise ValueError(f"vectors of {n} and {cnp.PyArray_SIZE(value)} values")
        n = cnp.PyArray_SIZE(value)
    # rows of sums, which become divided differences in place
    cdef cnp.ndarray table = vector(count * n)
    cdef double* rows = <double*> cnp.PyArray_DATA(table)
    for j in range(count):
        memcpy(rows + j * n, x[j], n * sizeof(double))
    cdef cnp.ndarray result = vector(n)
    cdef double* guess = <double*> cnp.PyArray_DATA(result)
    for order in range(more):
        c = relation[order]
        for j in range(count):
            add_multiple(rows + j * n, c, x[j + order + 1], n)
    memcpy(guess, rows, n * sizeof(double))
    for order in range(1, count):
        for j in range(count - 1, order - 1, -1):
            divide_difference(rows + j * n, rows + (j - 1) * n, at[j] - at[j - order], n)
        weight *= t - at[order - 1]
        change = fabs(weight) * length(rows + order * n, n)
        if order > 1 and not change < last:
            break
        last = change
        add_multiple(guess, weight, rows + order * n, n)
    for order in range(more):
        add_multiple(guess, -<double> relation[order], x[order], n)
    return result


cdef inline void add_multiple(double* r, double c, double* x, Size n) noexcept nogil:
    cdef Size i
    for i in range(n):
        r[i] += c * x[i]


cdef inline void divide_difference(double* x, double* y, double by, Size n) noexcept nogil:
    cdef Size i
    cdef double per = 1.0 / by
    for i in range(n):
        x[i] = (x[i] - y[i]) * per


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


cdef inline void put(double* r, double c, double* x, Size n) noexcept nogil:
    cdef Size i
    for i in range(n):
        r[i] = c * x[i]


cpdef cnp.ndarray stacked(double a, cnp.ndarray x, double b, cnp.ndarray y,
                          double c=0.0, cnp.ndarray z=None):
    cdef double* xs = doubles(x)
    cdef double* ys = doubles(y)
    cdef Size n = cnp.PyArray_SIZE(x), m = cnp.PyArray_SIZE(y)
    cdef Size k = 0 if z is None else cnp.PyArray_SIZE(z)
    cdef cnp.ndarray result = vector(n + m + k)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    put(r, a, xs, n)
    put(r + n, b, ys, m)
    if k:
        put(r + n + m, c, doubles(z), k)
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


cpdef add(cnp.ndarray r, Size first, double c, cnp.ndarray y):
    cdef double* to = doubles(r)
    cdef double* ys = doubles(y)
    cdef Size i, n = cnp.PyArray_SIZE(y)
    if first < 0 or first + n > cnp.PyArray_SIZE(r):
        raise ValueError(f"{n} values to be added from {first} on to {cnp.PyArray_SIZE(r)} values")
    for i in range(n):
        to[first + i] += c * ys[i]


cpdef cnp.ndarray zeros(Size n):
    return cnp.PyArray_ZEROS(1, &n, cnp.NPY_DOUBLE, 0)


cpdef cnp.ndarray product(A, cnp.ndarray x):
    return matrix_product(1.0, A, 0, x)


cpdef cnp.ndarray transposed_product(double c, A, cnp.ndarray x):
    return matrix_product(c, A, 1, x)


cpdef double correction_size(cnp.ndarray d, cnp.ndarray x, cnp.ndarray at, Size n, Size m,
                             double relative, double rounding, double noise,
                             double multiplier_noise, double mass_over_gradient) except? -1.0:
    cdef double* ds = doubles(d)
    cdef double* xs = doubles(x)
    cdef Size k = cnp.PyArray_SIZE(d) - n - m
    cdef double scale = fmax(1.0, length(doubles(at), cnp.PyArray_SIZE(at)))
    cdef double allowed = relative * length(xs, n) + rounding * scale + noise
    cdef double size = length(ds, n) / allowed
    cdef double least = mass_over_gradient * allowed + multiplier_noise + TINY
    if m:
        size = worst(size, length(ds + n, m) / (relative * length(xs + n, m) + least))
    if k:
        size = worst(size, length(ds + n + m, k) / (relative * length(xs + n + m, k) + least))
    return size


cdef inline double worst(double a, double b) noexcept nogil:
    """The larger one; NaN wins."""
    return a if a > b or a != a else b


cdef inline double dot(double* x, double* y, Size n, Size size, double weight) noexcept nogil:
    """x . y, where the entries from n on count `weight` times."""
    cdef double first = 0.0, rest = 0.0
    cdef Size i
    for i in range(n):
        first += x[i] * y[i]
    for i in range(n, size):
        rest += x[i] * y[i]
    return first + weight * rest


cpdef cnp.ndarray broyden(list moves, cnp.ndarray d, Size n, double weight):
    cdef double* z = doubles(d)
    cdef Size i, j, size = cnp.PyArray_SIZE(d), count = len(moves)
    if count == 0:
        return d
    cdef double* s = doubles(moves[0])
    cdef double* following
    cdef double c, squared
    for j in range(count):
        squared = dot(s, s, n, size, weight)
        if squared == 0.0:
            return d
        c = dot(s, z, n, size, weight) / squared
        if j == count - 1:
            c = 1.0 / (1.0 - c) if c < 0.5 else 1.0
            for i in range(size):
                z[i] *= c
        else:
            following = doubles(moves[j + 1])
            for i in range(size):
                z[i] += c * following[i]
            s = following
    return d


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


cdef inline bint read(list values, double* to, Size n) except -1:
    """Copy a list of n floats; false if it is anything else."""
    cdef Size i
    if len(values) != n:
        return False
    for i in range(n):
        if not PyFloat_Check(values[i]):
            return False
        to[i] = PyFloat_AS_DOUBLE(values[i])
    return True


cdef class Checked:
    cdef object function, otherwise
    cdef int ndim
    cdef Size n, m

    def __init__(self, function, tuple shape, otherwise):
        self.function, self.otherwise = function, otherwise
        self.ndim, self.n, self.m = len(shape), shape[0], shape[len(shape) - 1]

    cdef inline bint is_expected(self, value):
        return (
            cnp.PyArray_CheckExact(value)
            and cnp.PyArray_TYPE(value) == cnp.NPY_DOUBLE
            and cnp.PyArray_NDIM(value) == self.ndim
            and cnp.PyArray_DIM(value, 0) == self.n
            and cnp.PyArray_DIM(value, self.ndim - 1) == self.m
        )

    cdef converted(self, value):
        """An array of a list of floats, or of lists of floats; the rest is not for here."""
        cdef Size shape[2]
        cdef Size i
        cdef bint good = True
        if type(value) is not list:
            return self.otherwise(value)
        shape[0], shape[1] = self.n, self.m
        cdef cnp.ndarray result = cnp.PyArray_EMPTY(self.ndim, shape, cnp.NPY_DOUBLE, 0)
        cdef double* to = <double*> cnp.PyArray_DATA(result)
        if self.ndim == 1:
            good = read(value, to, self.n)
        elif len(<list> value) != self.n:
            good = False
        else:
            for i in range(self.n):
                row = (<list> value)[i]
                if type(row) is not list or not read(row, to + i * self.m, self.m):
                    good = False
                    break
        return result if good else self.otherwise(value)

    def __call__(self, *arguments):
        value = self.function(*arguments)
        return copied(value) if self.is_expected(value) else self.converted(value)

    def now(self, *arguments):
        return self.usable(self.function(*arguments))

    cdef inline usable(self, value):
        if self.is_expected(value) and cnp.PyArray_IS_C_CONTIGUOUS(value):
            return value
        return self.converted(value)


cpdef called(function, double t, cnp.ndarray q, cnp.ndarray v=None):
    cdef Checked checked
    if type(function) is Checked:
        checked = function
        inner = checked.function
        return checked.usable(inner(t, q) if v is None else inner(t, q, v))
    function = getattr(function, "now", function)
    return function(t, q) if v is None else function(t, q, v)
