# C types of `genalpha.schemes.hhti2`.

cimport cython
cimport numpy as cnp
from genalpha.kernels.vectors cimport combined, plus, stacked
from genalpha.model.equations cimport Equations
from genalpha.numerics.newton cimport Newton
from genalpha.numerics.prediction cimport extended, predicted
from genalpha.schemes.hhti2_newton cimport (
    Site, Trial, Unknowns, first_guess, new_force, position_and_velocity, project, site_at
)


cdef class State:
    cdef public double t
    cdef public cnp.ndarray q, v, a, f
    cdef public double h
    cdef public cnp.ndarray L
    cdef public tuple past


cpdef adjusted(settings, cnp.ndarray a, cnp.ndarray f, double ratio)

@cython.locals(t1=double, f0=cnp.ndarray, a0=cnp.ndarray, trial=Trial, x=Unknowns)
cpdef State step(Equations o, settings, Newton newton, State state, double h)

@cython.locals(s=State)
cpdef State slim(State state)
