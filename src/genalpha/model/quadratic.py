"""Coriolis and centrifugal forces of a mass matrix that depends on the position.

With the kinetic energy T = v^T M(t, q) v / 2, Lagrange's equations d/dt dT/dv - dT/dq = f read

    M v' = f - (dM/dt + sum_k dM/dq_k v_k) v + 1/2 d(v^T M v)/dq

where the derivatives of M are taken at constant v.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.errors import CallbackError
from genalpha.model.callbacks import Array, MatrixFunction, VectorFunction, now
from genalpha.model.differences import accurate_jacobian, directional_derivative, time_scale


def velocity_terms(
    force: VectorFunction, mass: MatrixFunction, gradient: Any, n: int
) -> VectorFunction:
    """Return applied forces with the terms of M; `gradient` is True, or a function for dM/dq."""
    if callable(gradient):
        return WithGivenTerms(force, mass, gradient, n)
    return WithDifferencedTerms(force, mass)


class _WithTerms:
    """A force with more terms, counted by the calls of the user's own."""

    def __init__(self, force: VectorFunction, mass: MatrixFunction) -> None:
        self.force, self.mass = force, mass

    @property
    def calls(self) -> int:
        """How often the user's force was called."""
        return self.force.calls  # type: ignore[attr-defined]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return applied forces and terms of M."""
        return np.asarray(now(self.force)(t, q, v) + self.terms(t, q, v))

    def terms(self, t: float, q: Array, v: Array) -> Array:
        raise NotImplementedError


class WithDifferencedTerms(_WithTerms):
    """The terms from differences of M that are almost as good as formulas."""

    def terms(self, t: float, q: Array, v: Array) -> Array:
        """Return the terms of M."""
        M, T = self.mass, time_scale(q, v)
        size = abs(M(t, q)) @ np.abs(v)
        turning = directional_derivative(lambda s: M(t + s * T, q + s * T * v) @ v, size) / T
        energy = accurate_jacobian(lambda x: np.atleast_1d(v @ (M(t, x) @ v)), q)
        return np.asarray(0.5 * energy[0] - turning)


class WithGivenTerms(_WithTerms):
    """The terms from given derivatives of M by q; that by time is differenced."""

    def __init__(self, force: VectorFunction, mass: MatrixFunction, gradient: Any, n: int) -> None:
        super().__init__(force, mass)
        self.gradient, self.shape = gradient, (n, n, n)

    def terms(self, t: float, q: Array, v: Array) -> Array:
        """Return the terms of M."""
        D = np.asarray(self.gradient(t, q), dtype=float)
        if D.shape != self.shape:
            raise CallbackError(
                f"quadratic_velocity returned shape {D.shape}; expected {self.shape}, with "
                "dM[i, j]/dq[k] as entry [i, j, k]"
            )
        M, by_v = self.mass, D @ v
        in_time = directional_derivative(lambda s: M(t + s, q) @ v, abs(M(t, q)) @ np.abs(v))
        return np.asarray(0.5 * np.einsum("i,ijk,j->k", v, D, v) - by_v @ v - in_time)
