"""One extrapolation: the motion at the points of its grid, made consistent, and its error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from genalpha.driver.extrapolation.columns import Columns, rounding
from genalpha.driver.extrapolation.estimate import IRREGULAR, TRANSIENT, bound, factors, lifted
from genalpha.model import Mechanism
from genalpha.numerics.initial_values import accelerations, project_position, project_velocity
from genalpha.numerics.interpolation import Knot

Array = np.ndarray

#: A quantity is compared with its largest value over the run, or with this part of what is natural
#: for it (the way over the time, the forces) where it is small beside that.
SMALL = 1e-6


class Errors(NamedTuple):
    """Bounds of the error of position, velocity and multipliers; arrays like the motion's."""

    q: Array
    v: Array
    lam: Array
    psi: Array


def consistent(o: Mechanism, t: float, q: Array, v: Array, lam: Array, psi: Array) -> Knot:
    """Return the motion on the constraints, near q and v; `lam` and `psi` are guesses."""
    q = project_position(o, t, q)
    v = project_velocity(o, t, q, v)
    return Knot(t, q, v, *accelerations(o, t, q, v, lam, psi))


class Trial:
    """An extrapolation from `columns` runs with N, 2 N, 3 N, ... steps.

    Parameters
    ----------
    mechanism : Mechanism
    runs : Columns
    base : int
        The number of steps N.
    columns : int
        At least 3.
    accuracy : float
        That of Newton's iteration.
    """

    def __init__(
        self, mechanism: Mechanism, runs: Columns, base: int, columns: int, accuracy: float
    ) -> None:
        self.mechanism, self.base, self.columns = mechanism, base, columns
        self.times = runs.times(base)
        multiples = tuple(range(1, columns + 1))
        # from all columns, from the finest but for one, for two, for three if there are any left
        levels = [runs.extrapolated(base, multiples[k:]) for k in range(min(columns, 4))]
        self.used = [k * base for k in multiples]
        self._noise = accuracy + rounding(multiples, base)
        for q, v in levels[:2]:
            self._project_start(q, v)
        self._all, self._finer = levels[:2]
        self._factors = [factors([level[i] for level in levels]) for i in (0, 1)]

    def _project_start(self, q: Array, v: Array) -> None:
        """Put the first points onto the constraints, which transients of the start violate."""
        o = self.mechanism
        for i, t in enumerate(self.times[:TRANSIENT].tolist()):
            q[i] = project_position(o, t, q[i])
            v[i] = project_velocity(o, t, q[i], v[i])

    def compare(self, coarser: Trial) -> None:
        """Raise the estimates where this motion is farther from a coarser one than both allow.

        That happens where something jumps: errors then have no expansion, and columns may agree by
        accident. Points that are not in both grids take the ratio of the next ones.
        """
        step = self.base // coarser.base if self.base % coarser.base == 0 else self.base
        own, other = slice(None, None, step), slice(None, None, coarser.base * step // self.base)
        ratios = []
        for i, factor in enumerate(self._factors):
            allowed = bound(factor, self._all[i], self._finer[i], self._noise)[own]
            allowed = allowed + coarser.coordinate_errors[i][other]
            apart = np.abs(self._all[i][own] - coarser._all[i][other])
            ratios.append(apart.max(axis=1)[1:] / allowed.max(axis=1)[1:])
        times = np.arange(self.base + 1)[own][1:]
        ratio = np.interp(np.arange(self.base + 1), times, np.max(ratios, axis=0))
        self._factors = [factor * np.maximum(1.0, ratio) for factor in self._factors]

    def is_irregular(self, i: int) -> bool:
        """Tell whether columns do not shrink at a point, other than by transients of the start."""
        return i >= TRANSIENT and max(factor[i] for factor in self._factors) >= IRREGULAR

    @property
    def order(self) -> int:
        """Order of the extrapolation."""
        return self.columns + 1

    @cached_property
    def knots(self) -> list[Knot]:
        """The motion at the points of the coarsest grid."""
        o, knots = self.mechanism, []
        lam, psi = o.multiplier_guess()
        for t, q, v in zip(self.times.tolist(), *self._all, strict=True):
            knots.append(consistent(o, t, q, v, lam, psi))
            lam, psi = knots[-1].lam, knots[-1].psi
        return knots

    @cached_property
    def _multipliers(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """lam and psi of the extrapolation, and of that from one column less."""
        o, knots = self.mechanism, self.knots
        others = [
            accelerations(o, k.t, q, v, k.lam, k.psi)[1:]
            for k, q, v in zip(knots, *self._finer, strict=True)
        ]
        return (
            (np.array([k.lam for k in knots]), np.array([k.psi for k in knots])),
            (np.array([x[0] for x in others]), np.array([x[1] for x in others])),
        )

    @cached_property
    def coordinate_errors(self) -> tuple[Array, Array]:
        """Bounds of the errors of q and v."""
        three = zip(self._factors, self._all, self._finer, strict=True)
        q, v = (bound(*x, self._noise) for x in three)
        return q, v

    @cached_property
    def errors(self) -> Errors:
        """Bounds of all errors."""
        factor = np.maximum(*self._factors)
        pairs = zip(*self._multipliers, strict=True)
        v = self.coordinate_errors[1]
        lam, psi = (lifted(bound(factor, A, B, self._noise), v) for A, B in pairs)
        return Errors(*self.coordinate_errors, lam, psi)

    def part_of_wanted(self, wanted: Mapping[str, float]) -> Array:
        """Return the largest estimate at each point, relative to the wanted one, shape (s,).

        Multipliers, which cost most, are looked at only if position and velocity are good enough.
        """
        q, v = self._all
        span = abs(self.times[-1] - self.times[0])
        largest_q, largest_v = np.abs(q).max(), np.abs(v).max()
        scales = {
            "q": max(largest_q, SMALL * largest_v * span),
            "v": max(largest_v, SMALL * largest_q / span),
        }
        parts = _parts(dict(zip("qv", self.coordinate_errors, strict=True)), scales, wanted)
        o = self.mechanism
        if parts.max() > 1.0 or not (
            ("lam" in wanted and o.n_lam) or ("psi" in wanted and o.n_psi)
        ):
            return parts
        lam, psi = self._multipliers[0]
        natural = SMALL * _natural_multiplier(o)
        scales = {
            "lam": max(np.abs(lam).max(initial=0.0), natural),
            "psi": max(np.abs(psi).max(initial=0.0), natural),
        }
        errors = {"lam": self.errors.lam, "psi": self.errors.psi}
        return np.maximum(parts, _parts(errors, scales, wanted))


def _parts(
    errors: Mapping[str, Array], scales: Mapping[str, float], wanted: Mapping[str, float]
) -> Array:
    """Return errors relative to the wanted ones: the largest at each point."""
    parts = [np.zeros(len(next(iter(errors.values()))))]
    for name, error in errors.items():
        if name in wanted and error.size and scales[name]:
            parts.append(error.max(axis=1) / (scales[name] * wanted[name]))
    return np.max(parts, axis=0)


def _natural_multiplier(o: Mechanism) -> float:
    """Return the multiplier that would balance the forces at the start."""
    t, q, v = o.t0, o.q0, o.v0
    gradients = o.holonomic_jacobian(t, q), o.nonholonomic_jacobian(t, q, v)
    gradient = max(float(abs(J).max()) if J.shape[0] else 0.0 for J in gradients)
    return float(np.abs(o.force(t, q, v)).max()) / gradient if gradient else 0.0
