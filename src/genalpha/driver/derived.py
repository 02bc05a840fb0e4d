"""What follows from a motion and its mechanism: energies, residuals, reactions.

An impact may hand over to a mechanism with other constraints. Constraints of the same name are
then the same, and where a mechanism does not have one, its values are NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from genalpha.errors import InvalidOptionError, UnsupportedProblemError
from genalpha.model import Mechanism
from genalpha.numerics.interpolation import Knot

Array = np.ndarray
#: A constraint: whether it is nonholonomic, its name, and the how many-th of this name it is.
Key = tuple[bool, str, int]
Points = Sequence[tuple[Mechanism, Knot]]


@dataclass(frozen=True)
class ResidualHistory:
    """How far a motion is from each constraint, over time.

    Attributes
    ----------
    t : (k,) array
        Times.
    position : (k, m) array
        g.
    velocity : (k, m + l) array
        g_t + G v, then k.
    acceleration : (k, m + l) array
        g'' and k', with the solution's own `vdot`.
    names : list of m + l str
        Names of the constraints, of all columns.
    """

    t: Array
    position: Array
    velocity: Array
    acceleration: Array
    names: list[str]

    def largest(self, level: str = "position") -> Array:
        """Return the largest residual at each time, without sign, shape (k,).

        Parameters
        ----------
        level : {"position", "velocity", "acceleration"}
        """
        if level not in ("position", "velocity", "acceleration"):
            expected = "'position', 'velocity' or 'acceleration'"
            raise InvalidOptionError("largest", [f"level = {level!r}; expected {expected}"])
        values = np.abs(getattr(self, level))
        return np.max(np.where(np.isnan(values), 0.0, values), axis=1, initial=0.0)

    def worst(self, level: str = "position") -> tuple[str, float, float]:
        """Return the constraint with the largest residual at a level, when, and its value."""
        largest = self.largest(level)
        i, values = int(np.argmax(largest)), getattr(self, level)
        if not values.shape[1]:
            return "", float(self.t[i]), 0.0
        j = int(np.nanargmax(np.abs(values[i])))
        return self.names[j], float(self.t[i]), float(values[i, j])

    def __str__(self) -> str:
        lines = []
        for level in ("position", "velocity", "acceleration"):
            name, t, value = self.worst(level)
            lines.append(f"{level:<14}largest residual {value:10.3e} at t = {t:.6g}: {name}")
        return "\n".join(lines)


def energies(points: Points) -> Array:
    """Return the energy at each point, shape (k,)."""
    missing = sorted({o.name for o, _ in points if not o.energy})
    if missing:
        raise UnsupportedProblemError(
            f"{', '.join(missing)}: no energy is known; give it to the mechanism: "
            "Mechanism(..., energy=lambda t, q, v: ...), or mechanism.replace(energy=...) and "
            "integrate again"
        )
    return np.array([o.energy(k.t, k.q.copy(), k.v.copy()) for o, k in points])


def residuals(points: Points) -> ResidualHistory:
    """Return the residuals of all constraints at each point."""
    keys = constraint_keys(o for o, _ in points)
    found = [o.residuals(k.t, k.q, k.v, k.vdot) for o, k in points]
    m = sum(not nonholonomic for nonholonomic, _, _ in keys)
    return ResidualHistory(
        np.array([k.t for _, k in points]),
        table(points, [r.position for r in found], keys[:m]),
        table(points, [r.velocity for r in found], keys),
        table(points, [r.acceleration for r in found], keys),  # type: ignore[misc]
        [name for _, name, _ in keys],
    )


def reactions(points: Points, which: str | int) -> Array:
    """Return the force of one constraint, or of all of one name, shape (k, n)."""
    wanted = _wanted(constraint_keys(o for o, _ in points), which)
    rows = {
        id(o): [i for i, key in enumerate(keys_of(o)) if key in wanted]
        for o in {id(o): o for o, _ in points}.values()
    }
    return np.array([_reaction(o, k, rows[id(o)]) for o, k in points])


def _wanted(keys: list[Key], which: str | int) -> list[Key]:
    """Return the constraints that a name or a number stands for."""
    if isinstance(which, str):
        wanted = [key for key in keys if key[1] == which]
    else:
        whole = isinstance(which, (int, np.integer)) and not isinstance(which, bool)
        wanted = [keys[which]] if whole and -len(keys) <= which < len(keys) else []
    if not wanted:
        listed = ", ".join(f"{i} {key[1]!r}" for i, key in enumerate(keys))
        expected = f"number or name of one of {listed}" if keys else "nothing: there are none"
        raise InvalidOptionError("reaction", [f"{which!r} is no constraint; expected {expected}"])
    return wanted


def _reaction(o: Mechanism, k: Knot, rows: list[int]) -> Array:
    """Return what the reaction loses where some multipliers are zero instead."""
    x = np.concatenate([k.lam, k.psi])
    without = x.copy()
    without[rows] = 0.0
    if o.is_ideal:  # linear: no difference is needed, which would round
        x, without = x - without, np.zeros(x.size)
    forces = [o.reaction(k.t, k.q, k.v, y[: o.n_lam], y[o.n_lam :]) for y in (x, without)]
    return np.asarray(forces[0] - forces[1])


def constraint_keys(mechanisms: Iterable[Mechanism]) -> list[Key]:
    """Return the constraints of all mechanisms, the holonomic ones first."""
    found: dict[Key, None] = {}
    for o in {id(o): o for o in mechanisms}.values():
        found.update(dict.fromkeys(keys_of(o)))
    return sorted(found, key=lambda key: key[0])


def keys_of(o: Mechanism) -> list[Key]:
    """Return the constraints of one mechanism."""
    seen: dict[tuple[bool, str], int] = {}
    keys = []
    for i, name in enumerate(o.constraint_names):
        kind = (i >= o.n_lam, name)
        seen[kind] = seen.get(kind, -1) + 1
        keys.append((*kind, seen[kind]))
    return keys


def table(points: Points, rows: Sequence[Array], keys: Sequence[Key]) -> Array:
    """Return rows, each with the values of a mechanism's constraints, in common columns."""
    found = np.full((len(points), len(keys)), np.nan)
    column = {key: j for j, key in enumerate(keys)}
    places: dict[int, list[int]] = {}
    for i, ((o, _), row) in enumerate(zip(points, rows, strict=True)):
        if id(o) not in places:
            places[id(o)] = [column[key] for key in keys_of(o) if key in column]
        found[i, places[id(o)][: row.size]] = row
    return found


def multipliers(points: Points, keys: Sequence[Key]) -> Array:
    """Return lam and psi in the columns of some constraints."""
    return table(points, [np.concatenate([k.lam, k.psi]) for _, k in points], keys)
