# cython: boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""Callbacks of the user, called and checked: the compiled form of `genalpha.kernels.plain`."""

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.object cimport PyObject

from genalpha.kernels.memory cimport Size, copied
from genalpha.kernels.native cimport Native

cnp.import_array()


cdef inline bint read(list values, double* to, Size n) except -1:
    """Copy a list of n floats; false if it is anything else."""
    cdef Size i
    if len(values) != n:
        return False
    for i in range(n):
        if not PyFloat_Check(values[i]):
            return False
        to[i] = PyFloat_AS_DOUBLE(values[i])
    return True


cdef extern from *:
    """
    /* Make an array read-only while somebody else has it; tell whether it was not. */
    static inline int locked(PyObject *x) {
        if (!PyArray_Check(x) || !PyArray_ISWRITEABLE((PyArrayObject *) x)) return 0;
        ((PyArrayObject_fields *) x)->flags &= ~NPY_ARRAY_WRITEABLE;
        return 1;
    }
    static inline void unlocked(PyObject *x, int was_free) {
        if (was_free) ((PyArrayObject_fields *) x)->flags |= NPY_ARRAY_WRITEABLE;
    }
    """
    bint locked(PyObject* x) noexcept
    void unlocked(PyObject* x, bint was_free) noexcept


cdef inline first(tuple arguments):
    return arguments[0] if arguments else None


#: So many arguments are guarded: a bit of a C integer each.
cdef enum: MOST = 32


cpdef guarded(function, tuple arguments):
    cdef unsigned int free = 0
    cdef Size i, count = min(len(arguments), MOST)
    for i in range(count):
        if locked(<PyObject*> arguments[i]):
            free |= 1U << i
    try:
        return function(*arguments)
    finally:
        for i in range(count):
            unlocked(<PyObject*> arguments[i], free >> i & 1)


cdef class Checked:
    cdef object function, otherwise
    cdef int ndim
    cdef Size n, m
    cdef public long calls

    def __init__(self, function, tuple shape, otherwise):
        self.function, self.otherwise = function, otherwise
        self.ndim, self.n, self.m = len(shape), shape[0], shape[len(shape) - 1]

    cdef inline bint is_expected(self, value):
        return (
            cnp.PyArray_CheckExact(value)
            and cnp.PyArray_TYPE(value) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISBEHAVED_RO(value)
            and cnp.PyArray_NDIM(value) == self.ndim
            and cnp.PyArray_DIM(value, 0) == self.n
            and cnp.PyArray_DIM(value, self.ndim - 1) == self.m
        )

    cdef converted(self, value, t):
        """An array of a list of floats, or of lists of floats; the rest is not for here."""
        cdef Size shape[2]
        cdef Size i
        cdef bint good = True
        if type(value) is not list:
            return self.otherwise(value, t)
        shape[0], shape[1] = self.n, self.m
        cdef cnp.ndarray result = cnp.PyArray_EMPTY(self.ndim, shape, cnp.NPY_DOUBLE, 0)
        cdef double* to = <double*> cnp.PyArray_DATA(result)
        if self.ndim == 1:
            good = read(value, to, self.n)
        elif len(<list> value) != self.n:
            good = False
        else:
            for i in range(self.n):
                row = (<list> value)[i]
                if type(row) is not list or not read(row, to + i * self.m, self.m):
                    good = False
                    break
        return result if good else self.otherwise(value, t)

    cdef inline of_many(self, tuple arguments):
        self.calls += 1
        return guarded(self.function, arguments)

    cdef inline of(self, double t, cnp.ndarray q, cnp.ndarray v):
        """The same for (t, q) or (t, q, v); the value may be used as it is."""
        cdef PyObject* qs = <PyObject*> q
        cdef PyObject* vs = <PyObject*> v
        cdef bint free_q = locked(qs), free_v = v is not None and locked(vs)
        self.calls += 1
        try:
            value = self.function(t, q) if v is None else self.function(t, q, v)
        finally:
            unlocked(qs, free_q)
            unlocked(vs, free_v)
        return value if self.is_usable(value) else self.converted(value, t)

    def __call__(self, *arguments):
        value = self.of_many(arguments)
        return copied(value) if self.is_expected(value) else self.converted(value, first(arguments))

    def now(self, *arguments):
        value = self.of_many(arguments)
        return value if self.is_usable(value) else self.converted(value, first(arguments))

    cdef inline bint is_usable(self, value):
        return self.is_expected(value) and cnp.PyArray_IS_C_CONTIGUOUS(value)


cpdef called(function, double t, cnp.ndarray q, cnp.ndarray v=None):
    cdef Checked checked
    PyErr_CheckSignals()  # Ctrl-C, which nobody else looks for if the user's functions are compiled
    if type(function) is Checked:
        checked = function
        return checked.of(t, q, v)
    if type(function) is Native:
        return (<Native> function).of(t, q, v)
    function = getattr(function, "now", function)
    return function(t, q) if v is None else function(t, q, v)
