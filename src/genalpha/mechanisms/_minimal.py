"""Mechanisms with first-order states, and their references in minimal coordinates.

The constraints are solved for by hand there, and the equations projected onto the velocities that
they allow, so that a reference shares with its mechanism only masses and forces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genalpha.mechanisms._build import (
    NO_MULTIPLIER,
    StateHistory,
    Vector,
    assemble,
    mass_matrix,
)
from genalpha.model import DrivenMotion, Mechanism, Reference


class MinimalMotion:
    """The motion of a driven mechanism with one or more free coordinates s.

    Parameters
    ----------
    model : object
        With the callbacks of a mechanism, and position(s), directions(s), bending(s, u): q, dq/ds,
        and what q'' holds beside (dq/ds) s''.
    start : (s, u, z)
    segment : float
        See `StateHistory`.
    """

    def __init__(self, model: Any, start: tuple[Vector, Vector, Vector], segment: float) -> None:
        self.model, self.k = model, start[0].size
        self.history = StateHistory(self._rate, 0.0, np.concatenate(start), segment)

    def _accelerations(self, t: float, x: Vector) -> tuple[Vector, ...]:
        o, k = self.model, self.k
        s, u, z = x[:k], x[k : 2 * k], x[2 * k :]
        q, S = o.position(s), o.directions(s)
        v, bent = S @ u, o.bending(s, u)
        M, f = mass_matrix({"mass": o.mass}, t, q), o.force(t, q, v, z)
        sdd = np.linalg.solve(S.T @ M @ S, S.T @ (f - M @ bent))
        return q, v, S @ sdd + bent, z, o.state_rate(t, q, v, z), sdd, M, f

    def _rate(self, t: float, x: Vector) -> Vector:
        _, _, _, _, zdot, sdd, _, _ = self._accelerations(t, x)
        return np.concatenate([x[self.k : 2 * self.k], sdd, zdot])

    def __call__(self, t: float) -> DrivenMotion:
        """Return the motion; multipliers are what the equations lack without them."""
        q, v, vdot, z, zdot, _, M, f = self._accelerations(t, self.history(t))
        G = self.model.holonomic_jacobian(t, q)
        lam = np.linalg.lstsq(G.T, f - M @ vdot, rcond=None)[0]
        return DrivenMotion(q, v, vdot, lam, NO_MULTIPLIER, z, zdot)


def driven(
    model: Any, start: tuple[Vector, Vector, Vector], segment: float, digits: float, **names: Any
) -> Mechanism:
    """Return the mechanism of a model, with its reference; `start` has s, s' and z."""
    s, u, z = start
    source = "DOP853 in minimal coordinates, relative tolerance 1e-13"
    return assemble(
        model,
        q0=model.position(s),
        v0=model.directions(s) @ u,
        z0=z,
        reference=Reference(source, MinimalMotion(model, start, segment), digits),
        **names,
    )
