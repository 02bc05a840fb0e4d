"""One residual F(t, y, yd) of a mechanism: where its parts are, and what a call of it tells.

    y = [q, v, lam, psi] and yd = [v, vdot, 0, 0], in any order; the rows of F hold

    q' - v                      (not evaluated: schemes satisfy it themselves)
    M vdot - f - reaction       the imbalance, up to signs
    g, k                        the constraints
    g_t + G v                   the rates, in overdetermined formulations

One call gives imbalance and constraints together. Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genalpha.kernels import add_taken, part, same, taken, write_at, zeros

Array = np.ndarray


class Places(NamedTuple):
    """Where the parts of a mechanism are in y and in F; rows have signs or factors."""

    size: int
    q: Array
    v: Array
    lam: Array
    psi: Array
    motion: Array
    signs: Array
    position: Array
    velocity: Array
    rates: Array | None = None
    rate_factors: Array | None = None


@dataclass
class Balance:
    """The rows of one call: imbalance (n,), g (m,), k (l,), and rates (m,) where there are some."""

    motion: Array
    position: Array
    velocity: Array
    rates: Any


class Rows:
    """A residual, asked at one place.

    Parameters
    ----------
    F : callable(t, y, yd) -> rows
        Gets arrays of its own.
    places : Places
    """

    def __init__(self, F: Any, places: Places) -> None:
        self.F, self.places = F, places
        self.n, self.m, self.l = places.q.size, places.lam.size, places.psi.size
        self.size, self.has_rates = places.size, places.rates is not None
        self._q, self._v, self._lam, self._psi = map(indices, places[1:5])
        self._motion, self._position = indices(places.motion), indices(places.position)
        self._velocity = indices(places.velocity)
        self._signs = None if (places.signs == 1.0).all() else factors(places.signs)
        self._rates = None if places.rates is None else indices(places.rates)
        scaled = places.rate_factors
        self._rate_factors = None if scaled is None else factors(scaled)
        # a state and its rows, for the `balance` that follows
        self._known: tuple[tuple[Any, ...], Array] | None = None
        # velocity and F where imbalance and constraints were last asked for, if it has rates
        self._rates_at: tuple[Array, Array] | None = None

    def state(self, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> tuple[Array, Array]:
        """Return y and yd, new arrays."""
        y, yd = zeros(self.size), zeros(self.size)
        write_at(y, self._q, q)
        write_at(y, self._v, v)
        write_at(yd, self._q, v)
        write_at(yd, self._v, vdot)
        if self.m:
            write_at(y, self._lam, lam)
        if self.l:
            write_at(y, self._psi, psi)
        return y, yd

    def rows(self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Array:
        """Return F: one call."""
        y, yd = self.state(q, v, vdot, lam, psi)
        return self.F.fresh(t, y, yd)

    def _rows_of(self, t: float, q: Array, v: Array, x: Array) -> Array:
        """Return F where x = (vdot, lam, psi): one call."""
        y, yd = zeros(self.size), zeros(self.size)
        write_at(y, self._q, q)
        write_at(y, self._v, v)
        write_at(yd, self._q, v)
        write_at(yd, self._v, x)
        write_at(y, self._lam, x, self.n)
        write_at(y, self._psi, x, self.n + self.m)
        return self.F.fresh(t, y, yd)

    def balance(self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Balance:
        """Return imbalance and constraints: one call, or none if `blocks` was just here."""
        rows = self.recalled((t, q, v, vdot, lam, psi))
        self._known = None
        self._rates_at = (v, rows) if self.has_rates else None
        return self.split(rows)

    def add_balance(
        self, r: Array, c: float, cg: float, ck: float, t: float, q: Array, v: Array, x: Array
    ) -> None:
        """Add c times the imbalance, cg g and ck k to the parts of r, by the same call.

        x = (vdot, lam, psi).
        """
        n, m, end = self.n, self.n + self.m, self.n + self.m + self.l
        if self._known is None:
            rows = self._rows_of(t, q, v, x)
        else:
            rows = self.recalled((t, q, v, part(x, 0, n), part(x, n, m), part(x, m, end)))
            self._known = None
        self._rates_at = (v, rows) if self.has_rates else None
        add_taken(r, 0, c, rows, self._motion, self._signs)
        add_taken(r, n, cg, rows, self._position)
        add_taken(r, m, ck, rows, self._velocity)

    def remember(self, state: tuple[Any, ...], rows: Array) -> None:
        """Remember the rows at a state, for the next balance."""
        self._known = state, rows

    def recalled(self, state: tuple[Any, ...]) -> Array:
        """Return the rows at a state: one call, or none if `blocks` was just here."""
        if self._known is not None and _same(self._known[0], state):
            return self._known[1]
        return self.rows(*state)

    def split(self, rows: Array) -> Balance:
        """Return the parts of F."""
        rates = None
        if self._rates is not None:
            rates = taken(rows, self._rates, self._rate_factors)
        return Balance(
            taken(rows, self._motion, self._signs),
            taken(rows, self._position),
            taken(rows, self._velocity),
            rates,
        )


def indices(places: Array) -> Array:
    """Return places as the kernels want them."""
    return np.ascontiguousarray(places, dtype=np.intp)


def factors(values: Array) -> Array:
    """Return factors as the kernels want them."""
    return np.ascontiguousarray(values, dtype=float)


def _same(state: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Tell whether two states (t, q, v, ...) are equal."""
    pairs = zip(state[1:], other[1:], strict=True)
    return bool(state[0] == other[0] and all(same(x, y) for x, y in pairs))
