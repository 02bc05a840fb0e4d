"""Constraints that become others on the way: what was found near the start must not be believed.

    g = base(t, q) + s^3 (w q + e),   s = max(0, a q - c) or max(0, t - c)

has G = base' wherever s = 0. In half of them w q + e = 0 holds on the way there: no value
of g tells of the bend. Written in several ways, without gradients, and compared with DOP853 on the
index-reduced equations, whose derivatives are here by hand.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import solve_ivp

from genalpha import Mechanism, integrate
from genalpha.schemes import SCHEMES

N = 4
T_END = 0.8


class Bending:
    """A random constraint with its derivatives, and a force, a mass and a start."""

    def __init__(self, seed):
        random = np.random.default_rng([seed, 18])
        self.kind = ("plane", "sphere", "wave", "driven wave")[seed // 2 % 4]
        self.by_time = bool(seed // 3 % 2)
        self.L, self.w = random.uniform(0.5, 1.0, N), random.uniform(-3.0, 3.0, N)
        self.w[0] = 0.0
        self.a = random.uniform(-1.0, 1.0, N)
        self.e = random.uniform(-1.0, 1.0)
        self.q0 = random.uniform(0.3, 0.8, N)
        self.mass = np.diag(random.uniform(0.5, 2.0, N))
        self.f = random.uniform(-5.0, 5.0, N)
        v = random.uniform(-1.0, 1.0, N)
        if seed % 2:  # nothing moves the last coordinate until the bend does
            self.L[-1] = self.f[-1] = self.q0[-1] = v[-1] = self.e = 0.0
            self.w = np.array([0.0] * (N - 1) + [8.0])
        self.level = 0.0
        self.level = self.base(0.0, self.q0)[0]
        G, by_time = self.base(0.0, self.q0)[1:3]
        self.v0 = v - G * (G @ v + by_time) / (G @ G)
        if self.a @ self.v0 < 0.0:
            self.a = -self.a
        self.c = 0.2 if self.by_time else self.a @ (self.q0 + 0.1 * self.v0)

    def base(self, t, q):
        """Return value, gradient, derivative by time, and second derivative along (1, v)."""
        L, level = self.L, self.level
        if self.kind == "plane":
            return L @ q - level, L, 0.0, lambda v: 0.0
        if self.kind == "sphere":
            return L @ q**2 - level, 2.0 * L * q, 0.0, lambda v: 2.0 * L @ v**2
        wave = 0.3 if self.kind == "driven wave" else 0.0
        G = L.copy()
        G[0] *= np.cos(q[0])
        value = L[1:] @ q[1:] + L[0] * np.sin(q[0]) + wave * np.sin(t) - level
        second = lambda v: -L[0] * np.sin(q[0]) * v[0] ** 2 - wave * np.sin(t)  # noqa: E731
        return value, G, wave * np.cos(t), second

    def derivatives(self, t, q, v):
        """Return G and g'' without G v'."""
        _, G, _, second = self.base(t, q)
        s = max(0.0, (t if self.by_time else self.a @ q) - self.c)
        along = 1.0 if self.by_time else self.a @ v
        p = self.w @ q + self.e
        bend = 6.0 * s * along**2 * p + 6.0 * s**2 * along * (self.w @ v)
        across = 0.0 if self.by_time else 3.0 * s**2 * p * self.a
        return G + s**3 * self.w + across, second(v) + bend

    def rates(self, t, y):
        """Return y' and lam."""
        q, v = y[:N], y[N:]
        G, c = self.derivatives(t, q, v)
        inverse = np.linalg.inv(self.mass)
        lam = (G @ inverse @ self.f + c) / (G @ inverse @ G)
        return np.concatenate([v, inverse @ (self.f - G * lam)]), lam

    # ways of writing it

    def with_numpy(self, t, q):
        """Take complex numbers, and keep them."""
        s = (t if self.by_time else self.a @ q) - self.c
        bend = s**3 * (self.w @ q + self.e) if np.real(s) > 0.0 else 0.0
        return np.array([self.base(t, q)[0] + bend])

    def loses_parts(self, t, q):
        """Take complex numbers, and lose imaginary parts beyond the bend."""
        s = np.maximum(0.0, np.real((t if self.by_time else self.a @ q) - self.c))
        return np.array([self.base(t, q)[0] + s**3 * (self.w @ q + self.e)])

    def with_math(self, t, q):
        """Take real numbers only."""
        q = np.array([math.fsum([x]) for x in q])
        return self.with_numpy(float(t), q)


def truth(o):
    found = solve_ivp(
        lambda t, y: o.rates(t, y)[0], (0.0, T_END), np.concatenate([o.q0, o.v0]),
        "DOP853", rtol=1e-9, atol=1e-10, max_step=0.02,
    )  # fmt: skip
    y = found.y[:, -1]
    return y[:N], y[N:], o.rates(T_END, y)[1]


@pytest.mark.parametrize("seed", range(8))
def test_a_constraint_that_bends_later(seed):
    o = Bending(seed)
    q, v, lam = truth(o)
    straight = np.abs(q - o.q0).max()
    ways = [(o.with_numpy, o.mass), (o.loses_parts, o.mass), (o.with_math, o.mass)]
    ways.append((o.with_math, sparse.csc_array(o.mass)))
    for i, (g, mass) in enumerate(ways):
        scheme = list(SCHEMES)[(seed + i) % len(SCHEMES)]
        h = 0.02 if (seed + i) // 3 % 2 else None
        mechanism = Mechanism(force=lambda t, q, v: o.f, q0=o.q0, v0=o.v0, mass=mass, holonomic=g)
        found = integrate(mechanism, T_END, scheme, h, rtol=1e-5)
        where = f"{g.__name__}, {o.kind}, {scheme}, h = {h}"
        assert np.abs(found.q[-1] - q).max() < 2e-3 * max(1.0, straight), where
        assert np.abs(found.v[-1] - v).max() < 1e-2 * max(1.0, np.abs(v).max()), where
        assert abs(found.lam[-1, 0] - lam) < 2e-2 * max(1.0, abs(lam)), where
