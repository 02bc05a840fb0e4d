# C types of `genalpha.numerics.prediction`.

cimport numpy as cnp
from genalpha.kernels.compiled cimport extrapolated

cpdef tuple extended(tuple past, double t, cnp.ndarray x)
cpdef cnp.ndarray predicted(tuple past, double t)
