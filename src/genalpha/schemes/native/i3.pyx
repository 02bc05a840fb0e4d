# cython: boundscheck=False, wraparound=False, cdivision=True
"""GenAlphaI3 in machine code: Algorithm 1 of Arnold and Brüls (2007) with equal steps.

Equations and notation are those of `genalpha.schemes.i3`: x = (vdot1, lam1, psi1); a_hat, q_hat,
v_hat are a1, q1, v1 as they would be if vdot1 were 0.
"""

cimport numpy as cnp
from libc.math cimport fmax
from libc.string cimport memcpy, memset

from genalpha.kernels.memory cimport Size, doubles
from genalpha.schemes.native.callbacks cimport value
from genalpha.schemes.native.linear cimport (
    LU, add_multiple, factorize, largest, put, put_transposed, solve,
)
from genalpha.schemes.native.newton cimport Steps

import numpy as np

from genalpha.schemes.i3 import State

cnp.import_array()


cdef class I3(Steps):
    """Steps of GenAlphaI3."""

    def __init__(self, scheme, dict callbacks, Size count):
        cdef Size n = self.n, size = self.size
        self.q_hat, self.v_hat, self.a_hat = self.room(n), self.room(n), self.room(n)
        self.q1, self.v1, self.d = self.room(n), self.room(n), self.room(size)
        self.room_for(&self.matrix, size)

    def load_state(self, state):
        """See `Steps`."""
        cdef Size n = self.n
        cdef double h = self.h
        self.t = state.t
        memcpy(self.q, doubles(state.q), n * sizeof(double))
        memcpy(self.v, doubles(state.v), n * sizeof(double))
        memcpy(self.a, doubles(state.a), n * sizeof(double))
        memcpy(self.x, doubles(state.x), self.count * sizeof(double))
        self.bp = (1.0 - self.alpha_m) / (h * h * self.beta * (1.0 - self.alpha_f))  # (6)
        self.gp = self.gamma / (h * self.beta)

    def state(self):
        """Return the state after the last step that was taken."""
        cdef Size n = self.n
        return State(self.t, self.copy(self.q, n), self.copy(self.v, n),
                     self.copy(self.past + (self.known - 1) * self.count, self.count),
                     self.copy(self.a, n), self.copy(self.a_old, n), self.h, n, self.m,
                     self.alpha * self.h)

    cdef void begin(self) noexcept nogil:
        cdef Size i, n = self.n
        cdef double h = self.h, a, a_hat
        cdef double of_a = -self.alpha_m / (1.0 - self.alpha_m)
        cdef double of_vdot = self.alpha_f / (1.0 - self.alpha_m)
        cdef double* vdot0 = self.past + (self.known - 1) * self.count
        for i in range(n):
            a = self.a[i]
            a_hat = of_a * a + of_vdot * vdot0[i]  # (3)
            self.a_hat[i] = a_hat
            self.q_hat[i] = self.q[i] + h * self.v[i] + h * h * ((0.5 - self.beta) * a
                                                                  + self.beta * a_hat)  # (4)
            self.v_hat[i] = self.v[i] + h * ((1.0 - self.gamma) * a + self.gamma * a_hat)  # (5)

    cdef void place(self) noexcept nogil:
        """Work out q1 and v1 by (7)."""
        cdef Size i
        cdef double by_q = 1.0 / self.bp, by_v = self.gp / self.bp
        for i in range(self.n):
            self.q1[i] = self.q_hat[i] + by_q * self.x[i]
            self.v1[i] = self.v_hat[i] + by_v * self.x[i]

    cdef void correct(self, double* sizes) noexcept nogil:
        cdef Size n = self.n, m = self.m, l = self.l
        cdef double t = self.t + self.h, bp = self.bp, gp = self.gp
        cdef double* d = self.d
        self.place()
        memset(d, 0, self.size * sizeof(double))
        self.imbalance(d, -1.0, t, self.q1, self.v1, self.x)  # (1)
        if m:
            add_multiple(d + n, -bp, value(&self.g, t, self.q1), m)  # (2)
        if l:
            add_multiple(d + n + m, -bp / gp, value(&self.k, t, self.q1, self.v1), l)
        solve(&self.matrix, d)
        self.accelerate(d)
        add_multiple(self.x, 1.0, d, self.size)
        sizes[0] = self.size_of(d, self.x, self.q1, 1.0 / bp if m else gp / bp)

    cdef bint setup(self) noexcept nogil:
        cdef Size n = self.n, m = self.m, l = self.l
        cdef LU* S = &self.matrix
        cdef double t = self.t + self.h, bp = self.bp, gp = self.gp
        cdef double tangent, mass
        self.place()
        memset(S.a, 0, self.size * self.size * sizeof(double))
        memset(self.gradients, 0, (m + l) * sizeof(double))
        tangent = self.put_tangent(S, t, self.q1, self.v1, self.x, self.x, 1.0 / bp, gp / bp)
        put(S, 0, 0, 1.0, value(&self.mass, t, self.q1), n, n)
        mass = largest(self.mass.out, n * n)
        if m:
            value(&self.G, t, self.q1)
            put(S, n, 0, 1.0, self.G.out, m, n)
            put_transposed(S, 0, n, 1.0, self.G.out, m, n)
            self.note_rows(0, 1.0, self.G.out, m)
        if l:
            value(&self.K, t, self.q1, self.v1)
            value(&self.k_q, t, self.q1, self.v1)
            put(S, n + m, 0, 1.0, self.K.out, l, n)
            put(S, n + m, 0, 1.0 / gp, self.k_q.out, l, n)
            put_transposed(S, 0, n + m, 1.0, self.K.out, l, n)
            self.note_rows(m, 1.0, self.K.out, l)
            self.note_rows(m, 1.0 / gp, self.k_q.out, l)
        self.nlus += 1
        return factorize(S) and self.find_scales(S, mass, tangent, 1.0 / bp, self.q1, self.d)

    cdef void finish(self) noexcept nogil:
        cdef Size i, n = self.n
        cdef double by_a = (1.0 - self.alpha_f) / (1.0 - self.alpha_m)
        self.place()
        memcpy(self.q, self.q1, n * sizeof(double))
        memcpy(self.v, self.v1, n * sizeof(double))
        memcpy(self.a_old, self.a, n * sizeof(double))
        for i in range(n):
            self.a[i] = self.a_hat[i] + by_a * self.x[i]  # (3)
