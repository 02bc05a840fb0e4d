# cython: boundscheck=False, wraparound=False, cdivision=True
"""What belongs to many states at once, without the GIL: accelerations, multipliers, projections.

Accelerations are, as `genalpha.schemes.soi2` says, M^-1 (f + reaction) with the multipliers of a
scheme; where the mass is singular, or nobody knows multipliers, what the constraints on
accelerations leave (`genalpha.numerics.initial_values.accelerations`).
"""

cimport numpy as cnp
from libc.math cimport HUGE_VAL, fmax
from libc.string cimport memcpy, memset

from genalpha.kernels.memory cimport Size
from genalpha.schemes.native.callbacks cimport Callbacks, value
from genalpha.schemes.native.linear cimport (
    LU, add_multiple, add_transposed, factorize, largest, put, put_transposed, solve,
)

import numpy as np

cnp.import_array()


cdef class Reports(Callbacks):
    """A mechanism whose callbacks are C functions.

    Parameters
    ----------
    o : Mechanism
    callbacks : dict of str to Native or array
        Its mass, force, gradients of constraints, and what their second derivatives by time hold
        beside accelerations; for projections also the constraints and their rates.
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
        self.load(&self.g, "holonomic", m)
        self.load(&self.rate, "holonomic_rate", m)
        self.load(&self.k, "nonholonomic", l)
        self.room_for(&self.inertia, n)
        self.room_for(&self.saddle, size)
        self.size, self.x = size, self.room(size)

    def of_steps(self, rows):
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
                    good = self.of_constraints(row[0], row + 1, row + 1 + n)
                    memcpy(vdot, self.x, n * sizeof(double))
                if not good:
                    break
                row, vdot = row + width, vdot + n
        self.tell_calls()
        return found if good else None

    def of_states(self, times, q, v, double[::1] close=None):
        """Return accelerations and multipliers at some times; None where there are none.

        Parameters
        ----------
        times : (s,) array
        q, v : (s, n) array
            They are overwritten if they are to be put onto the constraints, which is so if
        close : (corrections, small, noise, product), optional
            is given: see `genalpha.driver.extrapolation.points`.
        """
        cdef double[::1] t = times
        cdef double[:, ::1] q_rows = q, v_rows = v
        cdef Size i, count = t.shape[0], size = self.size
        cdef cnp.ndarray found = np.empty((count, size))
        cdef double* x = <double*> cnp.PyArray_DATA(found)
        cdef bint good = True, moves = close is not None
        if not count:
            return found
        if q_rows.shape[0] != count or v_rows.shape[0] != count or q_rows.shape[1] != self.n \
                or v_rows.shape[1] != self.n:
            raise ValueError(f"q and v of shapes {q.shape} and {v.shape}")
        with nogil:
            for i in range(count):
                if moves:
                    good = self.project(t[i], &q_rows[i, 0], &v_rows[i, 0], &close[0])
                if not (good and self.of_constraints(t[i], &q_rows[i, 0], &v_rows[i, 0])):
                    good = False
                    break
                memcpy(x + i * size, self.x, size * sizeof(double))
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

    cdef bint of_constraints(self, double t, double* q, double* v) noexcept nogil:
        """Solve for accelerations and multipliers x; false if there is no unique solution."""
        cdef Size n = self.n, m = self.m, l = self.l
        cdef double* x = self.x
        if not self.factorize_at(t, q, v):
            return False
        memset(x, 0, self.size * sizeof(double))
        add_multiple(x, 1.0, value(&self.force, t, q, v), n)
        if m:
            add_multiple(x + n, -1.0, value(&self.g_two, t, q, v), m)
        if l:
            add_multiple(x + n + m, -1.0, value(&self.k_one, t, q, v), l)
        solve(&self.saddle, x)
        return largest(x, self.size) < HUGE_VAL

    cdef bint factorize_at(self, double t, double* q, double* v) noexcept nogil:
        """Factorize mass and gradients of constraints; false if that is singular."""
        cdef Size n = self.n, m = self.m, l = self.l
        cdef LU* S = &self.saddle
        memset(S.a, 0, self.size * self.size * sizeof(double))
        put(S, 0, 0, 1.0, value(&self.mass, t, q), n, n)
        if m:
            value(&self.G, t, q)
            put(S, n, 0, 1.0, self.G.out, m, n)
            put_transposed(S, 0, n, 1.0, self.G.out, m, n)
        if l:
            value(&self.K, t, q, v)
            put(S, n + m, 0, 1.0, self.K.out, l, n)
            put_transposed(S, 0, n + m, 1.0, self.K.out, l, n)
        return factorize(S)

    cdef bint project(self, double t, double* q, double* v, double* close) noexcept nogil:
        """Put q and v onto the constraints, with one matrix; false if they are too far away."""
        cdef double moved = 0.0
        if not (self.m or self.l):
            return True
        if not self.factorize_at(t, q, v):
            return False
        if self.m and not self.come_near(t, q, v, q, close, &moved):
            return False
        return self.come_near(t, q, v, v, close, &moved)

    cdef bint come_near(self, double t, double* q, double* v, double* x, double* close,
                        double* moved) noexcept nogil:
        """Correct x, which is q or v, until corrections are rounding; false if they do not end."""
        cdef Size n = self.n, m = self.m, l = self.l
        cdef double size, last = HUGE_VAL
        cdef int i, corrections = <int> close[0]
        cdef double* d = self.x
        for i in range(corrections):
            memset(d, 0, self.size * sizeof(double))
            if x == q:
                add_multiple(d + n, -1.0, value(&self.g, t, q), m)
            else:
                if m:
                    add_multiple(d + n, -1.0, value(&self.rate, t, q, v), m)
                if l:
                    add_multiple(d + n + m, -1.0, value(&self.k, t, q, v), l)
            solve(&self.saddle, d)
            size = largest(d, n) / fmax(1.0, largest(x, n))
            add_multiple(x, 1.0, d, n)
            moved[0] += size
            if size <= close[1] or size * moved[0] <= close[3] \
                    or (size <= close[2] and size >= 0.5 * last):
                return True
            last = size
        return False
