# cython: boundscheck=False, wraparound=False, cdivision=True
"""The C functions of a mechanism where machine code calls them, with room for their results."""

cimport numpy as cnp
from libc.string cimport memcpy

from genalpha.kernels.memory cimport Size
from genalpha.kernels.native cimport Native
from genalpha.schemes.native.linear cimport LU

import numpy as np

cnp.import_array()


cdef class Callbacks:
    """What works with a mechanism without Python."""

    cdef take_over(self, o, dict callbacks):
        """Work with a mechanism whose callbacks, by name, are C functions or constant matrices."""
        self._natives, self._kept, self._names = callbacks, [], []
        self.n, self.m, self.l = o.n_q, o.n_lam, o.n_psi

    cdef double* room(self, Size count):
        """Memory for so many numbers, as long as this lives."""
        cdef cnp.ndarray memory = np.zeros(max(count, 1))
        self._kept.append(memory)
        return <double*> cnp.PyArray_DATA(memory)

    cdef room_for(self, LU* lu, Size size):
        """Make room for a matrix."""
        lu.a, lu.size, lu.pivots = self.room(size * size), <int> size, <int*> self.room(size)

    cdef int load(self, Callback* f, str name, Size size) except -1:
        """Take over a callback, if there is one of this name."""
        cdef cnp.ndarray matrix
        given = self._natives.get(name)
        self._loaded[len(self._names)] = f
        self._names.append(name)
        f.out = self.room(size)
        if isinstance(given, Native):
            f.function = (<Native> given).function
        elif given is not None:
            matrix = np.ascontiguousarray(given, dtype=float)
            if cnp.PyArray_SIZE(matrix) != size:
                raise ValueError(f"{name} has {cnp.PyArray_SIZE(matrix)} entries; expected {size}")
            memcpy(f.out, cnp.PyArray_DATA(matrix), size * sizeof(double))
        return 0

    cdef tell_calls(self):
        """Add the calls since the last time to those of the mechanism."""
        cdef Py_ssize_t i
        for i in range(len(self._names)):
            if self._loaded[i].calls:
                self._natives[self._names[i]].calls += self._loaded[i].calls
                self._loaded[i].calls = 0
