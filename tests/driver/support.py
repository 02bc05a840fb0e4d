"""What the driver tests share."""

from __future__ import annotations

from functools import cache

import numpy as np

import genalpha.schemes
from genalpha import Mechanism, mechanisms

SCHEMES = tuple(genalpha.schemes.SCHEMES)


@cache
def mechanism(name: str) -> Mechanism:
    return getattr(mechanisms, name)()


def oscillator(omega: float = 1.0) -> Mechanism:
    return Mechanism(
        force=lambda t, q, v: -(omega**2) * q,
        q0=[1.0],
        v0=[0.0],
        stiffness=lambda t, q, v, vdot, lam, psi: [[omega**2]],
        damping=lambda t, q, v, vdot, lam, psi: [[0.0]],
    )


def pendulum(force=None, **changes) -> Mechanism:
    """A pendulum released at rest; `force(t, q, v)` replaces the weight."""
    arguments = {
        "force": force or (lambda t, q, v: np.array([0.0, -9.81])),
        "q0": [1.0, 0.0],
        "v0": [0.0, 0.0],
        "holonomic": lambda t, q: 0.5 * (q @ q - 1.0),
        "holonomic_jacobian": lambda t, q: q,
        "constraint_names": ["rod"],
        "name": "pendulum",
    }
    return Mechanism(**{**arguments, **changes})
