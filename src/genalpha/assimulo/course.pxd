# C types of `genalpha.assimulo.course`.

cimport cython
from genalpha.driver.advance cimport Advance
from genalpha.model.residual cimport OneResidual


cdef class Course(Advance):
    cdef public Advance march
    cdef object _layout
    cdef OneResidual _whole

    @cython.locals(march=Advance)
    cpdef step(self, double t_end)
    cpdef at(self, double t)
    @cython.locals(whole=OneResidual)
    cdef _point(self, knot)
