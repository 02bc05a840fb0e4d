"""The equations of motion, put together: what a step evaluates again and again.

`Mechanism` fills in the functions; here they are only called. Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from genalpha.kernels import (
    add,
    add_product,
    add_transposed_product,
    called,
    part,
    snapshot,
    stacked,
    zeros,
)

if TYPE_CHECKING:
    from genalpha.model.residual import OneResidual

Array = np.ndarray
Matrix = Any  # np.ndarray or scipy.sparse.csc_array
VectorFunction = Callable[..., Array]
MatrixFunction = Callable[..., Matrix]


class Equations:
    """Functions of a mechanism, and sums of them."""

    n_q: int
    n_lam: int
    n_psi: int
    constant_mass: Matrix | None
    #: Whether the reaction is -G^T lam - K^T psi.
    is_ideal: bool
    #: All of the equations as one residual, if that is how they are given.
    whole: OneResidual | None
    mass: MatrixFunction
    force: VectorFunction
    holonomic: VectorFunction
    holonomic_rate: VectorFunction
    holonomic_jacobian: MatrixFunction
    nonholonomic: VectorFunction
    nonholonomic_jacobian: MatrixFunction
    reaction: VectorFunction

    def imbalance(self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Array:
        """Return M vdot - f - reaction, the residual of the equations of motion, shape (n,)."""
        r = zeros(self.n_q)
        add_imbalance(self, r, 1.0, t, q, v, stacked(1.0, vdot, 1.0, lam, 1.0, psi))
        return r


# Functions, not methods: compiled, a method would be looked up each time, in case that a subclass
# has another one, which costs more than some of them do.


def mass_now(o: Equations, t: float, q: Array) -> Matrix:
    """Return M, to be used before the next call."""
    return called(o.mass, t, q) if o.constant_mass is None else o.constant_mass


def mass_then(o: Equations, t: float, q: Array) -> Matrix:
    """Return M, to be kept."""
    return o.mass(t, q) if o.constant_mass is None else o.constant_mass


def add_imbalance(o: Equations, r: Array, c: float, t: float, q: Array, v: Array, x: Array) -> None:
    """Add c (M vdot - f - reaction) to the first entries of r, where x = (vdot, lam, psi)."""
    n, m = o.n_q, o.n_lam
    add_product(r, c, mass_now(o, t, q), x, 0)
    add(r, 0, -c, called(o.force, t, q, v))
    if not o.is_ideal:
        lam, psi = part(x, n, n + m), part(x, n + m, n + m + o.n_psi)
        add(r, 0, -c, o.reaction(t, q, v, lam, psi))
        return
    if m:
        add_transposed_product(r, c, called(o.holonomic_jacobian, t, q), x, n)
    if o.n_psi:
        add_transposed_product(r, c, called(o.nonholonomic_jacobian, t, q, v), x, n + m)


def add_balance(
    o: Equations,
    r: Array,
    c: float,
    cg: float,
    ck: float,
    t: float,
    q: Array,
    v: Array,
    x: Array,
) -> None:
    """Add c (M vdot - f - reaction), cg g and ck k to the parts of r; x = (vdot, lam, psi)."""
    n, m = o.n_q, o.n_lam
    if o.whole is not None:
        o.whole.add_balance(r, c, cg, ck, t, q, v, x)
        return
    add_imbalance(o, r, c, t, q, v, x)
    if m:
        add(r, n, cg, called(o.holonomic, t, q))
    if o.n_psi:
        add(r, n + m, ck, called(o.nonholonomic, t, q, v))


def reaction_at(o: Equations, t: float, q: Array) -> Reaction:
    """Return the reaction at one position; it evaluates G once."""
    if not o.n_lam or not o.is_ideal:
        return Reaction(o, t, q, None)
    return Reaction(o, t, q, snapshot(called(o.holonomic_jacobian, t, q)))


class Reaction:
    """The reaction at one position."""

    def __init__(self, equations: Equations, t: float, q: Array, G: Matrix | None) -> None:
        self.equations, self.t, self.q, self.G = equations, t, q, G

    def __call__(self, v: Array, lam: Array, psi: Array) -> Array:
        """Return the reaction, shape (n,)."""
        r = zeros(self.equations.n_q)
        self.add(r, 1.0, v, stacked(1.0, lam, 1.0, psi), 0)
        return r

    def add(self, r: Array, c: float, v: Array, x: Array, first: int) -> None:
        """Add c times the reaction to r; x has (lam, psi) from its entry `first` on."""
        o = self.equations
        m, end = o.n_lam, first + o.n_lam + o.n_psi
        if not o.is_ideal:
            lam, psi = part(x, first, first + m), part(x, first + m, end)
            add(r, 0, c, o.reaction(self.t, self.q, v, lam, psi))
            return
        if m:
            add_transposed_product(r, -c, self.G, x, first)
        if o.n_psi:
            K = called(o.nonholonomic_jacobian, self.t, self.q, v)
            add_transposed_product(r, -c, K, x, first + m)
