"""The order of the unknowns in Assimulo's state, for example y = [q, v, lam, psi, mu]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.model import Mechanism, Motion
from genalpha.model.residual import Places, index

Array = np.ndarray


class Layout(NamedTuple):
    """Where the unknowns of each kind are; an explicit problem has only q and v.

    What is in none of the places is mu of "ggl2", which is 0 on the solution.
    """

    size: int
    q: Array
    v: Array
    lam: Array
    psi: Array

    @classmethod
    def in_order(cls, n_q: int, n_lam: int = 0, n_psi: int = 0, n_mu: int = 0) -> Layout:
        """Return the layout y = [q, v, lam, psi, mu]."""
        ends = np.cumsum([n_q, n_q, n_lam, n_psi])
        parts = np.split(np.arange(ends[-1]), ends[:-1])
        return cls(int(ends[-1]) + n_mu, *parts)

    @classmethod
    def of(cls, places: Places) -> Layout:
        """Return the layout of a residual."""
        return cls(*places[:5])

    @property
    def n_q(self) -> int:
        """The number of coordinates."""
        return self.q.size

    @property
    def n_mu(self) -> int:
        """The number of mu."""
        return self.size - sum(x.size for x in self[1:])

    def split(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return copies of q, v, lam and psi."""
        y = np.asarray(y, dtype=float)
        q, v, lam, psi = (y[x] for x in self[1:])
        return q, v, lam, psi

    def assemble(self, motion: Motion) -> tuple[Array, Array]:
        """Return y and yd of a motion; mu and the rates of all multipliers are 0."""
        y, yd = np.zeros(self.size), np.zeros(self.size)
        q, v = index(self.q), index(self.v)
        y[q], y[v], yd[q], yd[v] = motion.q, motion.v, motion.v, motion.vdot
        if self.lam.size:
            y[self.lam] = motion.lam
        if self.psi.size:
            y[self.psi] = motion.psi
        return y, yd


def layout_of(mechanism: Mechanism, form: str) -> Layout:
    """Return the order of the unknowns in one of genalpha's formulations."""
    if form == "ode":
        return Layout.in_order(mechanism.n_q)
    mu = mechanism.n_lam if form == "ggl2" else 0
    return Layout.in_order(mechanism.n_q, mechanism.n_lam, mechanism.n_psi, mu)
