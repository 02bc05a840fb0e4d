# C types of `genalpha.numerics.gradients`.

cimport numpy as cnp
from genalpha.kernels.callbacks cimport called
from genalpha.model.equations cimport Equations

cpdef step_terms(
    Equations o, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
    cnp.ndarray psi, double ca, double cq, double cv
)
cpdef list tangent(
    Equations o, double t, cnp.ndarray q, cnp.ndarray v, cnp.ndarray vdot, cnp.ndarray lam,
    cnp.ndarray psi, double cq, double cv
)
cpdef tuple constraints(Equations o, double t, cnp.ndarray q, cnp.ndarray v, double ratio)
