# What compiled modules call of `matrices` without a detour over Python.

cimport numpy as cnp
from genalpha.kernels.memory cimport Size

cpdef cnp.ndarray assembled(Size size, blocks)
cpdef double largest(A) except? -1.0
cpdef cnp.ndarray largest_of_rows(A)
cpdef snapshot(A)
cpdef cnp.ndarray summed(double a, cnp.ndarray A, double b, cnp.ndarray B)
cpdef cnp.ndarray rows_at(cnp.ndarray A, cnp.ndarray places, double c, cnp.ndarray factors=*)
cpdef list alike_columns(
    cnp.ndarray A, cnp.ndarray B, cnp.ndarray sizes, cnp.ndarray doubts
)
cpdef cnp.ndarray row_times(cnp.ndarray A, Size i, cnp.ndarray x)
cpdef double largest_change(cnp.ndarray A, cnp.ndarray B) except? -1.0
cpdef add_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first)
cpdef add_transposed_product(cnp.ndarray r, double c, A, cnp.ndarray x, Size first)
cpdef cnp.ndarray product(A, cnp.ndarray x)
cpdef cnp.ndarray transposed_product(double c, A, cnp.ndarray x)
cpdef cnp.ndarray solution(solve, cnp.ndarray right)
