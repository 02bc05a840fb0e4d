# cython: boundscheck=False, wraparound=False, cdivision=True
"""HHTI2 in machine code: (3.4) of Jay and Negrut (2007) with equal steps, reactions at the end.

Equations, notation and the way to solve them are those of `genalpha.schemes.hhti2` and
`hhti2_newton`: the unknowns x are (a1, L0, L1, R1); G0 belongs to q0, as
`inertia` does, G1 and M1 belong to the present q1.
"""

cimport numpy as cnp
from libc.math cimport HUGE_VAL
from libc.string cimport memcpy, memset

from genalpha.kernels.memory cimport Size, doubles, length
from genalpha.schemes.native.callbacks cimport value
from genalpha.schemes.native.linear cimport (
    LU, add_multiple, add_product, add_transposed, factorize, largest, put, put_transposed, solve,
)
from genalpha.schemes.native.newton cimport Steps

import numpy as np

from genalpha.model.equations import reaction_at
from genalpha.schemes.hht import NO_VECTOR
from genalpha.schemes.hhti2 import State

cnp.import_array()


cdef class HHTI2(Steps):
    """Steps of HHTI2 with or without holonomic constraints, of the variant "end"."""

    def __init__(self, scheme, dict callbacks, Size count):
        cdef Size n = self.n, m = self.m, size = self.size
        w = scheme.weights
        self.q0, self.q1, self.v0, self.v1 = w.q0, w.q1, w.v0, w.v1
        self.projection0, self.projection1 = w.projection0, w.projection1
        self.more = 0  # what is left of an oscillation is not in these unknowns
        self.L0, self.L1, self.R1 = self.x + n, self.x + n + m, self.x + n + 2 * m
        self.f, self.f1 = self.room(n), self.room(n)
        self.M1, self.transported = self.room(n * n), self.room(m * n)
        self.G0, self.G1 = self.room(m * n), self.room(m * n)
        self.q_hat, self.v_hat = self.room(n), self.room(n)
        self.q_end, self.v_end = self.room(n), self.room(n)
        self.R0, self.R0_new, self.dR, self.dR1 = (
            self.room(n), self.room(n), self.room(n), self.room(n))
        self.d, self.e = self.room(size), self.room(size)
        self.end, self.change = self.room(size), self.room(size)
        self.room_for(&self.position, size)
        self.room_for(&self.velocity, size)
        self.room_for(&self.inertia, n)

    def load_state(self, state):
        """See `Steps`."""
        cdef Size n = self.n
        cdef cnp.ndarray mass = np.ascontiguousarray(state.mass, dtype=float)
        self.t = state.t
        self.hb, self.hg = self.h * self.h * self.beta, self.h * self.gamma
        memcpy(self.q, doubles(state.q), n * sizeof(double))
        memcpy(self.v, doubles(state.v), n * sizeof(double))
        memcpy(self.a, doubles(state.a), n * sizeof(double))
        memcpy(self.f, doubles(state.f), n * sizeof(double))
        memcpy(self.M1, <double*> cnp.PyArray_DATA(mass), n * n * sizeof(double))
        if self.m:
            memcpy(self.G1, value(&self.G, self.t, self.q), self.m * n * sizeof(double))
        self.has_inertia, self.is_regular = False, True

    def state(self):
        """Return the state after the last step taken; another one may have failed since."""
        cdef Size n = self.n
        cdef double* x = self.past + (self.known - 1) * self.count
        q, o = self.copy(self.q, n), self.o
        return State(self.t, q, self.copy(self.v, n), self.copy(self.a, n), self.copy(self.f, n),
                     self.h, self.copy(x + n, 2 * self.m), self.copy(x, self.count),
                     reaction_at(o, self.t, q), o.mass(self.t, q), None, NO_VECTOR, NO_VECTOR)

    cdef double* kept(self) noexcept nogil:
        return self.L0

    cdef double* multipliers(self) noexcept nogil:
        return self.L1

    cdef void begin(self) noexcept nogil:
        cdef Size i, n = self.n
        cdef double h = self.h
        memcpy(self.G0, self.G1, self.m * n * sizeof(double))
        if self.m and not self.has_inertia:
            memset(self.inertia.a, 0, n * n * sizeof(double))
            put(&self.inertia, 0, 0, 1.0, self.M1, n, n)  # that of q0 until `restored`
            self.is_regular = factorize(&self.inertia)
            self.has_inertia = not self.mass.function.vectors  # it is constant
        for i in range(n):
            self.q_hat[i] = self.q[i] + h * self.v[i] + h * h * (0.5 - self.beta) * self.a[i]
            self.v_hat[i] = self.v[i] + h * (1.0 - self.gamma) * self.a[i]
        self.restored()

    cdef void restored(self) noexcept nogil:
        self.old_reaction(self.R0)
        self.place()
        self.mass_of_the_end()

    cdef void mass_of_the_end(self) noexcept nogil:
        """Work out M1."""
        memcpy(self.M1, value(&self.mass, self.t + self.h, self.q_end),
               self.n * self.n * sizeof(double))

    cdef void old_reaction(self, double* R) noexcept nogil:
        """Work out R0 = r(t0, q0, L0)."""
        memset(R, 0, self.n * sizeof(double))
        if self.m:
            add_transposed(R, -1.0, self.G0, self.L0, self.m, self.n)
            solve(&self.inertia, R)

    cdef void place(self) noexcept nogil:
        """Work out q1 (3.4a) and v1 (3.4b)."""
        cdef Size i
        cdef double h = self.h, half = 0.5 * self.h * self.h
        cdef double* a = self.x
        for i in range(self.n):
            self.q_end[i] = (self.q_hat[i] + self.hb * a[i] + half * self.q0 * self.R0[i]
                             + half * self.q1 * self.R1[i])
            self.v_end[i] = (self.v_hat[i] + self.hg * a[i] + h * self.v0 * self.R0[i]
                             + h * self.v1 * self.R1[i])

    cdef void new_force(self) noexcept nogil:
        """Work out f(t1, q1, v1) from (3.4c)."""
        cdef Size i
        for i in range(self.n):
            self.f1[i] = (self.x[i] + self.alpha * self.f[i]) / (1.0 + self.alpha)

    cdef void correct(self, double* sizes) noexcept nogil:
        cdef Size i, n = self.n, m = self.m
        cdef double t = self.t + self.h
        cdef double* d = self.d
        if not self.is_regular:
            sizes[0] = HUGE_VAL
            return
        self.place()
        self.new_force()
        memset(d, 0, self.size * sizeof(double))
        add_product(d, -1.0, self.M1, self.f1, n, n)
        add_multiple(d, 1.0, value(&self.force, t, self.q_end, self.v_end), n)  # (3.4c)
        if m:
            add_multiple(d + n, -1.0 / self.hb, value(&self.g, t, self.q_end), m)  # (3.4e)
        solve(&self.position, d)
        memcpy(self.base, self.q_end, n * sizeof(double))
        memcpy(self.shifted_v, self.v_end, n * sizeof(double))
        add_multiple(self.L0, 1.0, d + n, m)
        add_multiple(self.L1, 1.0, d + n, m)
        add_multiple(self.x, 1.0, d, n)
        self.change_of_old_reaction()
        add_multiple(self.R1, 1.0, self.dR, n)
        self.keep_position(self.dR, self.dR)
        self.place()
        self.mass_of_the_end()
        self.compared()
        sizes[0] = self.size_of(d, self.end, self.base, self.hb if m else self.hg)
        if not m:
            return
        memcpy(self.G1, value(&self.G, t, self.q_end), m * n * sizeof(double))
        self.project()
        self.compared()
        self.place()
        for i in range(n):
            self.change[i] = (self.v_end[i] - self.shifted_v[i]) / self.h
        for i in range(n, n + m):
            self.change[i] = d[i] + self.e[i]
        sizes[1] = self.size_of(self.change, self.end, self.shifted_v, self.h)

    cdef void change_of_old_reaction(self) noexcept nogil:
        """Work out R0 for a changed L0, and by how much it has changed."""
        cdef Size i
        self.old_reaction(self.R0_new)
        for i in range(self.n):
            self.dR[i] = self.R0_new[i] - self.R0[i]
            self.R0[i] = self.R0_new[i]

    cdef void keep_position(self, double* dR0, double* dR1) noexcept nogil:
        """Change a1 such that changes of the reactions do not move q1."""
        cdef double per_beta = -0.5 / self.beta
        add_multiple(self.x, per_beta * self.q0, dR0, self.n)
        add_multiple(self.x, per_beta * self.q1, dR1, self.n)

    cdef void compared(self) noexcept nogil:
        """Work out what corrections are compared with, see `genalpha.numerics.accuracy.larger`."""
        cdef Size i, n = self.n
        for i in range(n):
            self.end[i] = self.x[i] + self.R1[i]
        if not length(self.end, n) > length(self.x, n):
            memcpy(self.end, self.x, n * sizeof(double))
        memcpy(self.end + n, self.L1, self.m * sizeof(double))

    cdef void project(self) noexcept nogil:
        """Project the velocity, for q1, v1, M1 and G1 that belong to x."""
        cdef Size i, n = self.n, m = self.m
        cdef double* e = self.e
        memset(e, 0, self.size * sizeof(double))
        add_product(e, -self.v1, self.M1, self.R1, n, n)  # (3.4d)
        add_transposed(e, -self.v1, self.G1, self.L1, m, n)
        value(&self.rate, self.t + self.h, self.q_end, self.v_end)
        add_multiple(e + n, -1.0 / self.h, self.rate.out, m)  # (3.4e)
        solve(&self.velocity, e)
        add_multiple(self.L0, self.projection0, e + n, m)
        add_multiple(self.L1, self.projection1, e + n, m)
        self.change_of_old_reaction()
        for i in range(n):
            self.dR1[i] = (e[i] - self.v0 * self.dR[i]) / self.v1  # v1 moves by h e
        self.keep_position(self.dR, self.dR1)
        add_multiple(self.R1, 1.0, self.dR1, n)

    cdef bint setup(self) noexcept nogil:
        cdef Size n = self.n, m = self.m
        cdef double t = self.t + self.h, tangent
        cdef double of_mass = 1.0 / (1.0 + self.alpha), per_beta = -0.5 / self.beta * of_mass
        cdef LU* S = &self.position
        if not self.is_regular:
            return False
        self.place()
        self.new_force()
        memset(S.a, 0, self.size * self.size * sizeof(double))
        memset(self.end, 0, self.size * sizeof(double))  # derivatives of forces only
        tangent = self.put_tangent(S, t, self.q_end, self.v_end, self.end, self.f1, self.hb,
                                   self.hg)
        put(S, 0, 0, of_mass, self.M1, n, n)
        if m:
            value(&self.G, t, self.q_end)
            self.transport()
            self.put_gradients(S, self.q0 * per_beta, self.q1 * per_beta)
            memset(self.gradients, 0, m * sizeof(double))
            self.note_rows(0, 1.0, self.G.out, m)
        self.nlus += 1
        if not (factorize(S) and self.find_scales(
                S, of_mass * largest(self.M1, n * n), tangent, self.hb, self.q_end, self.d)):
            return False
        if not m:
            return True
        S = &self.velocity
        memset(S.a, 0, self.size * self.size * sizeof(double))
        put(S, 0, 0, 1.0, self.M1, n, n)
        self.put_gradients(S, -self.v0 * self.projection0, -self.v1 * self.projection1)
        self.nlus += 1
        return factorize(S)

    cdef void transport(self) noexcept nogil:
        """Work out the rows of G0 M0^-1 M1, see `genalpha.schemes.hht.transported`."""
        cdef Size i, n = self.n
        cdef double* row = self.transported
        memcpy(row, self.G0, self.m * n * sizeof(double))
        if self.has_inertia:
            return
        for i in range(self.m):
            memcpy(self.column, row, n * sizeof(double))
            solve(&self.inertia, self.column)
            memset(row, 0, n * sizeof(double))
            add_product(row, 1.0, self.M1, self.column, n, n)
            row += n

    cdef void put_gradients(self, LU* lu, double old, double new) noexcept nogil:
        """Put the derivatives of both reactions, and the rows of G."""
        cdef Size n = self.n, m = self.m
        put(lu, n, 0, 1.0, self.G.out, m, n)
        put_transposed(lu, 0, n, -old, self.transported, m, n)
        put_transposed(lu, 0, n, -new, self.G.out, m, n)

    cdef void finish(self) noexcept nogil:
        cdef Size n = self.n
        if self.m:  # the last correction of q1 has left a trace in the rate of g: take it away
            self.project()
        self.place()
        self.new_force()
        memcpy(self.q, self.q_end, n * sizeof(double))
        memcpy(self.v, self.v_end, n * sizeof(double))
        memcpy(self.a, self.x, n * sizeof(double))
        memcpy(self.f, self.f1, n * sizeof(double))
