# cython: boundscheck=False, wraparound=False, cdivision=True
"""Accelerations of many steps in one call without the GIL, for schemes that do not keep them.

As `genalpha.schemes.soi2` says: M^-1 (f + reaction) with the multipliers of the scheme; where the
mass is singular, what the constraints on accelerations leave.
"""

cimport numpy as cnp
from libc.string cimport memcpy, memset

from genalpha.kernels.memory cimport Size
from genalpha.schemes.native.callbacks cimport Callbacks, value
from genalpha.schemes.native.linear cimport (
    LU, add_multiple, add_transposed, factorize, put, put_transposed, solve,
)

import numpy as np

cnp.import_array()


cdef class Reports(Callbacks):
    """Accelerations of a mechanism whose callbacks are C functions.

    Parameters
    ----------
    o : Mechanism
    callbacks : dict of str to Native or array
        Its mass, force, gradients of constraints, and what their second derivatives by time hold
        beside accelerations.
    """

    def __cinit__(self, o, dict callbacks):
        cdef Size n = o.n_q, m = o.n_lam, l = o.n_psi, size = n + m + l
        self.take_over(o, callbacks)
        self.load(&self.mass, "mass", n * n)
        self.load(&self.force, "force", n)
        self.load(&self.G, "holonomic_jacobian", m * n)
        self.load(&self.K, "nonholonomic_jacobian", l * n)
        self.load(&self.g_two, "holonomic_acceleration", m)
        self.load(&self.k_one, "nonholonomic_acceleration", l)
        self.inertia.a, self.inertia.size = self.room(n * n), <int> n
        self.inertia.pivots = <int*> self.room(n)
        self.saddle.a, self.saddle.size = self.room(size * size), <int> size
        self.saddle.pivots = <int*> self.room(size)
        self.x = self.room(size)

    def __call__(self, rows):
        """Return accelerations of rows (t, q, v, a, lam, psi); None where there are none."""
        cdef cnp.ndarray given = np.ascontiguousarray(rows, dtype=float)
        cdef Size i, count = given.shape[0], width = given.shape[1], n = self.n
        cdef cnp.ndarray found = np.empty((count, n))
        cdef double* row = <double*> cnp.PyArray_DATA(given)
        cdef double* vdot = <double*> cnp.PyArray_DATA(found)
        cdef bint regular = True, good = True
        if width != 1 + 3 * n + self.m + self.l:
            raise ValueError(f"rows of {width} values")
        with nogil:
            for i in range(count):
                if regular:
                    regular = self.of_multipliers(
                        row[0], row + 1, row + 1 + n, row + 1 + 3 * n, vdot)
                if not regular:
                    good = self.of_constraints(row[0], row + 1, row + 1 + n, vdot)
                if not good:
                    break
                row, vdot = row + width, vdot + n
        self.tell_calls()
        return found if good else None

    cdef bint of_multipliers(self, double t, double* q, double* v, double* kept,
                             double* vdot) noexcept nogil:
        """Work out M^-1 (f + reaction); false if M is singular."""
        cdef Size n = self.n
        memset(self.inertia.a, 0, n * n * sizeof(double))
        put(&self.inertia, 0, 0, 1.0, value(&self.mass, t, q), n, n)
        if not factorize(&self.inertia):
            return False
        memcpy(vdot, value(&self.force, t, q, v), n * sizeof(double))
        if self.m:
            add_transposed(vdot, -1.0, value(&self.G, t, q), kept, self.m, n)
        if self.l:
            add_transposed(vdot, -1.0, value(&self.K, t, q, v), kept + self.m, self.l, n)
        solve(&self.inertia, vdot)
        return True

    cdef bint of_constraints(self, double t, double* q, double* v, double* vdot) noexcept nogil:
        """Solve for accelerations and multipliers; false if there is no unique solution."""
        cdef Size n = self.n, m = self.m, l = self.l, size = n + m + l
        cdef LU* S = &self.saddle
        cdef double* x = self.x
        memset(S.a, 0, size * size * sizeof(double))
        memset(x, 0, size * sizeof(double))
        put(S, 0, 0, 1.0, value(&self.mass, t, q), n, n)
        add_multiple(x, 1.0, value(&self.force, t, q, v), n)
        if m:
            value(&self.G, t, q)
            put(S, n, 0, 1.0, self.G.out, m, n)
            put_transposed(S, 0, n, 1.0, self.G.out, m, n)
            add_multiple(x + n, -1.0, value(&self.g_two, t, q, v), m)
        if l:
            value(&self.K, t, q, v)
            put(S, n + m, 0, 1.0, self.K.out, l, n)
            put_transposed(S, 0, n + m, 1.0, self.K.out, l, n)
            add_multiple(x + n + m, -1.0, value(&self.k_one, t, q, v), l)
        if not factorize(S):
            return False
        solve(S, x)
        memcpy(vdot, x, n * sizeof(double))
        return True
