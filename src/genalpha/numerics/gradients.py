"""What a mechanism contributes to iteration matrices, as terms for `systems`.

Each block is a sum of coefficient times matrix, so that nothing is added up, stacked or
transposed before it is put into its place. Matrices must be put there before the callbacks are
called again: they are not copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genalpha.kernels import called, summed
from genalpha.model import Mechanism
from genalpha.model.callbacks import now
from genalpha.numerics.systems import Terms, transposed

Array = np.ndarray


@dataclass
class StepTerms:
    """The blocks of an iteration matrix, as terms.

    Attributes
    ----------
    inertia, forces : terms, (n, n)
        ca M, and cq Kt + cv Ct.
    gradients : list of terms
        Rows of G and K, without empty ones.
    along : list of terms
        Rows of G and K + cq / cv dk/dq: derivatives where q and v move together.
    reactions : list of terms
        Derivatives of the imbalance by lam and psi, beside each other.
    """

    inertia: Terms
    forces: Terms
    gradients: list[Terms]
    along: list[Terms]
    reactions: list[Terms]


def step_terms(
    o: Mechanism,
    t: float,
    q: Array,
    v: Array,
    vdot: Array,
    lam: Array,
    psi: Array,
    ca: float,
    cq: float,
    cv: float,
) -> StepTerms:
    """Return derivatives of imbalance and constraints where (vdot, q, v) move as (ca, cq, cv)."""
    if o.whole is not None:
        return _of_residual(o, t, q, v, vdot, lam, psi, ca, cq, cv)
    inertia = [(ca, o.mass(t, q))]
    forces = tangent(o, t, q, v, vdot, lam, psi, cq, cv)
    gradients, along = constraints(o, t, q, v, cq / cv)
    return StepTerms(
        inertia, forces, gradients, along, reactions(o, -1.0, t, q, v, lam, psi, gradients)
    )


def _of_residual(
    o: Mechanism,
    t: float,
    q: Array,
    v: Array,
    vdot: Array,
    lam: Array,
    psi: Array,
    ca: float,
    cq: float,
    cv: float,
) -> StepTerms:
    """The same in one sweep of differences; how much of A is inertia matters for scales only."""
    assert o.whole is not None
    found = o.whole.blocks(t, q, v, vdot, lam, psi, ca, cq, cv)
    start, A, G, K = o.whole.start_blocks, found.A, found.G, found.K
    inertia: Terms = [(1.0, A)] if start is None else [(ca, start.A)]
    forces: Terms = [(1.0, summed(1.0, A, -ca, start.A))] if start is not None else []
    rows: list[Terms] = [[(1.0, x)] for x in (G, K) if x.shape[0]] or [[(1.0, G)]]
    return StepTerms(inertia, forces, rows, rows, [[(1.0, found.R)]])


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
            (cq, now(o.stiffness)(t, q, v, vdot, lam, psi)),
            (cv, now(o.damping)(t, q, v, vdot, lam, psi)),
        ]
    return [(1.0, o.tangent(t, q, v, vdot, lam, psi, cq, cv))]


def constraints(
    o: Mechanism, t: float, q: Array, v: Array, ratio: float
) -> tuple[list[Terms], list[Terms]]:
    """Return the rows of (G, K) and those of (G, K + ratio dk/dq), without empty ones."""
    G: Terms = [(1.0, called(o.holonomic_jacobian, t, q))]
    if not o.n_psi:
        return [G], [G]
    K = (1.0, called(o.nonholonomic_jacobian, t, q, v))
    along = (ratio, now(o.nonholonomic_gradient)(t, q, v))
    return ([G, [K]], [G, [K, along]]) if o.n_lam else ([[K]], [[K, along]])


def reactions(
    o: Mechanism,
    c: float,
    t: float,
    q: Array,
    v: Array,
    lam: Array,
    psi: Array,
    J: list[Terms],
) -> list[Terms]:
    """Return c times the derivatives of the reaction by lam and psi, beside each other.

    `J` are the rows of (G, K) at the same state; ideal reactions need no more.
    """
    if "reaction" in o.given:
        return [[(c, o.reaction_jacobian(t, q, v, lam, psi))]]
    return [[(-c * weight, transposed(matrix)) for weight, matrix in row] for row in J]
