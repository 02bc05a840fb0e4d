# What compiled modules call without a detour over Python.

cimport numpy as cnp

ctypedef cnp.npy_intp Size

cpdef double norm(cnp.ndarray x) except? -1.0
cpdef cnp.ndarray plus(cnp.ndarray x, double c, cnp.ndarray y)
cpdef cnp.ndarray combined(double a, cnp.ndarray x, double b, cnp.ndarray y,
                           double c=*, cnp.ndarray z=*)
cpdef cnp.ndarray extrapolated(tuple past, double t, tuple relation=*)
cpdef cnp.ndarray assembled(Size size, blocks)
cpdef double largest(A) except? -1.0
cpdef cnp.ndarray stacked(double a, cnp.ndarray x, double b, cnp.ndarray y,
                          double c=*, cnp.ndarray z=*)
cpdef cnp.ndarray part(cnp.ndarray x, Size first, Size last)
cpdef called(function, double t, cnp.ndarray q, cnp.ndarray v=*)
cpdef cnp.ndarray zeros(Size n)
cpdef snapshot(A)
cpdef add(cnp.ndarray r, Size first, double c, cnp.ndarray y)
cpdef add_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first)
cpdef add_transposed_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first)
cpdef cnp.ndarray product(A, cnp.ndarray x)
cpdef cnp.ndarray transposed_product(double c, A, cnp.ndarray x)
cpdef double correction_size(cnp.ndarray d, cnp.ndarray x, cnp.ndarray at, Size n, Size m,
                             double relative, double rounding, double noise,
                             double multiplier_noise, double mass_over_gradient) except? -1.0
cpdef cnp.ndarray broyden(list moves, cnp.ndarray d, Size n, double weight)
cpdef cnp.ndarray solution(solve, cnp.ndarray right)
