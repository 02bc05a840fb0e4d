# C types of `genalpha.numerics.counters`.

cdef class Counters:
    cdef public Py_ssize_t nsteps, nfcns, njacs, nfcnjacs, nlus, nniters, nnfails, nerrfails
    cdef public double h_min, h_max
    cdef public list rejections
    cdef public dict calls

    cpdef note_size(self, double h)
