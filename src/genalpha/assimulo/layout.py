"""The order of the unknowns in Assimulo's state, for example y = [q, v, lam, psi, mu]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.kernels import write_at, zeros
from genalpha.model import DrivenMotion, Mechanism, Motion
from genalpha.model.residual_rows import Places
from genalpha.numerics.interpolation import Knot

Array = np.ndarray


class Layout(NamedTuple):
    """Where the unknowns of each kind are; an explicit problem has only q and v.

    What is in none of the places is mu of "ggl2", which is 0 on the solution. First-order states z
    are with v, whose places are then more than those of q, see `genalpha.model.states`.
    """

    size: int
    q: Array
    v: Array
    lam: Array
    psi: Array

    @classmethod
    def in_order(
        cls, n_q: int, n_lam: int = 0, n_psi: int = 0, n_mu: int = 0, n_z: int = 0
    ) -> Layout:
        """Return the layout y = [q, v, z, lam, psi, mu]."""
        ends = np.cumsum([n_q, n_q + n_z, n_lam, n_psi])
        parts = np.split(np.arange(ends[-1]), ends[:-1])
        return cls(int(ends[-1]) + n_mu, *parts)

    @classmethod
    def of(cls, places: Places) -> Layout:
        """Return the layout of a residual."""
        return cls(places.size, *(np.ascontiguousarray(x, dtype=np.intp) for x in places[1:5]))

    @property
    def n_q(self) -> int:
        """The number of coordinates."""
        return self.q.size

    @property
    def n_mu(self) -> int:
        """The number of mu."""
        return self.size - sum(x.size for x in self[1:])

    def split(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return copies of q, v, lam and psi; with states those of Q and V."""
        y = np.asarray(y, dtype=float)
        q, v, lam, psi = (y[x] for x in self[1:])
        if q.size < v.size:
            q = np.append(q, np.zeros(v.size - q.size))
        return q, v, lam, psi

    def assemble(self, motion: Motion | DrivenMotion | Knot) -> tuple[Array, Array]:
        """Return y and yd of a motion, of Q and V or with z.

        mu and the rates of all multipliers are 0.
        """
        y, yd = zeros(self.size), zeros(self.size)
        V, Vdot = motion.v, motion.vdot
        if isinstance(motion, DrivenMotion):
            V, Vdot = np.append(V, motion.z), np.append(Vdot, motion.zdot)
        V = _vector(V)
        write_at(y, self.q, _vector(motion.q))
        write_at(y, self.v, V)
        write_at(yd, self.q, V)
        write_at(yd, self.v, _vector(Vdot))
        if self.lam.size:
            write_at(y, self.lam, _vector(motion.lam))
        if self.psi.size:
            write_at(y, self.psi, _vector(motion.psi))
        return y, yd


def _vector(x: Array) -> Array:
    """Return values as the kernels want them."""
    return np.ascontiguousarray(x, dtype=float)


def layout_of(mechanism: Mechanism, form: str) -> Layout:
    """Return the order of the unknowns in one of genalpha's formulations."""
    o = mechanism.narrow
    if form == "ode":
        return Layout.in_order(o.n_q, n_z=o.n_z)
    mu = o.n_lam if form == "ggl2" else 0
    return Layout.in_order(o.n_q, o.n_lam, o.n_psi, mu, o.n_z)
