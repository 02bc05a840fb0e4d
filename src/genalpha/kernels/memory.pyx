# cython: boundscheck=False, wraparound=False, cdivision=True
"""Where vectors get their memory.

Creating and deleting a short NumPy array costs about a thousand instructions, many times what is
then done with it. So the last ones that were made are remembered, and one that nobody holds any
more is given out again. Nobody can tell the difference: whoever keeps an array, or a view of it,
holds it.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_REFCNT, Py_XDECREF
from libc.string cimport memcpy

cnp.import_array()

cdef extern from *:
    """
    /* Ours alone, and still what we made: nobody has reshaped, locked or lent it. */
    static inline int is_free(PyObject *x, npy_intp n) {
        PyArrayObject_fields *array = (PyArrayObject_fields *) x;
        return Py_REFCNT(x) == 1 && array->nd == 1 && array->dimensions[0] == n
            && array->strides[0] == (npy_intp) sizeof(double)
            && PyArray_TYPE((PyArrayObject *) x) == NPY_DOUBLE
            && (array->flags & (NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE))
                == (NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE)
            && array->weakreflist == NULL;
    }
    """
    bint is_free(PyObject* x, Size n) noexcept

cdef enum:
    #: Longer vectors are worth their creation.
    LONGEST = 32
    #: So many of each length are remembered, and so many of them looked at.
    REMEMBERED = 64
    LOOKS = 8

cdef PyObject* last[LONGEST + 1][REMEMBERED]
cdef int turns[LONGEST + 1]


cdef cnp.ndarray vector(Size n):
    """A vector with any values in it."""
    cdef int look
    cdef PyObject** place
    if n > LONGEST:
        return cnp.PyArray_EMPTY(1, &n, cnp.NPY_DOUBLE, 0)
    # the one that was given out last first: if it is free, it is still in the cache
    for look in range(LOOKS):
        place = &last[n][turns[n]]
        if place[0] is NULL:
            break
        if is_free(place[0], n):
            return <cnp.ndarray> place[0]
        turns[n] = (turns[n] + 1) % REMEMBERED
    cdef cnp.ndarray made = cnp.PyArray_EMPTY(1, &n, cnp.NPY_DOUBLE, 0)
    Py_INCREF(made)
    Py_XDECREF(place[0])
    place[0] = <PyObject*> made
    return made


cdef cnp.ndarray copied(cnp.ndarray x):
    """A copy in C order."""
    if not cnp.PyArray_IS_C_CONTIGUOUS(x):
        return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)
    cdef cnp.ndarray result
    if cnp.PyArray_NDIM(x) == 1 and cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
        result = vector(cnp.PyArray_SIZE(x))
    else:
        result = cnp.PyArray_EMPTY(
            cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.PyArray_TYPE(x), 0
        )
    memcpy(cnp.PyArray_DATA(result), cnp.PyArray_DATA(x), cnp.PyArray_NBYTES(x))
    return result
