"""The equations of a mechanism as one residual F(t, y, yd), asked for as little as possible.

What a call tells is in `residual_rows`, rates of constraints are in `residual_rates`, matrices are
found in `residual_blocks`. Linear parts (vdot, lam, psi) are exact. Compiled, see
`genalpha.imports`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genalpha.kernels import combined, largest_ratio, norm, plus, product, taken
from genalpha.model.differences import EPS
from genalpha.model.learnt import Learnt
from genalpha.model.residual_blocks import LARGE, Blocks, Derivatives, Matrix
from genalpha.model.residual_rates import Rates
from genalpha.model.residual_rows import Places

Array = np.ndarray

#: A mass that is taken as constant may be wrong by this, relative to M a.
MASS_ROUNDING = 1e-9
#: Of what about M misses of a product, so much is expected of small changes of it.
AGED = 0.5
#: Rounding may make an imbalance wrong by this, relative to it, or to 1.
NOISE = 64.0 * EPS
INFINITE = float("inf")


class OneResidual(Rates):
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
        super().__init__(F, places)
        self.jacobian = jacobian
        self.uses_rates, self.linear, self.ideal = uses_rates, linear, ideal
        #: Multipliers of what counts as force; reactions are what others add to it. Those that are
        #: not linear in them may not know zero: then they are others.
        self.free_lam: Array = np.zeros(self.m)
        self.derivatives = Derivatives(self)
        #: How often the problem may have changed.
        self.changes = 0
        #: Whether the problem's own Jacobian is used, if there is one.
        self.uses_jacobian = True
        #: The mass as long as it is taken as constant, see `verify_mass`.
        self.constant_mass: Array | None = None
        self._finds_mass = False
        #: Accelerations of the problem's own start, and matrices there, if they are known.
        self.start_vdot: Array = np.zeros(self.n)
        self.start_blocks: Blocks | None = None
        #: What finds accelerations, see `genalpha.numerics.from_residual`, once it was asked for.
        self.accelerations: Any = None
        #: About M, for small differences.
        self.near_mass = Learnt()

    def forget(self) -> None:
        """Forget values, because the problem may have changed; what Newton needs may be old."""
        self._known = None
        self.changes += 1
        if self.constant_mass is not None:  # it may be another one, and as constant
            self.constant_mass, self._finds_mass = None, True

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
        found = plus(taken(rows, self._motion, self._signs), -1.0, imbalance)
        if self.has_mass(change, found, imbalance):
            return True
        self.constant_mass = None
        return False

    def has_mass(self, a: Array, product_there: Array, others: Array) -> bool:
        """Tell whether M a, of a mass that is taken as constant, is a product up to rounding.

        `others` is what else there was in the imbalance that has told the product.
        """
        M, c = self.constant_mass, MASS_ROUNDING / NOISE
        assert M is not None  # there is nothing to compare with
        expected = product(M, a)
        wrong = plus(expected, -1.0, product_there)
        # most are right by what is left of the sums in |M| |a|, which is told at once
        ratio = largest_ratio(wrong, combined(c, expected, 0.0, expected))
        if ratio <= NOISE and norm(wrong) < INFINITE:  # the largest one does not know of NaN
            return True
        allowed = MASS_ROUNDING * (np.abs(M) @ np.abs(a)) + NOISE * (1.0 + np.abs(others))
        return bool((np.abs(wrong) <= allowed).all())

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
