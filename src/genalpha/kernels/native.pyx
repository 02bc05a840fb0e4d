# cython: boundscheck=False, wraparound=False, embedsignature=True
"""C functions as callbacks: the compiled form of `genalpha.kernels.plain.Native`."""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_REFCNT

from genalpha.kernels.memory cimport Size, doubles

import numpy as np

cnp.import_array()


cdef cnp.ndarray readable(x, Size size):
    """A vector of so many doubles that C can read."""
    cdef cnp.ndarray values
    if (
        cnp.PyArray_CheckExact(x)
        and cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE
        and cnp.PyArray_ISCARRAY_RO(x)
    ):
        values = x
    else:
        values = np.ascontiguousarray(x, dtype=float)
    if cnp.PyArray_SIZE(values) != size:
        raise ValueError(f"an argument has {cnp.PyArray_SIZE(values)} entries; expected {size}")
    return values


cdef class Native:
    def __init__(self, Size address, Size data, tuple inputs, tuple shape, kept=None):
        if len(inputs) not in (1, 2, 4, 5) or not address:
            raise ValueError(f"no function of {len(inputs)} vectors at address {address}")
        self.function.address, self.function.data = <void*> address, <void*> data
        self.function.vectors = len(inputs)
        self.address, self.data = address, data
        self.inputs, self.shape, self.kept = inputs, shape, kept
        self.buffer = np.empty(shape)

    cdef cnp.ndarray free(self):
        """An array for the result: the last one, unless somebody still holds it."""
        if Py_REFCNT(self.buffer) > 1:
            self.buffer = cnp.PyArray_EMPTY(
                cnp.PyArray_NDIM(self.buffer), cnp.PyArray_DIMS(self.buffer), cnp.NPY_DOUBLE, 0
            )
        return self.buffer

    cdef cnp.ndarray of(self, double t, cnp.ndarray q, cnp.ndarray v):
        """The function of (t, q) or (t, q, v)."""
        cdef Size n = self.inputs[0]
        cdef double* speeds = NULL
        if (v is None) != (self.function.vectors == 1) or self.function.vectors > 2:
            raise TypeError(f"expected t and {self.function.vectors} vectors")
        if v is not None:
            v = readable(v, n)
            speeds = <double*> cnp.PyArray_DATA(v)
        q = readable(q, n)
        cdef cnp.ndarray result = self.free()
        self.calls += 1
        evaluate(&self.function, t, <double*> cnp.PyArray_DATA(q), speeds, NULL, NULL, NULL,
                 <double*> cnp.PyArray_DATA(result))
        return result

    def __call__(self, double t, *arguments):
        result = self.free()
        self.write(t, arguments, result)
        return result

    now = __call__

    def write(self, double t, tuple arguments, cnp.ndarray out not None):
        cdef list given
        cdef double* at[5]
        cdef int i
        cdef double* to = doubles(out)
        if len(arguments) != self.function.vectors:
            raise TypeError(f"expected t and {self.function.vectors} vectors, got {len(arguments)}")
        if cnp.PyArray_SIZE(out) < cnp.PyArray_SIZE(self.buffer):
            raise ValueError(f"{cnp.PyArray_SIZE(out)} places for a result of shape {self.shape}")
        given = [readable(x, size) for x, size in zip(arguments, self.inputs)]
        for i in range(self.function.vectors):
            at[i] = <double*> cnp.PyArray_DATA(<cnp.ndarray> given[i])
        self.calls += 1
        if self.function.vectors == 5:
            evaluate(&self.function, t, at[0], at[1], at[2], at[3], at[4], to)
        elif self.function.vectors == 4:
            evaluate(&self.function, t, at[0], at[1], NULL, at[2], at[3], to)
        else:
            evaluate(&self.function, t, at[0], at[1], NULL, NULL, NULL, to)
