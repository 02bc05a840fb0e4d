"""The equations of a mechanism as one residual F(t, y, yd), asked for as little as possible.

    y = [q, v, lam, psi] and yd = [v, vdot, 0, 0], in any order; the rows of F hold

    q' - v                      (not evaluated: schemes satisfy it themselves)
    M vdot - f - reaction       the imbalance, up to signs
    g, k                        the constraints
    g_t + G v                   the rates, in overdetermined formulations

One call gives imbalance and constraints together. Linear parts (vdot, lam, psi) are exact, and
what Newton's iteration matrix needs is differenced along the scheme's own directions, one call per
unknown, or one per group of unknowns that no row has in common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from genalpha.model.differences import EPS, Groups, scale

Array = np.ndarray
Index = Any  # slice or (k,) int array
Matrix = Any

#: Relative step of second differences along the motion.
SECOND = EPS**0.25
FOURTH = EPS ** (1 / 6)
#: Relative step of first differences along the motion.
FIRST = EPS ** (1 / 3)
#: Factor c in dF/dyd = (jac(c) - jac(0)) / c: so large that dF/dy costs dF/dyd no digits.
LARGE = 2.0**40
#: Columns are differenced in groups if these are no more than this part of the columns.
WORTH_GROUPING = 0.7


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


class Balance(NamedTuple):
    """The rows of one call: imbalance (n,), g (m,), k (l,), and rates (m,) where there are some."""

    motion: Array
    position: Array
    velocity: Array
    rates: Array | None


@dataclass
class Blocks:
    """Derivatives along weights ca, cq, cv of (vdot, q, v), see `OneResidual.blocks`.

    Attributes
    ----------
    A : (n, n)
        ca M + cq Kt + cv Ct.
    G : (m, n)
        dg/dq.
    K : (l, n)
        dk/dv + cq / cv dk/dq.
    R : (n, m + l)
        Derivative of the imbalance by (lam, psi).
    """

    A: Matrix
    G: Matrix
    K: Matrix
    R: Matrix


def index(places: Array) -> Index:
    """Return places as a slice if they follow each other: indexing then costs a third."""
    places = np.asarray(places, dtype=int)
    if places.size and np.array_equal(places, np.arange(places[0], places[0] + places.size)):
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


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
        self._q, self._v, self._lam, self._psi = map(index, places[1:5])
        self._motion, self._position = index(places.motion), index(places.position)
        self._velocity = index(places.velocity)
        self._signs = None if (places.signs == 1.0).all() else places.signs
        self._rates = None if places.rates is None else index(places.rates)
        self._groups: Groups | None = None
        self._pattern: Array | None = None
        self._last_setup = np.nan
        #: How often the problem may have changed.
        self.changes = 0
        #: Whether the problem's own Jacobian is used, if there is one.
        self.uses_jacobian = True
        self._known: tuple[tuple[Any, ...], Array] | None = None
        #: The mass as long as it is taken as constant, see `verify_mass`.
        self.constant_mass: Array | None = None
        self._finds_mass = False
        #: Accelerations of the problem's own start, and matrices there, if they are known.
        self.start_vdot: Array = np.zeros(self.n)
        self.start_blocks: Blocks | None = None
        #: About M, G, K and the reactions' derivatives, of the last iteration matrix.
        self.latest: Blocks | None = None
        #: About M, for small differences.
        self.near_mass: Array | None = None
        # velocity and rates of the constraints where imbalance and constraints were last asked for
        self._rates_at: tuple[Array, Array] | None = None

    def forget(self) -> None:
        """Forget values, because the problem may have changed; what Newton needs may be old."""
        self._known = None
        self.changes += 1
        if self.constant_mass is not None:  # it may be another one, and as constant
            self.constant_mass, self._finds_mass = None, True

    def state(self, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> tuple[Array, Array]:
        """Return y and yd."""
        y, yd = np.zeros(self.places.size), np.zeros(self.places.size)
        y[self._q], y[self._v], yd[self._q], yd[self._v] = q, v, v, vdot
        if self.m:
            y[self._lam] = lam
        if self.l:
            y[self._psi] = psi
        return y, yd

    def rows(self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Array:
        """Return F: one call."""
        return self.F.fresh(t, *self.state(q, v, vdot, lam, psi))

    def balance(self, t: float, q: Array, v: Array, vdot: Array, lam: Array, psi: Array) -> Balance:
        """Return imbalance and constraints: one call, or none if `blocks` was just here."""
        known, self._known = self._known, None
        if known is not None and known[0] == self._key(t, q, v, vdot, lam, psi):
            found = self.split(known[1])
        else:
            found = self.split(self.rows(t, q, v, vdot, lam, psi))
        self._rates_at = None if found.rates is None else (v, found.rates)
        return found

    @staticmethod
    def _key(t: float, *vectors: Array) -> tuple[Any, ...]:
        return (t, *(x.tobytes() for x in vectors))

    def split(self, rows: Array) -> Balance:
        """Return the parts of F."""
        motion, rates = rows[self._motion], None
        if self._signs is not None:
            motion = (motion.T * self._signs).T
        if self._rates is not None:
            rates = (rows[self._rates].T * self.places.rate_factors).T
        return Balance(motion, rows[self._position], rows[self._velocity], rates)

    def along(self, t: float, q: Array, v: Array, vdot: Array, s: float) -> Array:
        """Return F a time s later on the parabola through q with velocity v: constraints only."""
        zero = np.zeros(self.m), np.zeros(self.l)
        moved = q + s * v + 0.5 * s * s * vdot
        return self.rows(t + s, moved, v + s * vdot, vdot, *zero)

    @staticmethod
    def motion_time(q: Array, v: Array, vdot: Array) -> float:
        """Return a time in which no coordinate moves by more than its scale, at most 1."""
        sizes = scale(q)
        fastest = float(np.max(np.abs(v) / sizes, initial=0.0))
        bent = float(np.max(np.abs(vdot) / sizes, initial=0.0)) ** 0.5
        return 1.0 / max(1.0, fastest, bent)

    def rate(self, t: float, q: Array, v: Array, vdot: Array, at: Balance | None = None) -> Array:
        """Return g_t + G v: the residual's own rows, or a difference along the motion.

        With vdot near the true acceleration, the parabola follows the constraints, and a central
        difference is right to rounding of the constraints over the step.
        """
        if not self.m:
            return np.zeros(0)
        if self._rates is not None:
            if at is not None and at.rates is not None:
                return at.rates
            rates = self.split(self.along(t, q, v, vdot, 0.0)).rates
            assert rates is not None
            return rates
        s = FIRST * self.motion_time(q, v, vdot)
        ahead, behind = (self.along(t, q, v, vdot, x)[self._position] for x in (s, -s))
        return np.asarray((ahead - behind) / (2.0 * s))

    def rate_there(self, v: Array) -> Array | None:
        """Return g_t + G v by the rows of the last balance, which was near; None without rows."""
        if self._rates_at is None or self.latest is None:
            return None
        there, rates = self._rates_at
        return np.asarray(rates + self.latest.G @ (v - there))

    @property
    def matrix_cost(self) -> int:
        """Calls for the next matrix, beside the one that the iteration makes anyway."""
        if self.jacobian is not None and self.uses_jacobian:
            return 1
        columns = self.n if self._groups is None else len(self._groups.columns)
        return columns + (0 if self.ideal is not None else self.m + self.l)

    def rate_beside(self, t: float, q: Array, v: Array, vdot: Array, at: Balance) -> Array:
        """Return g_t + G v where the balance is known: its own rows, or by one call ahead.

        `vdot` is the acceleration up to O(h^2), so that the parabola follows the constraints.
        """
        if at.rates is not None:
            return at.rates
        s = FIRST * self.motion_time(q, v, vdot)
        return np.asarray((self.along(t, q, v, vdot, s)[self._position] - at.position) / s)

    def rate_ahead(self, t: float, q: Array, v: Array, vdot: Array, jerk: Array, s: float) -> Array:
        """Return g_t + G v at a position on the constraints, by one call a time s ahead.

        The motion is followed to third order: g then changes by s (g_t + G v) only.
        """
        if self._rates is not None:
            return self.rate(t, q, v, vdot)
        zero = np.zeros(self.m), np.zeros(self.l)
        moved = q + s * (v + 0.5 * s * (vdot + s / 3.0 * jerk))
        return np.asarray(self.rows(t + s, moved, v, vdot, *zero)[self._position] / s)

    def acceleration_level(
        self, t: float, q: Array, v: Array, vdot: Array, at: Balance, accurate: bool
    ) -> tuple[Array, Array]:
        """Return g'' and k' for an acceleration; `at` is the balance at the same q and v.

        Two calls beside it, right to about 8 digits, or four, to about 10.
        """
        own = at.rates is not None
        step = FOURTH if accurate and not own else SECOND
        s = step * self.motion_time(q, v, vdot)
        near = [self.split(self.along(t, q, v, vdot, x)) for x in (s, -s)]
        k = (near[0].velocity - near[1].velocity) / (2.0 * s)
        if own:
            return (np.asarray(near[0].rates) - np.asarray(near[1].rates)) / (2.0 * s), k
        twice = 2.0 * at.position
        g = (near[0].position - twice + near[1].position) / s**2
        if not accurate:
            return g, k
        far = [self.split(self.along(t, q, v, vdot, 2.0 * x)) for x in (s, -s)]
        wide_k = (far[0].velocity - far[1].velocity) / (4.0 * s)
        wide_g = (far[0].position - twice + far[1].position) / (4.0 * s**2)
        return g + (g - wide_g) / 3.0, k + (k - wide_k) / 3.0

    # --- mass ---------------------------------------------------------------------------------

    def inertia(self, t: float, q: Array, v: Array) -> Inertia:
        """Return what multiplies with M(t, q)."""
        return Inertia(self, t, q, v)

    def verify_mass(
        self, t: float, q: Array, v: Array, a: Array, lam: Array, psi: Array, base: Array
    ) -> bool:
        """Tell whether a mass that is taken as constant gives the M a of one call.

        `base` is the imbalance at the same point with vdot = 0. If not, it is no longer constant.
        """
        if self.constant_mass is None:
            return True
        expected = self.constant_mass @ a
        found = self.split(self.rows(t, q, v, a, lam, psi)).motion - base
        allowed = 1e-9 * np.abs(self.constant_mass) @ np.abs(a) + 64.0 * EPS * (1.0 + np.abs(base))
        if (np.abs(found - expected) <= allowed).all():
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

    # --- matrices -----------------------------------------------------------------------------

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
        before = self.F.calls
        if self.jacobian is not None and self.uses_jacobian:
            found = self._from_jacobian(t, q, v, vdot, lam, psi, ca, cq, cv)
        else:
            found = self._differenced(t, q, v, vdot, lam, psi, ca, cq, cv)
        self.F.matrix_calls += self.F.calls - before
        if ca and cq and cv:
            M = found.A / ca if self.constant_mass is None else self.constant_mass
            self.latest = Blocks(M, found.G, found.K, found.R)
        return found

    def _differenced(
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
        key = (t, q, v, vdot, lam, psi)
        base = self.rows(*key)
        self._known = self._key(*key), base
        self.F.matrix_calls -= 1  # the iteration that follows has it
        sizes = self._sizes(q, v, vdot, cq, cv)
        whole = bool(ca and cq and cv)  # other sweeps do not see all that depends on each other
        columns = self._columns(t) if whole else [[j] for j in range(self.n)]

        def change(members: Any) -> Array:
            d = np.zeros(self.n)
            d[members] = sizes[members]
            return self.rows(t, q + cq * d, v + cv * d, vdot + ca * d, lam, psi) - base

        changes = np.array([change(members) for members in columns])
        if len(columns) < self.n and self._groups is not None:
            D = self._groups.dense(changes, sizes)
        else:
            D = changes.T / sizes
        if whole and len(columns) == self.n:
            self._learn(D)
        rows = self.split(D)
        G = rows.position / (cq or 1.0)
        K = rows.velocity / (cv or 1.0)
        return Blocks(rows.motion, G, K, self._reactions(key, base, G, K))

    @staticmethod
    def _sizes(q: Array, v: Array, vdot: Array, cq: float, cv: float) -> Array:
        """Return how far unknowns are moved: q and v within the range where F is nearly linear."""
        if not cq and not cv:  # linear
            return scale(vdot)
        tiny = 1e-200  # stands for 0 without overflow
        sizes = np.minimum(scale(q) / max(abs(cq), tiny), scale(v) / max(abs(cv), tiny))
        return np.asarray(np.sqrt(EPS) * sizes)

    def _columns(self, t: float) -> list[Any]:
        """Return the columns to be differenced together; one by one again if groups failed."""
        again, self._last_setup = t == self._last_setup, t
        if again:
            self._groups = None
        if self._groups is not None:
            return list(self._groups.columns)
        return [[j] for j in range(self.n)]

    def _learn(self, D: Array) -> None:
        """Group columns by where derivatives have been seen so far."""
        seen = D != 0.0
        self._pattern = seen if self._pattern is None else self._pattern | seen
        groups = Groups(sparse.csc_array(self._pattern))
        self._groups = groups if len(groups.columns) <= WORTH_GROUPING * self.n else None

    def _reactions(self, key: tuple[Any, ...], base: Array, G: Array, K: Array) -> Array:
        """Return the imbalance's derivative by the multipliers."""
        if self.ideal is not None:
            return np.vstack([G, K]).T * self.ideal
        t, q, v, vdot, lam, psi = key
        x = np.concatenate([lam, psi])
        step = np.maximum(1.0, np.abs(x)) * (1.0 if self.linear else np.sqrt(EPS))
        columns = []
        for j in range(x.size):
            moved = x.copy()
            moved[j] += step[j]
            rows = self.rows(t, q, v, vdot, moved[: self.m], moved[self.m :])
            columns.append(self.split(rows - base).motion / step[j])
        return np.array(columns).reshape(x.size, self.n).T

    def _from_jacobian(
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
        """Combine columns of dF/dy + c dF/dyd with the c for which they are ours."""
        assert self.jacobian is not None
        y, yd = self.state(q, v, vdot, lam, psi)
        one = bool(ca and cv) and not self.uses_rates
        c = ca / cv if one else LARGE
        J = dense(self.jacobian(c, t, y, yd))
        D = cv * J[:, self.places.v] + cq * J[:, self.places.q]
        if not one:
            J0 = dense(self.jacobian(0.0, t, y, yd))
            by_rates = (J - J0) / c
            D = cv * J0[:, self.places.v] + cq * J0[:, self.places.q]
            D = D + ca * by_rates[:, self.places.v] + cv * by_rates[:, self.places.q]
        rows = self.split(D)
        multipliers = np.concatenate([self.places.lam, self.places.psi])
        R = self.split(J[:, multipliers]).motion
        return Blocks(rows.motion, rows.position / (cq or 1.0), rows.velocity / (cv or 1.0), R)


class Inertia:
    """M(t, q), which multiplies accelerations: exactly, because F is linear in them.

    A constant mass is a matrix; otherwise each product is one call, and the first one two. Where
    one that is hardly another is known, about M will do for the difference.

    Attributes
    ----------
    allowed : float
        How much another one that is, relative to its size.
    """

    def __init__(self, whole: OneResidual, t: float, q: Array, v: Array) -> None:
        self._whole, self._at = whole, (t, q, v)
        self._base: Array | None = None
        self._free = np.zeros(whole.m), np.zeros(whole.l)
        self._known: list[tuple[Array, Array]] = []
        self.allowed = 0.0

    def __call__(self, a: Array) -> Array:
        """Return M a."""
        whole = self._whole
        if whole.constant_mass is not None:
            return np.asarray(whole.constant_mass @ a)
        near = whole.near_mass
        for other, product in self._known if near is not None else ():
            if np.linalg.norm(a - other) <= self.allowed * np.linalg.norm(a):
                return np.asarray(product + near @ (a - other))
        if self._base is None:
            self._base = self._motion(np.zeros(whole.n))
        found = self._motion(a) - self._base
        self._known.append((a, found))
        return found

    def _motion(self, a: Array) -> Array:
        return self._whole.split(self._whole.rows(*self._at, a, *self._free)).motion


def dense(matrix: Matrix) -> Array:
    """Return a matrix as an array."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)
