# C types of `genalpha.numerics.gradients`.

cimport numpy as cnp
from genalpha.kernels.callbacks cimport called
from genalpha.kernels.matrices cimport summed
from genalpha.model.equations cimport Equations


cdef class StepTerms:
    cdef public object inertia, forces
    cdef public list gradients, along, reactions


cpdef StepTerms step_terms(
    Equations o, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
    cnp.ndarray psi, double ca, double cq, double cv
)
cpdef list tangent(
    Equations o, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
    cnp.ndarray psi, double cq, double cv
)
cpdef tuple constraints(Equations o, double t, cnp.ndarray q, cnp.ndarray v, double ratio)
cdef StepTerms _of_residual(
    Equations o, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
    cnp.ndarray psi, double ca, double cq, double cv
)
