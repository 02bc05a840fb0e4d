"""Recognise the rows of a residual as those of a mechanism, by probing near the start.

Notation: n coordinates; y = [q, v, multipliers, mu]; the rows are expected as

    0 .. n-1      +-(yd_i - y_{n+i}), with "ggl2" also a term in mu
    n .. 2n-1     the equations of motion, affine in the accelerations yd_n .. yd_{2n-1}
    2n ..         constraints on positions, on velocities, or on accelerations
"""

from __future__ import annotations

import numpy as np

from genalpha.assimulo.layout import Layout
from genalpha.assimulo.recognition import Found
from genalpha.assimulo.residual import Residual
from genalpha.errors import UnsupportedProblemError
from genalpha.model.differences import scale
from genalpha.model.residual_rows import Places

Array = np.ndarray

#: How far the probes are from the start, relative to it.
DISTANCE = 1e-3
#: What changes less than this, relative to the largest change of its row, does not change.
NOTHING = 1e-9


class Probe:
    """A random point near the start, and how each row changes with each variable there."""

    def __init__(self, F: Residual, t: float, y: Array, yd: Array, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.F, self.t = F, t
        self.y, self.yd = (
            x + DISTANCE * scale(x) * random.uniform(0.5, 1.0, x.size) for x in (y, yd)
        )
        self.by_y = self._slopes(lambda x: F(self.t, x, self.yd), self.y)
        self.by_yd = self._slopes(lambda x: F(self.t, self.y, x), self.yd)
        if not np.isfinite(self.by_y).all() or not np.isfinite(self.by_yd).all():
            bad = np.flatnonzero(~np.isfinite(self.by_y + self.by_yd).all(axis=1))[0]
            raise UnsupportedProblemError(f"row {bad} of res is not finite near the start")

    @staticmethod
    def _slopes(function: object, x: Array) -> Array:
        steps = DISTANCE * scale(x)
        columns = [
            (function(x + d) - function(x - d)) / (2.0 * s)  # type: ignore[operator]
            for s, d in zip(steps, np.diag(steps), strict=True)
        ]
        return np.array(columns).T

    def depends(self) -> tuple[Array, Array]:
        """Return, for each row, on which y and on which yd it depends."""
        a, b = np.abs(self.by_y), np.abs(self.by_yd)
        largest = np.maximum(a.max(axis=1), b.max(axis=1))[:, None]
        return a > NOTHING * largest, b > NOTHING * largest


class Recogniser:
    """Finds out what the rows of a residual are; see the module's text for what is expected."""

    def __init__(self, F: Residual, t: float, y: Array, yd: Array) -> None:
        self.F, self.t, self.start = F, t, (y, yd)
        self.size, self.rows = y.size, F(t, y, yd).size
        self.probes = [Probe(F, t, y, yd, seed) for seed in (1, 2)]
        found = [probe.depends() for probe in self.probes]
        self.on_y = np.any([a for a, _ in found], axis=0)
        self.on_yd = np.any([b for _, b in found], axis=0)

    def recognise(self, n_q: int | None, n_lam: int | None, n_psi: int | None) -> Found:
        """Return what the rows are, or raise an error that names the row that does not fit."""
        n = self._coordinates(n_q)
        mu = self._stabilisers(n)
        self._check_kinematics(n, mu)
        signs, linear = self._motion(n, mu)
        position, velocity = self._constraints(n, mu)
        layout = Layout.in_order(n, position.size, velocity.size, mu)
        for name, given, seen in zip(
            ("n_lam", "n_psi"), (n_lam, n_psi), (position.size, velocity.size), strict=True
        ):
            if given is not None and given != seen:
                raise UnsupportedProblemError(
                    f"{name} is given as {given}, but {seen} such constraints were found: rows "
                    f"{position.tolist()} on positions, {velocity.tolist()} on velocities"
                )
        places = Places(*layout, np.arange(n, 2 * n), signs, position, velocity)
        uses_rates = bool(self.on_yd[n:, :n].any())
        return Found(places, None, None, linear, uses_rates, None, None)

    def _wrong(self, row: int, expected: str) -> UnsupportedProblemError:
        if row >= self.rows:
            return UnsupportedProblemError(
                f"res has {self.rows} rows; expected {expected} in row {row}"
            )
        variables = [f"y[{j}]" for j in np.flatnonzero(self.on_y[row])]
        variables += [f"yd[{j}]" for j in np.flatnonzero(self.on_yd[row])]
        return UnsupportedProblemError(
            f"row {row} of res: expected {expected}; found a function of "
            f"{', '.join(variables) or 'none of the unknowns'}"
        )

    def _matching(self, n: int) -> int:
        """Return how many rows from the first on are +-(yd_i - y_{n+i}), other terms aside."""
        for i in range(min(n, self.rows)):
            for probe in self.probes:
                sign, others = probe.by_yd[i, i], np.delete(self.on_yd[i], i)
                exact = abs(abs(sign) - 1.0) + abs(probe.by_y[i, n + i] + sign) <= 1e-9
                if others.any() or not exact:
                    return i
        return min(n, self.rows)

    def _coordinates(self, n_q: int | None) -> int:
        """Find n: the first rows tell where the velocities are."""
        candidates = range(1, self.size // 2 + 1) if n_q is None else [n_q]
        matching = {n: self._matching(n) for n in candidates if 0 < 2 * n <= self.size}
        for n, count in matching.items():
            if count == n:
                return n
        if not matching:
            raise UnsupportedProblemError(
                f"{self.size} unknowns are too few for n_q = {n_q} positions and velocities"
            )
        n = max(matching, key=lambda n: matching[n])
        i = matching[n]
        place = f"y[{n + i}]" if n_q is not None or i else "y[n]"
        raise self._wrong(i, f"+-(yd[{i}] - {place})")

    def _stabilisers(self, n: int) -> int:
        """Count mu: the last unknowns, if the first rows depend on them."""
        columns = np.flatnonzero(self.on_y[:n, 2 * n :].any(axis=0)) + 2 * n
        if columns.size and columns.tolist() != list(range(self.size - columns.size, self.size)):
            row = int(np.flatnonzero(self.on_y[:n, columns[0]])[0])
            raise self._wrong(row, f"+-(yd[{row}] - y[{n + row}]) and terms in the last unknowns")
        return int(columns.size)

    def _check_kinematics(self, n: int, mu: int) -> None:
        """Without mu nothing but +-(yd_i - y_{n+i}) may be left."""
        for probe in self.probes:
            y = probe.y.copy()
            y[self.size - mu :] = 0.0
            left = np.abs(self.F(probe.t, y, probe.yd)[:n])
            wanted = np.abs(probe.yd[:n] - y[n : 2 * n])
            off = np.abs(left - wanted) > 1e-9 * (1.0 + np.abs(probe.yd[:n]) + np.abs(y[:n]))
            if off.any():
                row = int(np.flatnonzero(off)[0])
                raise self._wrong(row, f"+-(yd[{row}] - y[{n + row}])")

    def _motion(self, n: int, mu: int) -> tuple[Array, bool]:
        """Check the equations of motion; return their signs, and whether reactions are linear."""
        rows, accelerations = slice(n, 2 * n), slice(n, 2 * n)
        if self.rows < 2 * n:
            raise self._wrong(self.rows, "an equation of motion")
        multipliers = slice(2 * n, self.size - mu)
        for row in range(n, 2 * n):
            expected = f"an equation of motion, affine in yd[{n}:{2 * n}]"
            if not self.on_yd[row, accelerations].any() or self.on_yd[row, 2 * n :].any():
                raise self._wrong(row, expected)
            if self._bend(row, n, accelerations, in_yd=True):
                raise self._wrong(row, expected + " with a mass that depends on t and q only")
        silent = ~self.on_y[rows, multipliers].any(axis=0)
        if silent.any():
            column = 2 * n + int(np.flatnonzero(silent)[0])
            raise UnsupportedProblemError(
                f"y[{column}] should be a multiplier, but no equation of motion (rows {n} to "
                f"{2 * n - 1}) depends on it"
            )
        diagonal = self.probes[0].by_yd[rows, accelerations].diagonal()
        linear = not any(self._bend(row, n, multipliers) for row in range(n, 2 * n))
        return np.where(diagonal < 0.0, -1.0, 1.0), linear

    def _bend(self, row: int, n: int, part: slice, in_yd: bool = False) -> bool:
        """Tell whether the change with `part` depends on `part` itself.

        For accelerations (`in_yd`), also whether it depends on v or on the multipliers.
        """
        random, probe = np.random.default_rng(3), self.probes[0]

        def small(x: Array, part: slice) -> Array:
            moves = 10.0 * DISTANCE * scale(x) * random.uniform(0.5, 1.0, x.size)
            return np.where(np.isin(np.arange(x.size), np.arange(x.size)[part]), moves, 0.0)

        moving = probe.yd if in_yd else probe.y
        direction, shift = small(moving, part), small(moving, part)
        rest = small(probe.y, slice(n, None)) if in_yd else np.zeros(self.size)

        def change(moved: bool) -> float:
            y, yd = probe.y + moved * rest, probe.yd.copy()
            x = yd if in_yd else y
            x += moved * shift
            low = self.F(probe.t, y, yd)[row]
            x += direction
            return float(self.F(probe.t, y, yd)[row] - low)

        here, there = change(False), change(True)
        level = abs(self.F(probe.t, probe.y, probe.yd)[row]) + abs(here) + abs(there)
        return abs(here - there) > 1e-8 * level

    def _constraints(self, n: int, mu: int) -> tuple[Array, Array]:
        """Sort the constraint rows; return those on positions, and nonholonomic ones."""
        rows = np.arange(2 * n, self.rows)
        on_v = self.on_y[:, n : 2 * n] | self.on_yd[:, :n]
        on_a = self.on_yd[:, n : 2 * n].any(axis=1) | self.on_y[:, 2 * n :].any(axis=1)
        acceleration = rows[on_a[rows]]
        velocity = rows[~on_a[rows] & on_v[rows].any(axis=1)]
        position = rows[~on_a[rows] & ~on_v[rows].any(axis=1)]
        for row in rows:
            if self.on_yd[row, 2 * n :].any() or not (self.on_y[row] | self.on_yd[row]).any():
                raise self._wrong(int(row), "a constraint on positions or velocities")
        multipliers = self.size - 2 * n - mu
        if acceleration.size and self.rows == self.size:
            raise self._accelerations_only(acceleration, position.size + velocity.size)
        if mu and mu != position.size:
            raise UnsupportedProblemError(
                f"rows 0 to {n - 1} of res depend on the last {mu} unknowns, as in 'ggl2', but "
                f"{position.size} constraints on positions were found: {position.tolist()}"
            )
        free = velocity
        if velocity.size != multipliers - position.size:
            free = self._without_rates(n, position, velocity)
        if position.size + free.size != multipliers:
            raise UnsupportedProblemError(
                f"{multipliers} multipliers y[{2 * n}:{self.size - mu}] need as many constraints; "
                f"found {position.size} on positions (rows {position.tolist()}) and {free.size} "
                f"on velocities that are not their rates (rows {free.tolist()})"
            )
        return position, free

    def _accelerations_only(self, rows: Array, others: int) -> UnsupportedProblemError:
        error = self._wrong(int(rows[0]), "a constraint on positions or velocities")
        if others:
            return error
        return UnsupportedProblemError(
            f"{error}. This is an index-1 formulation, from which the constraints on positions "
            "and velocities cannot be recovered: generate 'ind3', 'ggl2', 'ovstab2' or 'ovstab1'"
        )

    def _without_rates(self, n: int, position: Array, velocity: Array) -> Array:
        """Leave out velocity rows that are rates of position rows: their K is made of rows of G."""
        hidden = np.ones(velocity.size, dtype=bool)
        for probe in self.probes:
            G = probe.by_y[position, :n]
            K = probe.by_y[velocity, n : 2 * n] + probe.by_yd[velocity, :n]
            rest = K.T - G.T @ np.linalg.lstsq(G.T, K.T, rcond=1e-9)[0]
            hidden &= np.linalg.norm(rest, axis=0) <= 1e-3 * np.linalg.norm(K, axis=1)
        return velocity[~hidden]
