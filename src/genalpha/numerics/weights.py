"""Error weights: what an error of a component counts, given tolerances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from genalpha.errors import InvalidOptionError
from genalpha.kernels import error_weights, weighted_norm

Array = np.ndarray

#: In the place of an absolute tolerance of zero, so that no error of a value zero is no error.
TINY = 1e-300


@dataclass
class Tolerances:
    """A relative tolerance, and absolute ones for q, v, lam and psi.

    `share` makes up for coordinates that have no error, in the mean over all of them.
    """

    rtol: float
    q: Array
    v: Array
    lam: Array
    psi: Array
    share: float = 1.0

    @classmethod
    def split(
        cls, rtol: float, atol: ArrayLike, n_q: int, n_lam: int, n_psi: int, n_z: int = 0
    ) -> Tolerances:
        """Take `atol` apart: a number, or a vector for [q, v, lam, psi], or [q, v, z, lam, psi].

        With states z, the last n_z of n_q coordinates only stand for them; they have no error.
        """
        n = n_q - n_z
        values = np.empty(n + n_q + n_lam + n_psi)
        values[:] = atol
        np.maximum(values, TINY, out=values)
        q, v, multipliers = values[:n], values[n : n + n_q], values[n + n_q :]
        lam, psi = multipliers[:n_lam], multipliers[n_lam:]
        if n_z:
            q = np.append(q, np.full(n_z, np.inf))
        return cls(rtol, q, v, lam, psi, float(np.sqrt(n_q / n)))

    def check(self, t: float, q: Array, v: Array) -> None:
        """Refuse a start with a component that is zero and allows no error.

        Raises
        ------
        InvalidOptionError
            With the component.
        """
        n = int(np.isfinite(self.q).sum())
        faults = [
            f"atol = 0 for {name}[{i}], which is 0 at t = {t:g}: no error would be allowed there; "
            "give it an absolute tolerance"
            for name, atol, x in (
                ("q", self.q, q),
                ("v", self.v[:n], v[:n]),
                ("z", self.v[n:], v[n:]),
            )
            for i in np.flatnonzero((atol <= TINY) & (x == 0.0))
        ]
        if faults:
            raise InvalidOptionError("adaptive steps", faults)

    def norm_q(self, error: Array, q: Array, q_new: Array) -> float:
        """Return the norm of an error of the position over a step from `q` to `q_new`."""
        return self.share * weighted_norm(error, error_weights(self.q, self.rtol, q, q_new))

    def weights_v(self, v: Array, v_new: Array) -> Array:
        """Return what an error of each component of the velocity counts."""
        return error_weights(self.v, self.rtol, v, v_new)

    def norm_v(self, error: Array, v: Array, v_new: Array) -> float:
        """Return the norm of an error of the velocity."""
        return weighted_norm(error, self.weights_v(v, v_new))

    def norm_lam(self, error: Array, lam: Array, lam_new: Array) -> float:
        """Return the norm of an error of the holonomic constraints' multipliers."""
        return weighted_norm(error, error_weights(self.lam, self.rtol, lam, lam_new))

    def norm_psi(self, error: Array, psi: Array, psi_new: Array) -> float:
        """Return the norm of an error of the nonholonomic constraints' multipliers."""
        return weighted_norm(error, error_weights(self.psi, self.rtol, psi, psi_new))
