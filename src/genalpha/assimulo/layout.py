"""The order of the unknowns in Assimulo's state: y = [q, v, lam, psi, mu]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.model import Mechanism, Motion

Array = np.ndarray


class Layout(NamedTuple):
    """Numbers of unknowns of each kind; an explicit problem has only q and v."""

    n_q: int
    n_lam: int = 0
    n_psi: int = 0
    n_mu: int = 0

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return 2 * self.n_q + self.n_lam + self.n_psi + self.n_mu

    def split(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return copies of q, v, lam and psi."""
        ends = np.cumsum([self.n_q, self.n_q, self.n_lam, self.n_psi])
        q, v, lam, psi, _ = (part.copy() for part in np.split(np.asarray(y, dtype=float), ends))
        return q, v, lam, psi

    def assemble(self, motion: Motion) -> tuple[Array, Array]:
        """Return y and yd of a motion; mu and the rates of all multipliers are 0."""
        y, yd = np.zeros(self.size), np.zeros(self.size)
        n, m = self.n_q, self.n_lam
        y[:n], y[n : 2 * n], yd[:n], yd[n : 2 * n] = motion.q, motion.v, motion.v, motion.vdot
        if m + self.n_psi:
            y[2 * n : 2 * n + m] = motion.lam
            y[2 * n + m : 2 * n + m + self.n_psi] = motion.psi
        return y, yd


def layout_of(mechanism: Mechanism, form: str) -> Layout:
    """Return the order of the unknowns in one of genalpha's formulations."""
    if form == "ode":
        return Layout(mechanism.n_q)
    mu = mechanism.n_lam if form == "ggl2" else 0
    return Layout(mechanism.n_q, mechanism.n_lam, mechanism.n_psi, mu)
