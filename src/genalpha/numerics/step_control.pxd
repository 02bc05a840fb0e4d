# C types of `genalpha.numerics.step_control`.

cimport cython


cdef class Controller:
    cdef public int order
    cdef public double safe, fac1, fac2
    cdef public tuple keep
    cdef public bint _rejected, _fresh

    @cython.locals(factor=double)
    cpdef double accepted(self, double error, double trend) except? -1.0
    cpdef double _towards_aim(self, double error, double gain) except? -1.0
    cpdef double rejected(self, double error) except? -1.0


cpdef double landing(double left, double h) except? -1.0
