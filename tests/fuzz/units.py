"""A model in the units of a user, as arguments of `Mechanism`.

q = s x (each coordinate has its unit),  t = t0 + tau t_model,  forces by mu / tau^2,
constraint rows by R (holonomic) and Rk (nonholonomic).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.models import Model, Random

Array = np.ndarray


@dataclass
class Units:
    """Sizes of everything, of a model."""

    model: Model
    s: Array
    tau: float
    mu: float
    R: Array
    Rk: Array
    t0: float

    def state(self, t: float, q: Array, v: Array | None = None) -> tuple[Any, ...]:
        """Return t, x, x' of the model."""
        x = np.asarray(q) / self.s
        return (t - self.t0) / self.tau, x, None if v is None else np.asarray(v) * self.tau / self.s

    def multipliers(self, lam: Array, psi: Array) -> tuple[Array, Array]:
        """Return those of the model."""
        return (
            lam * self.R * self.tau**2 / self.mu,
            psi * self.Rk * self.tau**3 / self.mu,
        )

    def atol(self, rtol: float) -> Array:
        """Return tolerances for [q, v, lam, psi] that mean the same as rtol in the model."""
        lam, psi = self.multipliers(np.ones(self.model.m), np.ones(self.model.l))
        return rtol * np.concatenate([self.s, self.s / self.tau, 1.0 / lam, 1.0 / psi])

    def callbacks(self) -> dict[str, Callable[..., Any]]:
        """Return every callback, all derivatives included."""
        o, s, tau, mu, R, Rk = self.model, self.s, self.tau, self.mu, self.R, self.Rk
        state, power = self.state, mu / tau**2
        squares = np.outer(s, s)
        lifted, damping = R[:, None] / s, mu / tau * o.D / squares

        def mass(t: float, q: Array) -> Array:
            return mu * o.mass(*state(t, q)[:2]) / squares

        def force(t: float, q: Array, v: Array) -> Array:
            return power * o.force(*state(t, q, v)) / s

        def holonomic_jacobian(t: float, q: Array) -> Array:
            return lifted * o.G(*state(t, q)[:2])

        def rate(t: float, q: Array, v: Array) -> Array:
            t, x, w = state(t, q, v)
            return R * (o.g_t(t) + o.G(t, x) @ w) / tau

        def nonholonomic_gradient(t: float, q: Array, v: Array) -> Array:
            _, x, w = state(t, q, v)
            return Rk[:, None] * o.k_x(x, w) / s

        def stiffness(t: float, q: Array, v: Array, a: Array, lam: Array, psi: Array) -> Array:
            t, x, _ = state(t, q, v)
            found = o.stiffness(t, x, a * tau**2 / s, *self.multipliers(lam, psi))
            return power * found / squares

        return {
            "mass": mass,
            "force": force,
            "holonomic": lambda t, q: R * o.g(*state(t, q)[:2]),
            "holonomic_jacobian": holonomic_jacobian,
            "holonomic_rate": rate,
            "holonomic_acceleration": lambda t, q, v: R * o.g_acc(*state(t, q, v)) / tau**2,
            "nonholonomic": lambda t, q, v: Rk * o.k(*state(t, q, v)),
            "nonholonomic_jacobian": lambda t, q, v: Rk[:, None] * o.K(state(t, q)[1]) * tau / s,
            "nonholonomic_gradient": nonholonomic_gradient,
            "nonholonomic_acceleration": lambda t, q, v: Rk * o.k_acc(*state(t, q, v)) / tau,
            "stiffness": stiffness,
            "damping": lambda t, q, v, a, lam, psi: damping.copy(),
        }


def draw_units(o: Model, random: Random) -> Units:
    """Return random units: mostly moderate, some over twelve powers of ten."""
    wide = random.choice([0.0, 1.0, 3.0, 6.0])

    def power(size: int | None = None, share: float = 1.0) -> Any:
        return 10.0 ** np.round(random.uniform(-wide * share, wide * share, size), 1)

    length = power(share=0.5)
    # coordinates of different units: angles beside millimetres
    s = length * (power(o.n, 0.25) if random.random() < 0.4 else np.ones(o.n))
    rows = random.random() < 0.5
    R, Rk = (power(k, 0.5) if rows else np.ones(k) for k in (o.m, o.l))
    t0 = float(random.choice([0.0, 0.0, -3.0, 10.0]))
    tau = float(power(share=0.5))
    return Units(o, s, tau, float(power()), R, Rk, t0 * tau)
