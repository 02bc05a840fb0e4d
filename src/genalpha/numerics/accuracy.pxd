# C types of `genalpha.numerics.accuracy`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport largest, solution
from genalpha.kernels.vectors cimport absolute_product, correction_size, norm, part, plus, stacked

from genalpha.numerics.systems cimport row_sizes, size_of


cdef class Scales:
    cdef public double noise, multiplier_noise, mass_over_gradient, rounding
    cdef public object states, units

    cpdef double noise_of(self, cnp.ndarray at, double displacement) except? -1.0


@cython.locals(
    mass=double, gradient=double, extent=double, noise=double, rounding=double, moved=double,
    reacted=double, pushed=double, d=cnp.ndarray, rows=cnp.ndarray,
    n=Py_ssize_t, count=Py_ssize_t, right=cnp.ndarray
)
cpdef Scales scales(
    o, inertia, tangent, J, cnp.ndarray q, double displacement, solve, cnp.ndarray multipliers
)

cpdef double size(
    double relative, Scales scales, cnp.ndarray d, cnp.ndarray x, cnp.ndarray at,
    double displacement, Py_ssize_t n, Py_ssize_t m
) except? -1.0

@cython.locals(per=double)
cdef double _size(
    double relative, Scales scales, cnp.ndarray d, cnp.ndarray x, cnp.ndarray at,
    double displacement, Py_ssize_t n, Py_ssize_t m
) except? -1.0

@cython.locals(whole=cnp.ndarray)
cpdef cnp.ndarray larger(cnp.ndarray a, cnp.ndarray R)
