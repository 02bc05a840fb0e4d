"""Random mechanisms, in units of their own, with every derivative written out by hand.

    M(t, x) x'' = f(t, x, x') - G^T lam - K^T psi
    g_i = x^T H_i x / 2 + b_i x + c_i sin(w_i x + p_i) + d_i sin(o_i t) + e_i
    k_j = (B_j + C_j sin(u_j x)) x' + r_j sin(y_j t)
    M   = M0 + M1 sin(z x + t)
    f   = -S x - D x' + N sin(W x) + F cos(s t) + f0

All numbers are of the order of one; `tests.fuzz.units` puts them into the units of a user.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

Array = np.ndarray
Random = np.random.Generator

#: Rows of constraints may have this condition number along the motion; mass matrices have less.
CONDITION = 30.0


class Parts(NamedTuple):
    """Whether there are quadratic and wavy constraints, driven ones, a variable mass and so on."""

    H: bool
    c: bool
    d: bool
    M1: bool
    N: bool


@dataclass
class Model:
    """One mechanism; the letters are those of the formulas above."""

    H: Array
    b: Array
    c: Array
    w: Array
    p: Array
    d: Array
    o: Array
    B: Array
    C: Array
    u: Array
    r: Array
    y: Array
    M0: Array
    M1: Array
    z: Array
    S: Array
    D: Array
    N: Array
    W: Array
    F: Array
    s: float
    f0: Array
    x0: Array
    e: Array
    v0: Array
    redundant: int = 0  # so many of the last holonomic rows depend on the others

    @property
    def n(self) -> int:
        return self.x0.size

    @property
    def m(self) -> int:
        return len(self.b)

    @property
    def l(self) -> int:  # noqa: E743
        return len(self.B)

    @cached_property
    def has(self) -> Parts:
        """Which parts are not zero: they are asked for a hundred times per input."""
        return Parts(*(bool(np.any(x)) for x in (self.H, self.c, self.d, self.M1, self.N)))

    @cached_property
    def flat(self) -> Array:
        """H as one matrix, whose product is much faster."""
        return self.H.reshape(-1, self.n)

    def mass(self, t: float, x: Array) -> Array:
        return self.M0 + self.M1 * np.sin(self.z @ x + t) if self.has.M1 else self.M0.copy()

    def force(self, t: float, x: Array, v: Array) -> Array:
        smooth = self.F * np.cos(self.s * t) + self.f0
        if self.has.N:
            smooth = smooth + self.N @ np.sin(self.W @ x)
        return smooth - self.S @ x - self.D @ v

    def g(self, t: float, x: Array) -> Array:
        value = self.b @ x + self.e
        if self.has.H:
            value = value + 0.5 * ((self.flat @ x).reshape(-1, self.n) @ x)
        if self.has.c:
            value = value + self.c * np.sin(self.w @ x + self.p)
        if self.has.d:
            value = value + self.d * np.sin(self.o * t)
        return value

    def G(self, t: float, x: Array) -> Array:
        value = (self.flat @ x).reshape(-1, self.n) + self.b if self.has.H else self.b.copy()
        if self.has.c:
            value = value + (self.c * np.cos(self.w @ x + self.p))[:, None] * self.w
        return value

    def g_t(self, t: float) -> Array:
        return self.d * self.o * np.cos(self.o * t)

    def g_acc(self, t: float, x: Array, v: Array) -> Array:
        """What g'' holds beside G x''."""
        bent = (self.flat @ v).reshape(-1, self.n) @ v
        if self.has.c:
            bent = bent - self.c * np.sin(self.w @ x + self.p) * (self.w @ v) ** 2
        if self.has.d:
            bent = bent - self.d * self.o**2 * np.sin(self.o * t)
        return bent

    def k(self, t: float, x: Array, v: Array) -> Array:
        return self.K(x) @ v + self.r * np.sin(self.y * t)

    def K(self, x: Array) -> Array:
        return self.B + np.sin(self.u @ x)[:, None] * self.C if self.l else self.B

    def k_x(self, x: Array, v: Array) -> Array:
        return (np.cos(self.u @ x) * (self.C @ v))[:, None] * self.u

    def k_acc(self, t: float, x: Array, v: Array) -> Array:
        return self.k_x(x, v) @ v + self.r * self.y * np.cos(self.y * t)

    def stiffness(self, t: float, x: Array, a: Array, lam: Array, psi: Array) -> Array:
        """Derivative of M x'' - f + G^T lam + K^T psi by x."""
        value = self.S.copy()
        if self.has.M1:
            value = value + np.outer(self.M1 @ a, np.cos(self.z @ x + t) * self.z)
        if self.has.N:
            value = value - self.N @ (np.cos(self.W @ x)[:, None] * self.W)
        if self.has.H:
            value = value + np.tensordot(lam, self.H, 1)
        if self.has.c:
            waves = lam * self.c * np.sin(self.w @ x + self.p)
            value = value - self.w.T @ (waves[:, None] * self.w)
        if self.l:
            value = value + self.C.T @ ((psi * np.cos(self.u @ x))[:, None] * self.u)
        return value

    def rows(self, x: Array) -> Array:
        return np.vstack([self.G(0.0, x), self.K(x)])


def _holonomic(random: Random, n: int, m: int) -> tuple[Array, Array]:
    """Return H and b of m constraints: planes, spheres, rods of a chain, or quadratic forms."""
    H, b = np.zeros((m, n, n)), np.zeros((m, n))
    kind = random.choice(["plane", "rods", "quadratic", "graph"])
    for i in range(m):
        if kind == "rods" and 2 * i + 1 < n:  # | p_i - p_{i-1} |^2 = constant
            ends = np.zeros((2, n))
            ends[[0, 1], [2 * i, 2 * i + 1]] = 1.0
            if i:
                ends[[0, 1], [2 * i - 2, 2 * i - 1]] = -1.0
            H[i] = ends.T @ ends
        elif kind == "quadratic":
            A = random.normal(size=(n, n)) / n
            H[i], b[i] = A + A.T, random.normal(size=n)
        else:
            b[i] = random.normal(size=n)
    return H, b


def _spd(random: Random, n: int) -> Array:
    A = random.normal(size=(n, n)) / np.sqrt(n)
    return np.eye(n) + 0.5 * A @ A.T


def draw(random: Random) -> Model:
    """Return a random model whose start is consistent; its motion may still be ill-conditioned."""
    n = int(random.integers(1, 7))
    m = int(random.integers(0, n))
    l = int(random.integers(0, n - m)) if random.random() < 0.5 else 0  # noqa: E741
    H, b = _holonomic(random, n, m)
    wavy, driven = random.random(2) < 0.4
    variable, stiff = random.random(2) < (0.4, 0.7)
    M0 = np.eye(n) if random.random() < 0.3 else _spd(random, n)
    A = random.normal(size=(n, n)) / n
    o = Model(
        H=H, b=b,
        c=wavy * random.uniform(0.1, 0.4, m), w=random.normal(size=(m, n)),
        p=random.uniform(0.0, 6.0, m),
        d=driven * random.uniform(-0.4, 0.4, m), o=random.uniform(0.5, 3.0, m),
        B=random.normal(size=(l, n)), C=0.5 * random.normal(size=(l, n)),
        u=random.normal(size=(l, n)),
        r=driven * random.uniform(-0.3, 0.3, l), y=random.uniform(0.5, 3.0, l),
        M0=M0, M1=variable * 0.2 * (A + A.T), z=random.normal(size=n),
        S=stiff * 2.0 * _spd(random, n),
        D=random.choice([0.0, 0.1]) * _spd(random, n),
        N=random.choice([0.0, 0.5]) * random.normal(size=(n, n)),
        W=random.normal(size=(n, n)) / np.sqrt(n),
        F=random.choice([0.0, 1.0]) * random.normal(size=n), s=random.uniform(0.5, 3.0),
        f0=2.0 * random.normal(size=n),
        x0=random.normal(size=n), e=np.zeros(m), v0=np.zeros(n),
    )  # fmt: skip
    o.e = -o.g(0.0, o.x0)
    rows, rates = o.rows(o.x0), np.concatenate([o.g_t(0.0), np.zeros(l)])
    wanted = random.normal(size=n) if random.random() < 0.7 else np.zeros(n)
    if m + l:
        wanted = wanted - np.linalg.pinv(rows) @ (rows @ wanted + rates)
    o.v0 = wanted
    return o


def with_redundant_rows(o: Model, random: Random) -> Model:
    """Append holonomic rows that are combinations of the others."""
    extra = int(random.integers(1, 3))
    mix = random.normal(size=(extra, o.m))
    mixed = {key: np.concatenate([x, np.tensordot(mix, x, 1)])
             for key, x in (("H", o.H), ("b", o.b))}  # fmt: skip
    if np.any(o.c) or np.any(o.d):  # sums of different waves are no wave: repeat rows instead
        rows = random.integers(0, o.m, extra)
        kept = {key: getattr(o, key) for key in ("H", "b", "c", "w", "p", "d", "o", "e")}
        again = {key: np.concatenate([x, x[rows]]) for key, x in kept.items()}
        return replace(o, **again, redundant=extra)
    for key in ("c", "w", "p", "d", "o"):
        x = getattr(o, key)
        mixed[key] = np.concatenate([x, np.zeros((extra, *x.shape[1:]))])
    mixed["e"] = np.concatenate([o.e, mix @ o.e])
    return replace(o, **mixed, redundant=extra)
