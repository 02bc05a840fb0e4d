"""What the model tests share: mechanisms without their derivatives, and sizes of errors."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from genalpha.model import Mechanism

#: Derivatives that enter the equations, and those that only enter Newton's iteration matrix.
EQUATIONS = (
    "holonomic_jacobian",
    "holonomic_rate",
    "holonomic_acceleration",
    "nonholonomic_jacobian",
    "nonholonomic_acceleration",
)
ITERATION = ("nonholonomic_gradient", "reaction_jacobian", "stiffness", "damping")


def without(mechanism: Mechanism, *keys: str) -> Mechanism:
    return mechanism.replace(**dict.fromkeys(keys), sparsity=None)


def dense(matrix) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def largest(matrix) -> float:
    return float(np.max(np.abs(dense(matrix)), initial=0.0))


def distance(a, b) -> float:
    """Largest difference; NaN does not hide in it."""
    difference = dense(a) - dense(b)
    assert np.isfinite(difference).all()
    return largest(difference)


def nearby(mechanism: Mechanism, seed: int = 5):
    """A random state near the start, off the constraints: t, q, v, vdot, lam, psi."""
    o, random = mechanism, np.random.default_rng(seed)
    n, m, l = o.n_q, o.n_lam, o.n_psi  # noqa: E741
    q = o.q0 + 0.05 * max(0.01, largest(o.q0)) * random.uniform(-1, 1, n)
    v = o.v0 + 0.3 * max(1.0, largest(o.v0)) * random.uniform(-1, 1, n)
    rest = (random.uniform(-1.0, 1.0, k) for k in (n, m, l))
    return o.t0 + 0.37, q, v, *rest


def pendulum(**changes) -> Mechanism:
    """A pendulum with nothing but the necessary."""
    arguments = {
        "force": lambda t, q, v: np.array([0.0, -9.81]),
        "q0": [1.0, 0.0],
        "v0": [0.0, 0.0],
        "holonomic": lambda t, q: np.array([q @ q - 1.0]),
    }
    return Mechanism(**{**arguments, **changes})
