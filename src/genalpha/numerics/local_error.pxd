# C types of `genalpha.numerics.local_error`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.matrices cimport largest
from genalpha.kernels.vectors cimport combined
from genalpha.numerics.weights cimport Tolerances


cdef class ErrorConstants:
    cdef public double position, velocity


@cython.locals(cube=double, error=double, of_velocity=double)
cpdef double error_norm(
    ErrorConstants constants, Tolerances tolerances, double h, cnp.ndarray jerk, cnp.ndarray snap,
    old, new
) except? -1.0

cpdef cnp.ndarray slope(cnp.ndarray later, cnp.ndarray earlier, double time)


cdef class History:
    cdef public double older
    cpdef tuple derivatives(self, state)
    cpdef append(self, state)


cdef class VelocityHistory(History):
    cdef list _t, _v
    cdef cnp.ndarray _vdot
    @cython.locals(times=list, values=list, first=list, jerk=cnp.ndarray, i=Py_ssize_t)
    cpdef tuple derivatives(self, state)
    cpdef append(self, state)


cdef class TrueHistory(History):
    cdef list _t, _vdot
    @cython.locals(
        t=double, vdot=cnp.ndarray, times=list, values=list, jerk=cnp.ndarray, before=cnp.ndarray
    )
    cpdef tuple derivatives(self, state)
    cpdef append(self, state)


cdef class AccelerationHistory(History):
    cdef tuple _last
    @cython.locals(middle=double, last_middle=double, jerk=cnp.ndarray)
    cpdef tuple derivatives(self, state)
    cpdef append(self, state)


cdef class MeanHistory(History):
    cdef double _beta, _gamma, _alpha, _apart, _apart_before
    cdef list _past
    cdef tuple _last
    cdef AccelerationHistory _young
    @cython.locals(t0=double, t1=double, t2=double, least=double, jerk=cnp.ndarray, young=tuple)
    cpdef tuple derivatives(self, state)
    @cython.locals(beta=double, h=double, back=double, ahead=double)
    cpdef append(self, state)
    @cython.locals(beta=double, h=double, h_last=double, c=double)
    cdef tuple _of(self, state)
