# C types of `genalpha.schemes.drift`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport largest, product, solution, transposed_product
from genalpha.kernels.vectors cimport combined, norm, plus, stacked
from genalpha.model.equations cimport Equations
from genalpha.model.residual cimport OneResidual
from genalpha.numerics.newton cimport Newton
from genalpha.numerics.prediction cimport Past


@cython.locals(
    whole=OneResidual, t=double, h=double, change=cnp.ndarray, first=cnp.ndarray,
    third=cnp.ndarray
)
cpdef cnp.ndarray present_drift(
    Equations o, state, double constant, double ratio, Past places
)
cdef cnp.ndarray _speed(Past places, double t, double s)
@cython.locals(
    v=cnp.ndarray, there=cnp.ndarray, third=cnp.ndarray, left=cnp.ndarray, x=cnp.ndarray,
    right=cnp.ndarray, r=cnp.ndarray
)
cpdef cnp.ndarray drifted(
    Equations o, Newton newton, state, cnp.ndarray drift, double relative
)
@cython.locals(right=cnp.ndarray)
cdef cnp.ndarray _by_the_last_matrix(Equations o, Newton newton, state, cnp.ndarray drift)
cdef cnp.ndarray _times(double c, cnp.ndarray x)
cdef bint _is_unsure(OneResidual whole, state, cnp.ndarray drift) except -1
