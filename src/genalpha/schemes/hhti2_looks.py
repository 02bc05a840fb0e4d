"""What one point tells of a residual, asked a little beside it in the motion.

See `hhti2_residual`. A call a time s ahead, with the accelerations that forces make there and
without multipliers, tells what is wrong with these accelerations, and how constraints change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from genalpha.kernels import add, combined, norm, plus, product, zeros
from genalpha.model.differences import EPS
from genalpha.model.residual_rates import FIRST, SECOND
from genalpha.model.residual_rows import Balance
from genalpha.schemes.hht import NO_VECTOR

Array = np.ndarray

#: With rows for rates: how far ahead, in steps times the accuracy wanted, so that what changes
#: until then does not count; and the least, in units of the motion's time.
AHEAD, LEAST = 0.1, EPS**0.5
#: Without: what changes until then is a mean of both sides, if that is no more than this share of a
#: step.
NEAR = 0.05
#: Nor is it such a mean if forces differ between both sides by more than this share of what
#: accelerations make there: one of them jumps in between.
JUMPS = 0.02
#: g'' that may be wrong by so many times what does not count is looked at again.
SEEN = 5.0


@dataclass
class Look:
    """What is wrong with forces (n,), reactions (n,), g (m,) and its rate (m,)."""

    forces: Array
    reactions: Array
    position: Array
    rate: Array


class Looks:
    """What is asked in one step.

    Parameters
    ----------
    whole : OneResidual
    t, h : float
        The end of the step, and its size.
    vdot, lam : (n,), (m,) array
        Predicted accelerations and multipliers, along which the motion is followed.
    jerk : (n,) array
        Their derivative.
    relative : float
        Accuracy of Newton's iteration.

    Attributes
    ----------
    curvature : (m,) array
        g'' with these accelerations.
    v, rate : (n,), (m,) array
        Where the rate of g was told by a call ahead, and what it was.
    """

    def __init__(
        self, whole: Any, t: float, h: float, vdot: Array, lam: Array, jerk: Array, relative: float
    ) -> None:
        self._whole, self._t, self._h, self._relative = whole, t, h, relative
        self.vdot, self.lam, self._jerk = vdot, lam, jerk
        self.curvature = self.v = self.rate = NO_VECTOR
        # velocity where g'' was seen, and how forces changed there, per time
        self._seen: Array | None = None
        self._slope = NO_VECTOR
        self._jumps = False

    def settles(self, v: Array, at: Balance, off: float, allowed: float, age: float) -> bool:
        """Tell whether the point itself tells enough, because it was looked beside one near by.

        Parameters
        ----------
        v : (n,) array
        at : Balance
            Of the point itself, with forces and reactions.
        off : float
            The accelerations of which that is the lack.
        allowed : float
            Accelerations that do not count: forces and reactions that lack less are not told apart.
        age : float
            How far G is off, by which rates follow velocities, relative to it; what it turns in a
            step counts as well, because positions move by about a step's time times velocities.
        """
        if not self.doubt(v) <= SEEN * allowed:
            return False
        if at.rates is None:
            off += age * norm(plus(v, -1.0, self.v)) / abs(self._h)
        return off <= allowed

    def look(self, q: Array, v: Array, f: Array, f0: Array, at: Balance, allowed: float) -> Look:
        """Return what is wrong at a point.

        Parameters
        ----------
        q, v : (n,) array
        f, f0 : (n,) array
            Accelerations that the forces make there, and a step before.
        at : Balance
            Of the point itself, with forces and reactions.
        allowed : float
            Accelerations that do not count.
        """
        change = combined(1.0 / self._h, f, -1.0 / self._h, f0)
        seen = self.doubt(v) <= SEEN * allowed
        if at.rates is not None:
            return self._with_rows(q, v, f, change, at)
        return self._without_rows(q, v, f, change, at, seen)

    def doubt(self, v: Array) -> float:
        """Return what g'' may be wrong by at another velocity, as an acceleration.

        Beside accelerations, it is of second degree in v.
        """
        if self._seen is None:
            return math.inf
        moved, whole = norm(plus(v, -1.0, self._seen)), norm(v)
        if not moved:
            return 0.0
        return 2.0 * moved / whole * norm(self.vdot) if whole else math.inf

    def look_again(self, q: Array, v: Array, vdot: Array, at: Balance) -> None:
        """Look at g'' anew, for other accelerations."""
        self.vdot, self._seen = vdot, None
        still = zeros(vdot.shape[0])
        if at.rates is not None:
            self._with_rows(q, v, vdot, still, at)
        else:
            self._without_rows(q, v, vdot, still, at, False)

    def _with_rows(self, q: Array, v: Array, f: Array, change: Array, at: Balance) -> Look:
        T = self._whole.motion_time(q, v, self.vdot)
        s = min(FIRST * T, max(AHEAD * self._relative * abs(self._h), LEAST * T))
        near = self._beside(q, v, f, change, s)
        self.curvature = combined(1.0 / s, near.rates, -1.0 / s, at.rates)
        self._seen = v
        reactions = plus(at.motion, -1.0, near.motion)
        return Look(near.motion, reactions, at.position, at.rates)

    def _without_rows(
        self, q: Array, v: Array, f: Array, change: Array, at: Balance, seen: bool
    ) -> Look:
        s = SECOND * self._whole.motion_time(q, v, self.vdot)
        near, here = self._beside(q, v, f, change, s), at.position
        if seen:
            rate = combined(1.0 / s, near.position, -1.0 / s, here, -0.5 * s, self.curvature)
            forces = plus(near.motion, -s, self._slope)
        else:
            behind = self._beside(q, v, f, change, -s)
            c = 1.0 / (s * s)
            rate = combined(0.5 / s, near.position, -0.5 / s, behind.position)
            self.curvature = combined(c, near.position, -2.0 * c, here, c, behind.position)
            self._slope = combined(0.5 / s, near.motion, -0.5 / s, behind.motion)
            self._seen = v
            forces = combined(0.5, near.motion, 0.5, behind.motion)
            apart, M = plus(near.motion, -1.0, behind.motion), self._whole.latest.A
            usual = norm(product(M, f)) + norm(product(M, self.vdot))
            self._jumps = norm(apart) > JUMPS * usual
        if self._jumps or s > NEAR * abs(self._h):
            free = self._whole.free_lam
            forces = self._whole.balance(self._t, q, v, f, free, NO_VECTOR).motion
        self.v, self.rate = v, rate
        return Look(forces, plus(at.motion, -1.0, forces), here, rate)

    def _beside(self, q: Array, v: Array, f: Array, change: Array, s: float) -> Balance:
        """Return the balance a time s later in the motion, with forces alone."""
        whole = self._whole
        moved = combined(1.0, q, s, v, 0.5 * s * s, self.vdot)
        add(moved, 0, s**3 / 6.0, self._jerk)
        faster, forces = plus(v, s, self.vdot), plus(f, s, change)
        rows = whole.rows(self._t + s, moved, faster, forces, whole.free_lam, NO_VECTOR)
        return whole.split(rows)
