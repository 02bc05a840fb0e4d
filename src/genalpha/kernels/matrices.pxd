# What compiled modules call of `matrices` without a detour over Python.

cimport numpy as cnp
from genalpha.kernels.memory cimport Size

cpdef cnp.ndarray assembled(Size size, blocks)
cpdef double largest(A) except? -1.0
cpdef cnp.ndarray largest_of_rows(A)
cpdef snapshot(A)
cpdef add_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first)
cpdef add_transposed_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first)
cpdef cnp.ndarray product(A, cnp.ndarray x)
cpdef cnp.ndarray transposed_product(double c, A, cnp.ndarray x)
cpdef cnp.ndarray solution(solve, cnp.ndarray right)
