# C types of `genalpha.schemes.native.callbacks`.

from genalpha.kernels.memory cimport Size
from genalpha.kernels.native cimport Function, evaluate
from genalpha.schemes.native.linear cimport LU


cdef struct Callback:
    #: A function of the mechanism; where its result is, or a constant matrix; and its calls.
    Function function
    double* out
    long calls


cdef inline double* value(Callback* f, double t, double* q, double* v=NULL, double* vdot=NULL,
                          double* lam=NULL, double* psi=NULL) noexcept nogil:
    """The result of a function, until its next call; a constant matrix as it is."""
    if f.function.vectors:
        f.calls += 1
        evaluate(&f.function, t, q, v, vdot, lam, psi, f.out)
    return f.out


cdef enum:
    #: Callbacks that somebody may load, at most.
    MOST = 12


cdef class Callbacks:
    cdef dict _natives
    cdef list _kept, _names
    cdef Callback* _loaded[MOST]
    cdef readonly Size n, m, l

    cdef take_over(self, o, dict callbacks)
    cdef double* room(self, Size count)
    cdef room_for(self, LU* lu, Size size)
    cdef int load(self, Callback* f, str name, Size size) except -1
    cdef tell_calls(self)
