"""What a mechanism contributes to iteration matrices, as terms for `systems`.

Each block is a sum of coefficient times matrix, so that nothing is added up, stacked or
transposed before it is put into its place.
"""

from __future__ import annotations

import numpy as np

from genalpha.model import Mechanism
from genalpha.numerics.linear import Matrix
from genalpha.numerics.systems import Terms

Array = np.ndarray


def tangent(
    o: Mechanism,
    t: float,
    q: Array,
    v: Array,
    vdot: Array,
    lam: Array,
    psi: Array,
    cq: float,
    cv: float,
) -> Terms:
    """Return the terms of cq Kt + cv Ct, see `Mechanism.tangent`."""
    if {"stiffness", "damping"} <= o.given:
        return [
            (cq, o.stiffness(t, q, v, vdot, lam, psi)),
            (cv, o.damping(t, q, v, vdot, lam, psi)),
        ]
    return [(1.0, o.tangent(t, q, v, vdot, lam, psi, cq, cv))]


def reactions(
    o: Mechanism,
    c: float,
    t: float,
    q: Array,
    v: Array,
    lam: Array,
    psi: Array,
    G: Matrix,
    K: Matrix,
) -> list[Terms]:
    """Return c times the derivatives of the reaction by lam and psi, beside each other.

    `G` and `K` are the constraints' gradients at the same state; ideal reactions need no more.
    """
    if "reaction" in o.given:
        return [[(c, o.reaction_jacobian(t, q, v, lam, psi))]]
    return [[(-c, G.T)], [(-c, K.T)]]
