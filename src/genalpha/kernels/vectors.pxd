# What compiled modules call of `vectors` without a detour over Python.

cimport numpy as cnp
from genalpha.kernels.memory cimport Size

cpdef double norm(cnp.ndarray x) except? -1.0
cpdef cnp.ndarray zeros(Size n)
cpdef cnp.ndarray part(cnp.ndarray x, Size first, Size last)
cpdef cnp.ndarray plus(cnp.ndarray x, double c, cnp.ndarray y)
cpdef cnp.ndarray combined(double a, cnp.ndarray x, double b, cnp.ndarray y,
                           double c=*, cnp.ndarray z=*)
cpdef cnp.ndarray stacked(double a, cnp.ndarray x, double b, cnp.ndarray y,
                          double c=*, cnp.ndarray z=*)
cpdef add(cnp.ndarray r, Size first, double c, cnp.ndarray y)
cpdef write_at(cnp.ndarray r, cnp.ndarray places, cnp.ndarray x, Size first=*)
cpdef add_taken(cnp.ndarray r, Size first, double c, cnp.ndarray x, cnp.ndarray places,
                cnp.ndarray factors=*)
cpdef cnp.ndarray taken(cnp.ndarray x, cnp.ndarray places, cnp.ndarray factors=*)
cpdef double largest_ratio(cnp.ndarray x, cnp.ndarray y) except? -1.0
cpdef double scalar_product(cnp.ndarray x, cnp.ndarray y) except? -1.0
cpdef cnp.ndarray increments(cnp.ndarray q, cnp.ndarray v, double cq, double cv, double size,
                             double least, double tiny)
cpdef cnp.ndarray slopes(list rows, cnp.ndarray base, cnp.ndarray sizes, cnp.ndarray which=*)
cpdef double absolute_product(cnp.ndarray x, cnp.ndarray y) except? -1.0
cpdef remember(cnp.ndarray values, cnp.ndarray times, Size row, double t, cnp.ndarray x)
cpdef write_row(cnp.ndarray table, Size row, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray a,
                cnp.ndarray kept)
cpdef cnp.ndarray extrapolated(cnp.ndarray values, cnp.ndarray times, Size newest, Size known,
                               double t, tuple relation=*)
cpdef double correction_size(cnp.ndarray d, cnp.ndarray x, cnp.ndarray at, Size n, Size m,
                             double relative, double rounding, double noise,
                             double multiplier_noise, double mass_over_gradient) except? -1.0
cpdef cnp.ndarray broyden(list moves, cnp.ndarray d, Size n, double weight)
cpdef cnp.ndarray secant(list pairs, cnp.ndarray d, Size n, double weight, double age)
cpdef cnp.ndarray error_weights(cnp.ndarray atol, double rtol, cnp.ndarray x, cnp.ndarray x_new)
cpdef double weighted_norm(cnp.ndarray error, cnp.ndarray weight) except? -1.0
cpdef double weighted_cosine(cnp.ndarray x, cnp.ndarray y, cnp.ndarray weight) except? -2.0
