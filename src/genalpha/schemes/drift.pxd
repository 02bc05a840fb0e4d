# C types of `genalpha.schemes.drift`.

cimport numpy as cnp
from genalpha.kernels.matrices cimport product, transposed_product
from genalpha.kernels.vectors cimport combined, norm, plus, stacked
from genalpha.model.equations cimport Equations
from genalpha.numerics.newton cimport Newton


cpdef drifted(Equations o, Newton newton, state, cnp.ndarray drift, double relative)
