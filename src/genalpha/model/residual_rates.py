"""Rates of the constraints of a residual: by its own rows, or by calls beside a place.

Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from genalpha.kernels import add, combined, largest_ratio, plus, product, taken
from genalpha.model.differences import EPS
from genalpha.model.residual_blocks import LARGE, Blocks
from genalpha.model.residual_rows import Balance, Places, Rows

Array = np.ndarray

#: Relative step of second differences along the motion.
SECOND = EPS**0.25
FOURTH = EPS ** (1 / 6)
#: Relative step of first differences along the motion.
FIRST = EPS ** (1 / 3)
#: A step is very short where such a difference is over more than this share of it.
SHORT = 0.1
#: Accuracies from which on differences of second order, and of first order, will do.
CENTRAL, ONE_SIDED = 1e-6, 2e-5


class Rates(Rows):
    """A residual whose constraints are followed along the motion.

    Parameters
    ----------
    F, places
        See `Rows`.
    """

    def __init__(self, F: Any, places: Places) -> None:
        super().__init__(F, places)
        self._zero_lam, self._zero_psi = np.zeros(self.m), np.zeros(self.l)
        #: About M, G, K and the reactions' derivatives, of the last iteration matrix.
        self.latest: Blocks | None = None
        #: M a where `rate_beside` has asked last, if it was asked for.
        self.inertia_beside: Array | None = None

    def along(self, t: float, q: Array, v: Array, vdot: Array, s: float) -> Balance:
        """Return F a time s later on the parabola through q with velocity v: constraints only."""
        moved, faster = combined(1.0, q, s, v, 0.5 * s * s, vdot), plus(v, s, vdot)
        rows = self.rows(t + s, moved, faster, vdot, self._zero_lam, self._zero_psi)
        return self.split(rows)

    def motion_time(self, q: Array, v: Array, vdot: Array) -> float:
        """Return a time in which no coordinate moves by more than its scale, at most 1."""
        return 1.0 / max(1.0, largest_ratio(v, q), sqrt(largest_ratio(vdot, q)))

    def rate(self, t: float, q: Array, v: Array, vdot: Array) -> Array:
        """Return g_t + G v: the residual's own rows, or a difference along the motion.

        With vdot near the true acceleration, the parabola follows the constraints, and a central
        difference is right to rounding of the constraints over the step.
        """
        if not self.m:
            return np.zeros(0)
        if self.has_rates:
            return self.along(t, q, v, vdot, 0.0).rates
        s = FIRST * self.motion_time(q, v, vdot)
        ahead, behind = (self.along(t, q, v, vdot, x).position for x in (s, -s))
        return np.asarray((ahead - behind) / (2.0 * s))

    def rate_there(self, v: Array) -> Array | None:
        """Return g_t + G v by the rows of the last balance, which was near; None without rows."""
        if self._rates_at is None or self.latest is None:
            return None
        there, rows = self._rates_at
        rates = taken(rows, self._rates, self._rate_factors)  # type: ignore[arg-type]
        return plus(rates, 1.0, product(self.latest.G, plus(v, -1.0, there)))

    def rate_beside(
        self,
        t: float,
        q: Array,
        v: Array,
        vdot: Array,
        lam: Array,
        psi: Array,
        at: Balance,
        h: float,
        a: Array | None = None,
    ) -> Array:
        """Return g_t + G v at the end of a step h, where the balance is known, by one call ahead.

        `vdot` is the acceleration up to O(h^2), so that the parabola follows the constraints. It is
        unknown: in a very short step it would move the call ahead more than v. A call behind makes
        up for that. On request the call ahead tells M `a`, too, see `Inertia`: `inertia_beside`.
        """
        s, self.inertia_beside = FIRST * self.motion_time(q, v, vdot), None
        if s > SHORT * abs(h):
            return self.rate(t, q, v, vdot)
        moved, faster = combined(1.0, q, s, v, 0.5 * s * s, vdot), plus(v, s, vdot)
        if a is not None:
            vdot = plus(vdot, LARGE, a)
        rows = self.rows(t + s, moved, faster, vdot, lam, psi)
        if a is not None:
            found = taken(rows, self._motion, self._signs)
            self.inertia_beside = combined(1.0 / LARGE, found, 0.0, found)
        return combined(1.0 / s, taken(rows, self._position), -1.0 / s, at.position)

    def rate_ahead(self, t: float, q: Array, v: Array, vdot: Array, jerk: Array, s: float) -> Array:
        """Return g_t + G v at a position on the constraints, by one call a time s ahead.

        The motion is followed to third order: g then changes by s (g_t + G v) only.
        """
        if self.has_rates:
            return self.rate(t, q, v, vdot)
        moved = combined(1.0, q, s, v, 0.5 * s * s, vdot)
        add(moved, 0, s**3 / 6.0, jerk)
        rows = self.rows(t + s, moved, v, vdot, self._zero_lam, self._zero_psi)
        g = taken(rows, self._position)
        return combined(1.0 / s, g, 0.0, g)

    def acceleration_level(
        self, t: float, q: Array, v: Array, vdot: Array, at: Balance, enough: float
    ) -> tuple[Array, Array]:
        """Return g'' and k' for an acceleration; `at` is the balance at the same q and v.

        To a relative accuracy that is `enough`: by four calls beside it to about 10 digits, by two
        to about 8, and, where the residual has rows for the rates, by one to about 5.
        """
        own, T = at.rates is not None, self.motion_time(q, v, vdot)
        if own and enough >= ONE_SIDED:
            s = FIRST * T
            near = self.along(t, q, v, vdot, s)
            k = combined(1.0 / s, near.velocity, -1.0 / s, at.velocity)
            return combined(1.0 / s, near.rates, -1.0 / s, at.rates), k
        accurate = enough < CENTRAL and not own
        s = (FOURTH if accurate else SECOND) * T
        near, behind = self.along(t, q, v, vdot, s), self.along(t, q, v, vdot, -s)
        k = combined(0.5 / s, near.velocity, -0.5 / s, behind.velocity)
        if own:
            return combined(0.5 / s, near.rates, -0.5 / s, behind.rates), k
        here, c = at.position, 1.0 / (s * s)
        g = combined(c, near.position, -2.0 * c, here, c, behind.position)
        if not accurate:
            return g, k
        near, behind = self.along(t, q, v, vdot, 2.0 * s), self.along(t, q, v, vdot, -2.0 * s)
        wide_k = combined(0.25 / s, near.velocity, -0.25 / s, behind.velocity)
        wide_g = combined(0.25 * c, near.position, -0.5 * c, here, 0.25 * c, behind.position)
        third = 1.0 / 3.0
        return combined(1.0 + third, g, -third, wide_g), combined(1.0 + third, k, -third, wide_k)
