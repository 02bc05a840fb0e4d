# C types of `genalpha.driver.advance`.

cdef class Advance:
    cdef public double t_left, t
    cpdef step(self, double t_end)
    cpdef at(self, double t)
