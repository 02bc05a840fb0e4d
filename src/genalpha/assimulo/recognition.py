"""Recognise a residual at its start: which unknowns and rows are what, in any order.

Every row q' = v is c (yd_a - y_b), exactly. One call with all of yd moved by distinct amounts and
one with all of y find these rows, and with them positions and velocities. Accelerations and
multipliers are then moved one by one, which gives mass and reactions, and so are positions, which
gives the constraints' gradients: about 2 n + m + l + 8 calls of F, all at the start and beside it.
Where the problem has a `jac` that agrees with F there, it gives them: 10 to 12 calls for any n.

A row c lam_j is a constraint that is switched off: row and multiplier are then in no place.

What does not fit is left to `probing`, which expects the order of Assimulo's `Mechanical_System`
and says which row is not as expected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genalpha.assimulo.columns import CLOSE, Beside, Columns, DoubtError, Moves
from genalpha.assimulo.residual import Residual
from genalpha.model.differences import EPS, scale
from genalpha.model.residual_rows import Places

Array = np.ndarray


class Found(NamedTuple):
    """What is known of a residual at its start."""

    places: Places
    mass: Array | None  # (n, n)
    G: Array | None  # (m, n)
    linear: bool  # whether the equations of motion are linear in the multipliers
    uses_rates: bool  # whether they, or constraints, depend on q'
    ideal: Array | None  # (m,): factors d with reaction = -G^T (d * lam)
    reactions: Array | None  # (n, m + l): derivative of the imbalance by the multipliers
    K: Array | None = None  # (l, n), if `jac` has told


def _all_but(count: int, places: Array) -> Array:
    """Return the numbers below `count` that are not among the places."""
    left = np.ones(count, dtype=bool)
    left[places] = False
    return np.flatnonzero(left)


def recognised(F: Residual, t: float, y: Array, yd: Array) -> Found | None:
    """Return what a residual is, or None if it is not recognised beyond doubt."""
    try:
        return Recognition(F, t, y, yd).found()
    except DoubtError:
        return None


def states_of(F: Residual, t: float, y: Array, yd: Array) -> Array:
    """Return the unknowns whose rates appear, but which are neither positions nor velocities."""
    try:
        return Recognition(F, t, y, yd, states=True).states
    except DoubtError:
        return np.arange(0)


class Recognition:
    """Finds out what unknowns and rows are.

    Attributes
    ----------
    q, v, others : int arrays
        Unknowns: positions, their velocities, multipliers.
    rest : int array
        All rows but those of q' = v.
    """

    def __init__(self, F: Residual, t: float, y: Array, yd: Array, states: bool = False) -> None:
        self.y, self.yd = y, yd
        self.beside = Beside(F, t, y, yd)
        self.columns = Columns(self.beside)
        if states:
            self._find_states()
        else:
            self._find_kinematics()

    def _find_states(self) -> None:
        """Find unknowns with a rate beside positions and velocities, `states`."""
        everything = np.arange(self.y.size)
        self.pushed = self.beside.moves(self.yd, everything)
        self.push = self.beside.change(yd=self.pushed)
        with_rates = self.columns.with_rates()
        moves = self.beside.moves(self.y, with_rates)  # mu of "ggl2" rests
        self._choose(moves, self.beside.change(y=moves))
        self.states = np.intersect1d(with_rates, self.others)

    # --- q' = v -------------------------------------------------------------------------------

    def _find_kinematics(self) -> None:
        """Find positions and velocities from rows c (yd_a - y_b), of "ggl2" while mu rests."""
        everything = np.arange(self.y.size)
        self.pushed = self.beside.moves(self.yd, everything)
        self.push = self.beside.change(yd=self.pushed)
        resting = np.count_nonzero(self.push == 0.0) // 2  # of 2 m + l constraints, at least m
        # mu is at the end, or anywhere else
        for moved in (everything, everything[: -resting or None], None):
            moves = self.beside.moves(self.y, self.columns.with_rates() if moved is None else moved)
            self._choose(moves, self.beside.change(y=moves))
            # a rate that is left over belongs to a row q' = v that was not recognised
            pushes = dict.fromkeys(self.others.tolist(), 1.0)
            if self.q.size and not (pushes and self.beside.change(yd=pushes).any()):
                return
        raise DoubtError

    def _choose(self, moves: Moves, E: Array) -> None:
        """Choose rows q' = v among those that fit; E is their change with moves of y."""
        d, e = np.array(list(self.pushed.values())), np.zeros(self.y.size)
        e[list(moves)] = list(moves.values())
        found = self._fitting(d, e, E)
        chosen: list[tuple[int, int, int]] = []
        # a position is no velocity, unless it must be: x' = v is one of them, not I' = x
        positions = {a for _, a, _ in found}
        # earlier unknowns are positions where there is a choice
        taken: set[int] = set()
        unknowns: set[int] = set()
        for row, a, b in sorted(found, key=lambda x: (x[2] in positions, x[1] > x[2], x[0])):
            if row not in taken and a not in unknowns and b not in unknowns:
                chosen.append((row, a, b))
                taken.add(row)
                unknowns |= {a, b}
        chosen.sort(key=lambda x: x[1])
        self.rows, self.q, self.v = np.array(chosen, dtype=int).reshape(-1, 3).T.copy()
        self.others = _all_but(self.y.size, np.concatenate([self.q, self.v]))
        self.rest = _all_but(self.beside.base.size, self.rows)

    def _fitting(self, d: Array, e: Array, E: Array) -> list[tuple[int, int, int]]:
        """Return (row, a, b) of all rows that are c (yd_a - y_b), by their changes with d and e.

        They have -E / push = e_b / d_a, up to rounding. Of all such quotients, in order, only those
        near that of a row are looked at.
        """
        moved = np.flatnonzero(e)
        quotients = (e[moved] / d[:, None]).ravel()
        order, sizes = quotients.argsort(), scale(self.y)
        quotients, rows = quotients[order], np.flatnonzero(self.push)
        push, base = self.push[rows], np.abs(self.beside.base[rows])
        reach = 32.0 * EPS * (base / np.abs(push) + sizes.max() / np.abs(d).min())
        middle, found = -E[rows] / push, []
        first = quotients.searchsorted(middle - reach, "left").tolist()
        last = quotients.searchsorted(middle + reach, "right").tolist()
        for i, row in enumerate(rows.tolist()):
            if first[i] == last[i]:
                continue
            a, b = np.divmod(order[first[i] : last[i]], moved.size)
            b = moved[b]
            c = push[i] / d[a]
            noise = 16.0 * EPS * (base[i] + np.abs(c) * sizes[b])
            fits = (np.abs(E[row] + c * e[b]) <= noise) & (a != b)
            found += [(row, *pair) for pair in zip(a[fits].tolist(), b[fits].tolist(), strict=True)]
        return sorted(found)

    # --- the other rows -----------------------------------------------------------------------

    def found(self) -> Found:
        """Sort the other rows by what they depend on."""
        speeds = [self._speeds()]
        push, pushed = self._pushed(*speeds[0])
        mass = self.columns.linear("yd", push, pushed, self.rest)
        reactions, linear = self._multipliers()
        uses_rates = self._check_accelerations(mass)
        of_positions = ~mass.any(axis=1) & (speeds[0][1] == 0.0)
        slopes = self.columns.slopes(self.q, self.rest, of_positions)
        off, idle = self._idle(mass, reactions, slopes.any(axis=1) | (speeds[0][1] != 0.0))
        if off.size:
            self.rest, self.others = np.delete(self.rest, off), np.delete(self.others, idle)
            mass, reactions, slopes = (np.delete(x, off, axis=0) for x in (mass, reactions, slopes))
            reactions = np.delete(reactions, idle, axis=1)
            speeds = [(d, np.delete(change, off)) for d, change in speeds]
        is_motion = np.asarray(mass.any(axis=1) | reactions.any(axis=1))
        if is_motion.sum() > self.q.size:
            speeds.append(self._speeds())
            left = ~self._accelerations(mass, reactions, slopes, speeds)
            mass, reactions, slopes, is_motion = (
                x[left] for x in (mass, reactions, slopes, is_motion)
            )
            speeds = [(d, change[left]) for d, change in speeds]
            self.rest = self.rest[left]
        silent = self.others.size and not reactions[is_motion].any(axis=0).all()
        if is_motion.sum() != self.q.size or not mass.any() or silent:
            raise DoubtError
        on_v = (speeds[0][1] != 0.0) & ~is_motion
        position, velocity = np.flatnonzero(~is_motion & ~on_v), np.flatnonzero(on_v)
        G = slopes[position]
        if not G.any(axis=1).all() or self.stabilisers not in (0, position.size):
            raise DoubtError
        expected = mass[is_motion] @ np.array(list(push.values()))
        if not self._agrees(expected, pushed, self.rest[is_motion]):
            raise DoubtError  # the mass depends on velocities
        rates: tuple[Array, Array] | None = None
        if position.size + velocity.size != self.others.size:
            if len(speeds) == 1:
                speeds.append(self._speeds())
            velocity, *both = self._without_rates(G, velocity, speeds)
            rates = self.rest[both[0]], both[1]
        motion = _matched(mass, np.flatnonzero(is_motion))
        signs = np.where(mass[motion].diagonal() < 0.0, -1.0, 1.0)
        R = signs[:, None] * reactions[motion]
        lam, psi, ideal = self._paired(R, G, velocity.size)
        rows = self.rest[motion], signs, self.rest[position], self.rest[velocity]
        places = Places(self.y.size, self.q, self.v, lam, psi, *rows, *(rates or (None, None)))
        columns = R[:, [self.others.tolist().index(j) for j in (*lam, *psi)]]
        M = signs[:, None] * mass[motion]
        d, change = speeds[0]
        K = self.columns.along(self.v, self.q, places.velocity, d, change[velocity])
        return Found(places, M, G, linear, uses_rates, ideal, columns, K)

    def _multipliers(self) -> tuple[Array, bool]:
        """Return changes per unit of each multiplier, and whether they add up.

        Those that change q' = v are mu, no others. With mu = 0, as on every solution, "ggl2" is
        "ovstab2".
        """
        rows, moves = np.concatenate([self.rest, self.rows]), {}
        change = self.beside.base
        if self.others.size:
            moves = self.beside.apart(self.y, self.others, 1.5)
            change = self.beside.change(y=moves)
        table = self.columns.linear("y", moves, change, rows)
        linear = self._agrees(table @ np.array(list(moves.values())), change, rows)
        table, in_rates = table[: self.rest.size], table[self.rest.size :]
        is_mu = in_rates.any(axis=0)
        self.stabilisers = int(is_mu.sum())
        if not self.stabilisers:
            return table, linear
        if self.y[self.others[is_mu]].any() or table[:, is_mu].any():
            raise DoubtError
        self.others = self.others[~is_mu]
        return table[:, ~is_mu], linear

    @staticmethod
    def _accelerations(
        mass: Array, reactions: Array, slopes: Array, speeds: list[tuple[Array, Array]]
    ) -> Array:
        """Tell which rows are g'' or k': no multiplier, and accelerations as others have v or q."""
        is_motion = mass.any(axis=1) | reactions.any(axis=1)
        (d1, w1), (d2, w2) = speeds
        lower = ~is_motion
        own1, own2 = (np.where(w != 0.0, w, slopes @ d)[lower] for d, w in ((d1, w1), (d2, w2)))
        found = np.zeros(len(mass), dtype=bool)
        for row in np.flatnonzero(mass.any(axis=1) & ~reactions.any(axis=1)):
            a1, a2 = mass[row] @ d1, mass[row] @ d2
            found[row] = (np.abs(a1 * own2 - a2 * own1) <= 1e-4 * np.abs(a1 * own2)).any()
        return found

    def _idle(self, mass: Array, reactions: Array, moves: Array) -> tuple[Array, Array]:
        """Find constraints that are switched off: rows c lam_j that nothing else moves.

        Returns
        -------
        rows, columns
            Such rows, and the multipliers in them.
        """
        nothing = np.zeros(0, dtype=int)
        if (mass.any(axis=1) | reactions.any(axis=1)).sum() <= self.q.size:
            return nothing, nothing
        lone = ~mass.any(axis=1) & ~moves & (np.count_nonzero(reactions, axis=1) == 1)
        expected = reactions @ self.y[self.others]
        own = np.abs(self.beside.base[self.rest] - expected) <= 16.0 * EPS * np.abs(expected)
        rows = np.flatnonzero(lone & own)
        return rows, np.unique(reactions[rows].nonzero()[1])  # a rate may be off with its g

    def _check_accelerations(self, mass: Array) -> bool:
        """Check that F is affine in yd; return whether it knows q' beside q' = v."""
        moves = np.array(list(self.pushed.values()))
        by_qdot = self.beside.change(yd={j: self.pushed[j] for j in self.q.tolist()})[self.rest]
        if not self._agrees(mass @ moves[self.v] + by_qdot, self.push, self.rest):
            raise DoubtError
        return bool(by_qdot.any())

    def _speeds(self) -> tuple[Array, Array]:
        """Move all velocities, and q' with them; return the moves and the change."""
        y = self.beside.moves(self.y, self.v)
        yd = dict(zip(self.q.tolist(), y.values(), strict=True))
        change = self.beside.change(y=y, yd=yd)
        if np.abs(change[self.rows]).max() > 64.0 * EPS * scale(self.y[self.v]).max():
            raise DoubtError  # they are no rows q' = v
        return np.array(list(y.values())), change[self.rest]

    def _pushed(self, d: Array, sped: Array) -> tuple[Moves, Array]:
        """Move all accelerations far, with velocities moved by d; return moves and their change."""
        y, yd = (dict(zip(x.tolist(), d.tolist(), strict=True)) for x in (self.v, self.q))
        push, change = self.beside.apart(self.yd, self.v), np.zeros(self.beside.base.size)
        change[self.rest] = self.beside.change(y=y, yd=yd | push)[self.rest] - sped
        return push, change

    def _agrees(self, a: Array, b: Array, rows: Array) -> bool:
        """Tell whether changes of some rows agree, where b are those of all rows."""
        b, base = b[rows], np.abs(self.beside.base[rows])
        allowed = CLOSE * (np.abs(a) + np.abs(b)) + 64.0 * EPS * (1.0 + base)
        return bool((np.abs(a - b) <= allowed).all())

    def _without_rates(
        self, G: Array, velocity: Array, speeds: list[tuple[Array, Array]]
    ) -> tuple[Array, Array, Array]:
        """Tell constraints on velocities from rates of those on positions, and find the factors.

        Returns
        -------
        velocity, rates, factors
            Rows on velocities only; rows of rates, one for each row of G; their factors.
        """
        (d1, w1), (d2, w2) = speeds
        own1, own2, left = G @ d1, G @ d2, []
        rates, factors = np.full(len(G), -1), np.zeros(len(G))
        for row in velocity:
            ratio = w1[row] / np.where(own1 == 0.0, np.inf, own1)
            wrong = np.abs(w2[row] - ratio * own2) / (abs(w2[row]) + np.abs(ratio * own2) + 1e-300)
            free = np.flatnonzero((wrong <= 1e-4) & (ratio != 0.0) & (rates < 0))
            if free.size:
                rates[free[0]], factors[free[0]] = row, 1.0 / ratio[free[0]]
            else:
                left.append(row)
        if (rates < 0).any() or len(G) + len(left) != self.others.size:
            raise DoubtError
        return np.array(left, dtype=int), rates, factors

    def _paired(self, R: Array, G: Array, count: int) -> tuple[Array, Array, Array | None]:
        """Find the multiplier of each constraint, and its factor where the reaction is ideal."""
        m, left = len(G), list(range(self.others.size))
        plain = self.others[:m], self.others[m:], None
        if count or not m:
            return plain
        order, factors = [], []
        for row in G:
            factor = row @ R / (row @ row)
            wrong = np.abs(R - row[:, None] * factor).max(axis=0) / np.abs(R).max(axis=0)
            fits = [j for j in left if wrong[j] <= 1e-5]
            if not fits:
                return plain
            left.remove(fits[0])
            order.append(fits[0])
            factors.append(factor[fits[0]])
        return self.others[order], self.others[m:], np.array(factors)


def _matched(mass: Array, motion: Array) -> Array:
    """Order rows of motion such that each has its own acceleration on the diagonal, if possible."""
    left, ordered = list(motion), []
    for j in range(motion.size):
        sizes = np.abs(mass[left, j])
        if not sizes.max():
            return motion
        # the first of nearly equal ones: the problem's own order where there is a choice
        ordered.append(left.pop(int(np.flatnonzero(sizes >= 0.5 * sizes.max())[0])))
    return np.array(ordered)
