# SciPy's own LAPACK, without the wrappers that convert arguments.

ctypedef void (*Dgetrf)(int*, int*, double*, int*, int*, int*) noexcept nogil
ctypedef void (*Dgetrs)(
    char*, int*, int*, double*, int*, int*, double*, int*, int*
) noexcept nogil

cdef Dgetrf dgetrf
cdef Dgetrs dgetrs
