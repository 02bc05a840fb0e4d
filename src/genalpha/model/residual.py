"""The equations of a mechanism as one residual F(t, y, yd), asked for as little as possible.

    y = [q, v, lam, psi] and yd = [v, vdot, 0, 0], in any order; the rows of F hold

    q' - v                      (not evaluated: schemes satisfy it themselves)
    M vdot - f - reaction       the imbalance, up to signs
    g, k                        the constraints
    g_t + G v                   the rates, in overdetermined formulations

One call gives imbalance and constraints together. Linear parts (vdot, lam, psi) are exact.
Matrices are found in `residual_blocks`. Compiled, see `genalpha.imports`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from genalpha.kernels import (
    add,
    add_taken,
    combined,
    largest_ratio,
    norm,
    part,
    plus,
    product,
    same,
    taken,
    write_at,
    zeros,
)
from genalpha.model.differences import EPS
from genalpha.model.learnt import Learnt
from genalpha.model.residual_blocks import (
    LARGE,
    Blocks,
    Derivatives,
    Matrix,
    factors,
    indices,
)

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
#: A mass that is taken as constant may be wrong by this, relative to M a.
MASS_ROUNDING = 1e-9
#: Of what about M misses of a product, so much is expected of small changes of it.
AGED = 0.5
#: Rounding may make an imbalance wrong by this, relative to it, or to 1.
NOISE = 64.0 * EPS
INFINITE = float("inf")


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


class OneResidual:
    """A residual, and what schemes ask of it.

    Parameters
    ----------
    F : callable(t, y, yd) -> rows
        Gets arrays of its own. Has a counter `matrix_calls` of the calls for matrices, beside
        its counter of all calls.
    places : Places
    jacobian : callable(c, t, y, yd) -> matrix, optional
        dF/dy + c dF/dyd; it may be rough.
    uses_rates : bool
        Whether rows other than q' = v depend on q'.
    linear : bool
        Whether the imbalance is linear in the multipliers.
    ideal : (m + l,) array, optional
        Factors d with reaction = -J^T (d * multipliers), if that was found at the start. It is
        used in iteration matrices only, where Newton's contraction tells if it is wrong.
    """

    def __init__(
        self,
        F: Any,
        places: Places,
        jacobian: Callable[..., Matrix] | None = None,
        uses_rates: bool = False,
        linear: bool = True,
        ideal: Array | None = None,
    ) -> None:
        self.F, self.places, self.jacobian = F, places, jacobian
        self.uses_rates, self.linear, self.ideal = uses_rates, linear, ideal
        self.n, self.m, self.l = places.q.size, places.lam.size, places.psi.size
        self.size, self.has_rates = places.size, places.rates is not None
        self._q, self._v, self._lam, self._psi = map(indices, places[1:5])
        self._motion, self._position = indices(places.motion), indices(places.position)
        self._velocity = indices(places.velocity)
        self._signs = None if (places.signs == 1.0).all() else factors(places.signs)
        self._rates = None if places.rates is None else indices(places.rates)
        scaled = places.rate_factors
        self._rate_factors = None if scaled is None else factors(scaled)
        self._zero_v, self._zero_lam, self._zero_psi = map(np.zeros, (self.n, self.m, self.l))
        self.derivatives = Derivatives(self)
        #: How often the problem may have changed.
        self.changes = 0
        #: Whether the problem's own Jacobian is used, if there is one.
        self.uses_jacobian = True
        # state and rows where `blocks` was last, for the `balance` that follows
        self._known: tuple[tuple[Any, ...], Array] | None = None
        #: The mass as long as it is taken as constant, see `verify_mass`.
        self.constant_mass: Array | None = None
        self._finds_mass = False
        #: Accelerations of the problem's own start, and matrices there, if they are known.
        self.start_vdot: Array = np.zeros(self.n)
        self.start_blocks: Blocks | None = None
        #: About M, G, K and the reactions' derivatives, of the last iteration matrix.
        self.latest: Blocks | None = None
        #: What finds accelerations, see `genalpha.numerics.from_residual`, once it was asked for.
        self.accelerations: Any = None
        #: About M, for small differences.
        self.near_mass = Learnt()
        #: M a where `rate_beside` has asked last, if it was asked for.
        self.inertia_beside: Array | None = None
        # velocity and F where imbalance and constraints were last asked for, if it has rates
        self._rates_at: tuple[Array, Array] | None = None

    def forget(self) -> None:
        """Forget values, because the problem may have changed; what Newton needs may be old."""
        self._known = None
        self.changes += 1
        if self.constant_mass is not None:  # it may be another one, and as constant
            self.constant_mass, self._finds_mass = None, True

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

    # --- mass ---------------------------------------------------------------------------------

    def inertia(self, t: float, q: Array, v: Array) -> Inertia:
        """Return what multiplies with M(t, q)."""
        return Inertia(self, t, q, v)

    def verify_mass(
        self,
        t: float,
        q: Array,
        v: Array,
        known: tuple[Array, Array],
        a: Array,
        lam: Array,
        psi: Array,
    ) -> bool:
        """Tell whether a mass that is taken as constant is right, by one call with vdot = a.

        `known` is another vdot and the imbalance that it has at the same point: the difference is
        M times that of the accelerations. If the mass is not right, it is no longer constant.
        """
        M, other, imbalance = self.constant_mass, known[0], known[1]
        if M is None:
            return True
        rows, change = self.rows(t, q, v, a, lam, psi), plus(a, -1.0, other)
        expected = product(M, change)
        found = plus(taken(rows, self._motion, self._signs), -1.0, imbalance)
        wrong, c = plus(expected, -1.0, found), MASS_ROUNDING / NOISE
        # most are right by what is left of the sums in |M| |change|, which is told at once
        ratio = largest_ratio(wrong, combined(c, expected, 0.0, expected))
        if ratio <= NOISE and norm(wrong) < INFINITE:  # the largest one does not know of NaN
            return True
        allowed = MASS_ROUNDING * (np.abs(M) @ np.abs(change)) + NOISE * (1.0 + np.abs(imbalance))
        if (np.abs(wrong) <= allowed).all():
            return True
        self.constant_mass = None
        return False

    def mass(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Array:
        """Return M(t, q): the constant one, or n + 1 calls, which count for matrices."""
        if self.constant_mass is not None:
            return self.constant_mass
        before = self.F.calls
        still = np.zeros(self.n)
        base = self.split(self.rows(t, q, v, still, lam, psi)).motion
        columns = [
            self.split(self.rows(t, q, v, unit, lam, psi)).motion - base for unit in np.eye(self.n)
        ]
        self.F.matrix_calls += self.F.calls - before
        found = np.array(columns).T
        if self._finds_mass:
            self.constant_mass, self._finds_mass = found, False
        return found

    def find_mass(self, t: float, q: Array, v: Array, lam: Array, psi: Array) -> None:
        """Find a mass anew that was constant before values were forgotten."""
        if self._finds_mass:
            self.mass(t, q, v, lam, psi)

    # --- matrices -----------------------------------------------------------------------------

    @property
    def matrix_cost(self) -> int:
        """Calls for the next matrix, beside the one that the iteration makes anyway."""
        return self.derivatives.cost

    def blocks(
        self,
        t: float,
        q: Array,
        v: Array,
        vdot: Array,
        lam: Array,
        psi: Array,
        ca: float,
        cq: float,
        cv: float,
    ) -> Blocks:
        """Return the derivatives along ca, cq, cv in (vdot, q, v), and by the multipliers.

        From `jac` if the problem has it; otherwise by at most n + m + l calls beside the one at
        the point itself, which is remembered for the `balance` that follows.
        """
        before, state = self.F.calls, (t, q, v, vdot, lam, psi)
        if self.jacobian is not None and self.uses_jacobian:
            found = self.derivatives.from_jacobian(state, ca, cq, cv)
        else:
            found = self.derivatives.differenced(state, ca, cq, cv)
        self.F.matrix_calls += self.F.calls - before
        if ca and cq and cv:
            M = self.constant_mass
            if M is None:
                M = found.A if ca == 1.0 else found.A / ca
            self.latest = Blocks(M, found.G, found.K, found.R)
        return found


class Inertia:
    """M(t, q), which multiplies accelerations: exactly, because F is linear in them.

    A constant mass is a matrix; otherwise a product is one call, with accelerations so large that
    no force counts beside them. Where one that is hardly another is known, about M will do for the
    difference.

    Attributes
    ----------
    allowed : float
        How wrong a product may be, relative to it.
    asked : int
        How many products were calls.
    """

    def __init__(self, whole: OneResidual, t: float, q: Array, v: Array) -> None:
        self._whole, self._t, self._q, self._v = whole, t, q, v
        self._known: list[tuple[Array, Array]] = []
        self.allowed, self.asked, self._age = 0.0, 0, 0.0

    def __call__(self, a: Array) -> Array:
        """Return M a."""
        return self.times(a)

    def times(self, a: Array) -> Array:
        """Return the same, without a detour over Python."""
        whole = self._whole
        if whole.constant_mass is not None:
            return product(whole.constant_mass, a)
        near, moved, nearest, smallest = whole.near_mass, None, a, 0.0
        if near.is_known:
            for other, product_there in self._known:
                change = plus(a, -1.0, other)
                size = norm(change)
                if moved is None or size < smallest:
                    moved, nearest, smallest = change, product_there, size
        if moved is not None:
            change = near.times(moved, self._t)
            if near.doubt(moved, change, AGED * self._age) <= self.allowed * norm(nearest):
                return plus(nearest, 1.0, change)
        many = plus(a, LARGE - 1.0, a)
        rows = whole.rows(self._t, self._q, self._v, many, whole._zero_lam, whole._zero_psi)
        found = taken(rows, whole._motion, whole._signs)
        found = combined(1.0 / LARGE, found, 0.0, found)
        if moved is not None:
            near.learn(moved, plus(found, -1.0, nearest), self._t)
        self.know(a, found)
        self.asked += 1
        return found

    @property
    def is_constant(self) -> bool:
        """Whether M is a matrix that is known."""
        return self._whole.constant_mass is not None

    def know(self, a: Array, found: Array) -> None:
        """Know that M a is what was found, which tells how old about M is."""
        near = self._whole.near_mass
        if near.is_known and not self._known:
            self._age = near.missed(a, found)
        self._known.append((a, found))


def _same(state: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Tell whether two states (t, q, v, ...) are equal."""
    pairs = zip(state[1:], other[1:], strict=True)
    return bool(state[0] == other[0] and all(same(x, y) for x, y in pairs))
