# cython: boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Operations of `genalpha.kernels.plain` on vectors, compiled.

For the short vectors of small mechanisms, NumPy's own operations cost ten times what the arithmetic
costs. These here do in one call what takes NumPy several, straight on the memory of the arrays.
What each operation means is said in `plain`; a test compares the two.
"""

cimport numpy as cnp
from libc.math cimport HUGE_VAL, fabs, fmax, sqrt
from libc.string cimport memcpy, memset

from genalpha.kernels.memory cimport (
    Size, add_multiple, doubles, fits, length, numbers, vector
)

import numpy as np

cnp.import_array()

#: A vector without entries, which nobody can change.
cdef cnp.ndarray NOTHING = np.zeros(0)
cdef double TINY = np.finfo(float).tiny
#: As in `plain`.
cdef double NEW = 0.05
cdef double OLDER = 4.0
cdef double CHANGED = 0.7


cpdef double norm(cnp.ndarray x) except? -1.0:
    cdef double* values = doubles(x)
    return length(values, cnp.PyArray_SIZE(x))


cpdef cnp.ndarray zeros(Size n):
    cdef cnp.ndarray result = vector(n)
    memset(cnp.PyArray_DATA(result), 0, n * sizeof(double))
    return result


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


cpdef add(cnp.ndarray r, Size first, double c, cnp.ndarray y):
    cdef double* to = doubles(r)
    cdef double* ys = doubles(y)
    cdef Size i, n = cnp.PyArray_SIZE(y)
    if first < 0 or first + n > cnp.PyArray_SIZE(r):
        raise ValueError(f"{n} values to be added from {first} on to {cnp.PyArray_SIZE(r)} values")
    for i in range(n):
        to[first + i] += c * ys[i]


cpdef write_at(cnp.ndarray r, cnp.ndarray places, cnp.ndarray x, Size first=0):
    cdef double* to = doubles(r)
    cdef double* xs = doubles(x)
    cdef Size* at = numbers(places)
    cdef Size i, n = cnp.PyArray_SIZE(places)
    if first < 0 or cnp.PyArray_SIZE(x) < first + n:
        raise ValueError(f"{cnp.PyArray_SIZE(x)} values for {n} places, from {first} on")
    fits(at, n, cnp.PyArray_SIZE(r))
    for i in range(n):
        to[at[i]] = xs[first + i]


cpdef add_taken(cnp.ndarray r, Size first, double c, cnp.ndarray x, cnp.ndarray places,
                cnp.ndarray factors=None):
    cdef double* to = doubles(r)
    cdef double* xs = doubles(x)
    cdef Size* at = numbers(places)
    cdef Size i, n = cnp.PyArray_SIZE(places)
    cdef double* by
    fits(at, n, cnp.PyArray_SIZE(x))
    if first < 0 or first + n > cnp.PyArray_SIZE(r):
        raise ValueError(f"{n} values to be added from {first} on to {cnp.PyArray_SIZE(r)} values")
    if factors is None:
        for i in range(n):
            to[first + i] += c * xs[at[i]]
        return
    by = doubles(factors)
    if cnp.PyArray_SIZE(factors) < n:
        raise ValueError(f"{cnp.PyArray_SIZE(factors)} factors for {n} places")
    for i in range(n):
        to[first + i] += c * (xs[at[i]] * by[i])


cpdef cnp.ndarray taken(cnp.ndarray x, cnp.ndarray places, cnp.ndarray factors=None):
    cdef double* xs = doubles(x)
    cdef Size* at = numbers(places)
    cdef Size i, n = cnp.PyArray_SIZE(places)
    cdef cnp.ndarray result = vector(n)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    cdef double* c
    fits(at, n, cnp.PyArray_SIZE(x))
    for i in range(n):
        r[i] = xs[at[i]]
    if factors is not None:
        c = doubles(factors)
        if cnp.PyArray_SIZE(factors) < n:
            raise ValueError(f"{cnp.PyArray_SIZE(factors)} factors for {n} places")
        for i in range(n):
            r[i] *= c[i]
    return result


cpdef double largest_ratio(cnp.ndarray x, cnp.ndarray y) except? -1.0:
    cdef double* xs = doubles(x)
    cdef double* ys = doubles(y)
    cdef Size i, n = cnp.PyArray_SIZE(x)
    cdef double found = 0.0
    if cnp.PyArray_SIZE(y) < n:
        raise ValueError(f"{cnp.PyArray_SIZE(y)} sizes for {n} values")
    for i in range(n):
        found = fmax(found, fabs(xs[i]) / fmax(1.0, fabs(ys[i])))
    return found


cpdef double scalar_product(cnp.ndarray x, cnp.ndarray y) except? -1.0:
    cdef Size n = cnp.PyArray_SIZE(x)
    return dot(doubles(x), same_size(y, n), n, n, 0.0)


cpdef cnp.ndarray increments(cnp.ndarray q, cnp.ndarray v, double cq, double cv, double size,
                             double least, double tiny):
    cdef double* qs = doubles(q)
    cdef double* vs = doubles(v)
    cdef Size i, n = cnp.PyArray_SIZE(q)
    cdef cnp.ndarray result = vector(n)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    cdef double by_q, by_v
    if cnp.PyArray_SIZE(v) != n:
        raise ValueError(f"{cnp.PyArray_SIZE(v)} values beside {n}")
    cq, cv = fmax(fabs(cq), tiny), fmax(fabs(cv), tiny)
    for i in range(n):
        by_q = worst(1.0, fabs(qs[i])) / cq
        by_v = worst(1.0, fabs(vs[i])) / cv
        r[i] = size * worst(-worst(-by_q, -by_v), least * by_q)
    return result


cpdef cnp.ndarray slopes(list rows, cnp.ndarray base, cnp.ndarray sizes, cnp.ndarray which=None):
    cdef double* b = doubles(base)
    cdef double* d = doubles(sizes)
    cdef Size* order = NULL if which is None else numbers(which)
    cdef Size i, j, m = cnp.PyArray_SIZE(base), n = cnp.PyArray_SIZE(sizes), count = len(rows)
    cdef Size[2] shape = [m, n]
    cdef cnp.ndarray row, result = cnp.PyArray_EMPTY(2, shape, cnp.NPY_DOUBLE, 0)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    cdef double* x
    if n != (count if which is None else cnp.PyArray_SIZE(which)):
        raise ValueError(f"{count} rows for {n} columns")
    if which is not None:
        fits(order, n, count)
    for j in range(n):
        row = rows[j if which is None else order[j]]
        x = same_size(row, m)
        for i in range(m):
            r[i * n + j] = (x[i] - b[i]) / d[j]
    return result


def jumps(cnp.ndarray values not None, double share, double rounding):
    cdef double* x = doubles(values)
    if cnp.PyArray_NDIM(values) != 2:
        raise ValueError(f"{cnp.PyArray_NDIM(values)} dimensions, expected 2")
    cdef Size i, j, m = cnp.PyArray_DIM(values, 0), n = cnp.PyArray_DIM(values, 1)
    cdef double largest = 0.0, high, low, span
    found = set()
    for i in range(m * n):
        largest = worst(largest, fabs(x[i]))
    for j in range(n):
        high, low = -HUGE_VAL, HUGE_VAL
        for i in range(m):
            high, low = worst(high, x[i * n + j]), -worst(-low, -x[i * n + j])
        span = high - low
        if span > rounding * largest:
            for i in range(m - 1):
                if fabs(x[(i + 1) * n + j] - x[i * n + j]) > share * span:
                    found.add(i)
    return sorted(found)


cpdef double absolute_product(cnp.ndarray x, cnp.ndarray y) except? -1.0:
    cdef double* xs = doubles(x)
    cdef double* ys = doubles(y)
    cdef Size i, n = cnp.PyArray_SIZE(x)
    cdef double total = 0.0
    if cnp.PyArray_SIZE(y) != n:
        raise ValueError(f"{cnp.PyArray_SIZE(y)} values beside {n}")
    for i in range(n):
        total += fabs(xs[i] * ys[i])
    return total


cdef enum:
    #: Rows that an extrapolation may look at.
    MOST = 12


cpdef remember(cnp.ndarray values, cnp.ndarray times, Size row, double t, cnp.ndarray x):
    cdef double* table = doubles(values)
    cdef double* at = doubles(times)
    cdef Size n = cnp.PyArray_SIZE(x)
    if row < 0 or row >= cnp.PyArray_SIZE(times) or cnp.PyArray_SIZE(values) < (row + 1) * n:
        raise ValueError(f"row {row} of {cnp.PyArray_SIZE(times)}, for {n} values")
    at[row] = t
    memcpy(table + row * n, doubles(x), n * sizeof(double))


cdef inline double* appended(double* at, double* end, cnp.ndarray x) except NULL:
    """Write a vector, and return where the next one goes."""
    cdef Size n = cnp.PyArray_SIZE(x)
    if at + n > end:
        raise ValueError(f"{n} values where {end - at} fit")
    memcpy(at, doubles(x), n * sizeof(double))
    return at + n


cpdef write_row(cnp.ndarray table, Size row, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray a,
                cnp.ndarray kept):
    cdef Size rows = cnp.PyArray_DIM(table, 0), width = cnp.PyArray_DIM(table, 1)
    cdef double* at = doubles(table) + row * width
    cdef double* end = at + width
    if row < 0 or row >= rows or width < 1:
        raise ValueError(f"row {row} of {rows}, with {width} values")
    at[0] = t
    at = appended(appended(appended(at + 1, end, q), end, v), end, a)
    if appended(at, end, kept) != end:
        raise ValueError(f"fewer than {width} values")


cpdef cnp.ndarray extrapolated(cnp.ndarray values, cnp.ndarray times, Size newest, Size known,
                               double t, tuple relation=()):
    cdef Size i, j, row, order, more = len(relation), count = known - more
    cdef Size rows_of = cnp.PyArray_SIZE(times), n = cnp.PyArray_DIM(values, 1)
    cdef double* table_of = doubles(values)
    cdef double* times_of = doubles(times)
    cdef double* x[MOST]
    cdef double at[MOST]
    cdef double c, change, weight = 1.0, last = HUGE_VAL
    if known > MOST or known <= more or known > rows_of or newest < 0 or newest >= rows_of:
        raise ValueError(f"{known} rows up to {newest} of {rows_of}; at least {more + 1}, at most {MOST}")
    row = newest
    for i in range(known):
        x[i], at[i] = table_of + row * n, times_of[row]
        row = row - 1 if row else rows_of - 1
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


cdef inline void divide_difference(double* x, double* y, double by, Size n) noexcept nogil:
    cdef Size i
    cdef double per = 1.0 / by
    for i in range(n):
        x[i] = (x[i] - y[i]) * per


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


cdef inline double* same_size(cnp.ndarray x, Size n) except NULL:
    if cnp.PyArray_SIZE(x) != n:
        raise ValueError(f"{cnp.PyArray_SIZE(x)} values instead of {n}")
    return doubles(x)


cpdef cnp.ndarray error_weights(cnp.ndarray atol, double rtol, cnp.ndarray x, cnp.ndarray x_new):
    cdef Size i, n = cnp.PyArray_SIZE(atol)
    cdef double* absolute = doubles(atol)
    cdef double* old = same_size(x, n)
    cdef double* new = same_size(x_new, n)
    cdef cnp.ndarray result = vector(n)
    cdef double* r = <double*> cnp.PyArray_DATA(result)
    for i in range(n):
        r[i] = absolute[i] + rtol * worst(fabs(old[i]), fabs(new[i]))
    return result


cpdef double weighted_norm(cnp.ndarray error, cnp.ndarray weight) except? -1.0:
    cdef Size i, n = cnp.PyArray_SIZE(error)
    cdef double* e = doubles(error)
    cdef double* w = same_size(weight, n)
    cdef double scaled, total = 0.0
    for i in range(n):
        scaled = e[i] / w[i]
        total += scaled * scaled
    return sqrt(total / n) if n else 0.0


cpdef double weighted_cosine(cnp.ndarray x, cnp.ndarray y, cnp.ndarray weight) except? -2.0:
    cdef Size i, n = cnp.PyArray_SIZE(x)
    cdef double* a = doubles(x)
    cdef double* b = same_size(y, n)
    cdef double* w = same_size(weight, n)
    cdef double first, second, xx = 0.0, yy = 0.0, xy = 0.0
    for i in range(n):
        first, second = a[i] / w[i], b[i] / w[i]
        xx += first * first
        yy += second * second
        xy += first * second
    xx = sqrt(xx) * sqrt(yy)
    return xy / xx if xx > 0.0 else 0.0


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


cpdef cnp.ndarray secant(list pairs, cnp.ndarray d, Size n, double weight, double age):
    cdef Size i, j, k, known = 0, size = cnp.PyArray_SIZE(d), count = len(pairs)
    if count == 0:
        return d
    # directions, errors, what is left of d, what is found
    cdef cnp.ndarray work = zeros((2 * count + 2) * size)
    cdef double* directions = doubles(work)
    cdef double* errors = directions + count * size
    cdef double* r = errors + count * size
    cdef double* x = r + size
    cdef double* z = doubles(d)
    cdef double* y
    cdef double* e
    cdef double* s
    cdef double* wrong
    cdef double c, then, whole
    cdef tuple pair
    for k in range(count - 1, -1, -1):
        pair = pairs[k]
        s, wrong, then = doubles(pair[0]), doubles(pair[1]), pair[2]
        c = min(age / then, OLDER) if then > 0.0 else 1.0
        y, e = directions + known * size, errors + known * size
        for i in range(size):
            e[i] = c * wrong[i]
            y[i] = s[i] - e[i]
        whole = dot(y, y, n, size, weight)
        for j in range(known):
            s, wrong = directions + j * size, errors + j * size
            c = dot(s, y, n, size, weight)
            for i in range(size):
                y[i] -= c * s[i]
                e[i] -= c * wrong[i]
        c = dot(y, y, n, size, weight)
        if not c > NEW * NEW * whole:
            continue
        c = 1.0 / sqrt(c)
        for i in range(size):
            y[i] *= c
            e[i] *= c
        known += 1
    for i in range(size):
        r[i] = z[i]
    for j in range(known):
        y, e = directions + j * size, errors + j * size
        c = dot(y, r, n, size, weight)
        for i in range(size):
            r[i] -= c * y[i]
            x[i] += c * e[i]
    if dot(x, x, n, size, weight) <= CHANGED * CHANGED * dot(z, z, n, size, weight):
        for i in range(size):
            z[i] += x[i]
    return d
