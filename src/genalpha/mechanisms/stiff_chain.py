"""A chain with a stiff spring: a slow swing, and a fast vibration that dies out.

For the figure on step sizes in the docs and the test of the same claim; not in the catalogue,
because there is no reference solution.
"""

from __future__ import annotations

import numpy as np

from genalpha.mechanisms.chains import chain as chain_of
from genalpha.mechanisms.chains import closed_chain
from genalpha.model import Mechanism

Array = np.ndarray


def stiff_chain(
    links: int = 5, spring: float = 1e6, damper: float = 60.0, stretch: float = 1e-3
) -> Mechanism:
    """Return a chain between two supports; a stiff bushing holds its end to the second one.

    It starts at rest on a circular arc, as `genalpha.mechanisms.closed_chain` does, with the
    bushing stretched, so that its end vibrates with a few hundred Hz while the chain swings.

    Parameters
    ----------
    links : int
        Their number N.
    spring : float
        Stiffness in both directions (N/m); no length when unloaded.
    damper : float
        In N s/m.
    stretch : float
        Initial length of the spring (m).
    """
    arc = closed_chain(links=links, is_sparse=False)
    chain = chain_of(links=links, is_sparse=False)
    x, y, theta = range(3 * links - 3, 3 * links)
    half = 0.25  # of the length of a link
    end = np.array([half * np.cos(arc.q0[theta]), half * np.sin(arc.q0[theta])])
    anchor = arc.q0[[x, y]] + end + [stretch, 0.0]

    def lever(q: Array) -> Array:
        """Return the derivative of the end's position."""
        J = np.zeros((2, q.size))
        J[0, x] = J[1, y] = 1.0
        J[0, theta], J[1, theta] = -half * np.sin(q[theta]), half * np.cos(q[theta])
        return J

    def pull(q: Array, v: Array) -> Array:
        """Return the bushing's force on the end."""
        along = half * np.array([np.cos(q[theta]), np.sin(q[theta])])
        return -spring * (q[[x, y]] + along - anchor) - damper * (lever(q) @ v)

    def force(t: float, q: Array, v: Array) -> Array:
        return chain.force(t, q, v) + lever(q).T @ pull(q, v)

    def stiffness(t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Array:
        J, along = lever(q), half * np.array([np.cos(q[theta]), np.sin(q[theta])])
        K = chain.stiffness(t, q, v, vdot, lam, psi) + spring * J.T @ J
        K[theta, theta] += along @ pull(q, v)
        K[:, theta] -= damper * v[theta] * (J.T @ along)
        return K

    def damping(t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Array:
        J = lever(q)
        return chain.damping(t, q, v, vdot, lam, psi) + damper * J.T @ J

    return chain.replace(
        force=force, stiffness=stiffness, damping=damping, q0=arc.q0, v0=0.0 * arc.v0,
        energy=None, reference=None, lam0=None, name="stiff_chain",
    )  # fmt: skip
