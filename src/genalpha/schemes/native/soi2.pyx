# cython: boundscheck=False, wraparound=False, cdivision=True
"""GenAlphaSOI2 in machine code: (13) of Jay and Negrut (2008) with equal steps.

Equations, notation and the way to solve them are those of `genalpha.schemes.soi2`: the unknowns x
are (a1_t, lam1_t, psi1_t) of the position step, y = (delta, mu, nu) those of the projection, with
delta = a1_t - a1, mu = lam1 - lam1_t, nu = psi1 - psi1_t; G1 is G at the present q1.
"""

cimport numpy as cnp
from libc.math cimport fmax
from libc.string cimport memcpy, memset

from genalpha.kernels.memory cimport Size, doubles
from genalpha.schemes.native.callbacks cimport value
from genalpha.schemes.native.linear cimport (
    LU, add_multiple, add_product, add_transposed, factorize, largest, put, put_transposed, solve,
)
from genalpha.schemes.native.newton cimport Steps

import numpy as np

from genalpha.schemes.soi2 import State

cnp.import_array()


cdef inline void of_the_end(double* r, double* x, double* y, Size n, Size size) noexcept nogil:
    """What x and y say of (a1, lam1, psi1)."""
    cdef Size i
    for i in range(n):
        r[i] = x[i] - y[i]
    for i in range(n, size):
        r[i] = x[i] + y[i]


cdef class SOI2(Steps):
    """Steps of GenAlphaSOI2."""

    def __init__(self, scheme, dict callbacks, Size count):
        cdef Size n = self.n, size = self.size
        self.weight_m, self.weight_f = 1.0 - self.alpha_m, 1.0 - self.alpha_f
        self.y = self.x + size
        self.Ma, self.Ma_old, self.f, self.old = (
            self.room(n), self.room(n), self.room(n), self.room(n))
        self.M1, self.G1 = self.room(n * n), self.room(self.m * n)
        self.q_hat, self.v_hat = self.room(n), self.room(n)
        self.q1, self.v1, self.v1_t = self.room(n), self.room(n), self.room(n)
        self.d, self.e = self.room(size), self.room(size)
        self.end, self.change = self.room(size), self.room(size)
        self.room_for(&self.position, size)
        self.room_for(&self.velocity, size)

    def load_state(self, state):
        """See `Steps`."""
        cdef Size n = self.n
        self.t = state.t
        self.hb, self.hg = self.h * self.h * self.beta, self.h * self.gamma
        memcpy(self.q, doubles(state.q), n * sizeof(double))
        memcpy(self.v, doubles(state.v), n * sizeof(double))
        memcpy(self.a, doubles(state.a), n * sizeof(double))
        memcpy(self.Ma, doubles(state.Ma), n * sizeof(double))
        memcpy(self.f, doubles(state.f), n * sizeof(double))

    def state(self):
        """Return the state after the last step taken; another one may have failed since."""
        cdef Size n = self.n
        cdef double* x = self.past + (self.known - 1) * self.count
        of_the_end(self.end, x, x + self.size, n, self.size)
        return State(self.t, self.copy(self.q, n), self.copy(self.v, n),
                     self.copy(self.end + n, self.size - n), self.copy(self.a, n),
                     self.copy(self.Ma, n), self.copy(self.a_old, n), self.copy(self.Ma_old, n),
                     self.copy(self.f, n), self.h, self.copy(x, self.count), self.m,
                     self.size - n - self.m)

    cdef double* kept(self) noexcept nogil:
        return self.end + self.n

    cdef void begin(self) noexcept nogil:
        cdef Size i, n = self.n
        cdef double h = self.h, shift = (1.0 + self.alpha) * self.h
        for i in range(n):
            self.q_hat[i] = self.q[i] + h * self.v[i] + h * h * (0.5 - self.beta) * self.a[i]
            self.v_hat[i] = self.v[i] + h * (1.0 - self.gamma) * self.a[i]
            self.shifted_q[i] = self.q[i] + shift * self.v[i]
            self.old[i] = self.alpha_m * self.Ma[i] - self.alpha_f * self.f[i]
        memcpy(self.M1, value(&self.mass, self.t + shift, self.shifted_q), n * n * sizeof(double))
        self.restored()

    cdef void place(self) noexcept nogil:
        """Work out q1 and both velocities."""
        cdef Size i
        for i in range(self.n):
            self.q1[i] = self.q_hat[i] + self.hb * self.x[i]  # (13a)
            self.v1_t[i] = self.v_hat[i] + self.hg * self.x[i]  # (13b)
            self.v1[i] = self.v1_t[i] - self.hg * self.y[i]  # (13c)

    cdef void restored(self) noexcept nogil:
        self.place()
        if self.m:
            memcpy(self.G1, value(&self.G, self.t + self.h, self.q1),
                   self.m * self.n * sizeof(double))

    cdef void correct(self, double* sizes) noexcept nogil:
        cdef Size n = self.n, m = self.m, l = self.l
        cdef double t = self.t + self.h
        cdef double* d = self.d
        cdef double* x = self.x
        self.place()
        memset(d, 0, self.size * sizeof(double))
        add_product(d, -self.weight_m, self.M1, x, n, n)  # (13d)
        add_multiple(d, -1.0, self.old, n)
        add_multiple(d, self.weight_f, value(&self.force, t, self.q1, self.v1), n)
        if m:
            add_transposed(d, -self.weight_f, self.G1, x + n, m, n)
            add_multiple(d + n, -1.0 / self.hb, value(&self.g, t, self.q1), m)  # (13f)
        if l:
            value(&self.K, t, self.q1, self.v1)
            add_transposed(d, -self.weight_f, self.K.out, x + n + m, l, n)
            value(&self.k, t, self.q1, self.v1_t)
            add_multiple(d + n + m, -1.0 / self.hg, self.k.out, l)  # (13h)
        solve(&self.position, d)
        self.accelerate(d)
        add_multiple(x, 1.0, d, self.size)
        sizes[0] = self.size_of(d, x, self.q1, self.hb if m else self.hg)
        if not m:
            return
        memcpy(self.base, self.v1, n * sizeof(double))
        self.restored()
        self.project()
        of_the_end(self.end, x, self.y, n, self.size)
        of_the_end(self.change, d, self.e, n, self.size)
        sizes[1] = self.size_of(self.change, self.end, self.base, self.hg)

    cdef void project(self) noexcept nogil:
        """Correct y, for q1, v1 and G1 that belong to x and y."""
        cdef Size n = self.n, m = self.m, l = self.l
        cdef double t = self.t + self.h
        cdef double* e = self.e
        cdef double* y = self.y
        memset(e, 0, self.size * sizeof(double))
        add_product(e, -self.weight_m, self.M1, y, n, n)  # (13d) - (13e)
        add_transposed(e, self.weight_f, self.G1, y + n, m, n)
        add_multiple(e + n, 1.0 / self.hg, value(&self.rate, t, self.q1, self.v1), m)  # (13g)
        if l:
            value(&self.K, t, self.q1, self.v1)
            add_transposed(e, self.weight_f, self.K.out, y + n + m, l, n)
            value(&self.k, t, self.q1, self.v1)
            add_multiple(e + n + m, 1.0 / self.hg, self.k.out, l)  # (13i)
        solve(&self.velocity, e)
        add_multiple(y, 1.0, e, self.size)

    cdef bint setup(self) noexcept nogil:
        cdef Size n = self.n, m = self.m, l = self.l
        cdef double t = self.t + self.h, mass = self.weight_m * largest(self.M1, n * n)
        cdef double tangent, moves = self.hb or self.hg
        cdef LU* S = &self.position
        self.place()
        memset(S.a, 0, self.size * self.size * sizeof(double))
        # the explicit M1 does not depend on q1: vdot = 0 leaves the derivatives of -f
        memset(self.e, 0, n * sizeof(double))
        tangent = self.put_tangent(S, t, self.q1, self.v1, self.x, self.e, self.weight_f * self.hb,
                                   self.weight_f * self.hg)
        put(S, 0, 0, self.weight_m, self.M1, n, n)
        if l:
            value(&self.K, t, self.q1, self.v1)
            value(&self.k_q, t, self.q1, self.v1)
        self.put_gradients(S, self.weight_f, self.hb / self.hg, t)
        memset(self.gradients, 0, (m + l) * sizeof(double))
        self.note_rows(0, 1.0, self.G1, m)
        self.note_rows(m, 1.0, self.K.out, l)
        self.nlus += 1
        if not (factorize(S) and self.find_scales(S, mass, tangent, moves, self.q1, self.d)):
            return False
        if not m:
            return True
        S = &self.velocity
        memset(S.a, 0, self.size * self.size * sizeof(double))
        put(S, 0, 0, self.weight_m, self.M1, n, n)
        self.put_gradients(S, -self.weight_f, 0.0, t)
        self.nlus += 1
        return factorize(S)

    cdef void put_gradients(self, LU* lu, double c, double along, double t) noexcept nogil:
        """Put c (G, K)^T and the rows (G, K + along dk/dq)."""
        cdef Size n = self.n, m = self.m, l = self.l
        put(lu, n, 0, 1.0, self.G1, m, n)
        put_transposed(lu, 0, n, c, self.G1, m, n)
        put(lu, n + m, 0, 1.0, self.K.out, l, n)
        put(lu, n + m, 0, along, self.k_q.out, l, n)
        put_transposed(lu, 0, n + m, c, self.K.out, l, n)

    cdef void finish(self) noexcept nogil:
        cdef Size i, n = self.n
        cdef double of_Ma = self.weight_m / self.weight_f, of_old = 1.0 / self.weight_f
        if self.m:  # the last correction of q1 has left a trace in (13g): take it away
            self.place()
            self.project()
        of_the_end(self.end, self.x, self.y, n, self.size)
        memcpy(self.a_old, self.a, n * sizeof(double))
        memcpy(self.a, self.end, n * sizeof(double))
        memcpy(self.Ma_old, self.Ma, n * sizeof(double))
        memset(self.Ma, 0, n * sizeof(double))
        add_product(self.Ma, 1.0, self.M1, self.a, n, n)
        for i in range(n):
            self.f[i] = of_Ma * self.Ma[i] + of_old * self.old[i]  # (13e), solved for f(t1, ...)
            self.q[i] = self.q_hat[i] + self.hb * self.x[i]
            self.v[i] = self.v_hat[i] + self.hg * self.a[i]
