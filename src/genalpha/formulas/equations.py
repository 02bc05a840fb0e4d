"""The equations of motion, derived: from a Lagrangian, and all that a `Mechanism` can be given.

Notation as everywhere: M v' = f - G^T lam - K^T psi, 0 = g(t, q), 0 = k(t, q, v).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from genalpha.errors import InvalidOptionError

Expression = Any  # sympy.Expr
Symbol = Any  # sympy.Symbol
Places = dict[tuple[int, ...], Expression]


@dataclass(frozen=True)
class Table:
    """A vector or matrix of formulas: shape, and the entries that are not zero."""

    shape: tuple[int, ...]
    entries: Mapping[tuple[int, ...], Expression]


@dataclass(frozen=True)
class Motion:
    """Formulas of a mechanism, from which all others follow.

    Attributes
    ----------
    t : Symbol
    q, v, vdot : sequences of n Symbol
    mass : list of n lists of n formulas
    force : list of n formulas
    holonomic, nonholonomic : lists of formulas
    energy : formula or None
    """

    t: Symbol
    q: Sequence[Symbol]
    v: Sequence[Symbol]
    vdot: Sequence[Symbol]
    mass: list[list[Expression]]
    force: list[Expression]
    holonomic: list[Expression]
    nonholonomic: list[Expression]
    energy: Expression | None


def of_lagrangian(
    L: Expression,
    t: Symbol,
    q: Sequence[Symbol],
    v: Sequence[Symbol],
    vdot: Sequence[Symbol],
    forces: Sequence[Expression],
    dissipation: Expression,
    holonomic: list[Expression],
    nonholonomic: list[Expression],
) -> Motion:
    """Derive M and f from a Lagrangian; f has all terms with velocities.

    Raises
    ------
    InvalidOptionError
        The Lagrangian is not quadratic in the velocities.
    """
    momenta = [L.diff(x) for x in v]
    mass = [[_without_velocities(p.diff(x), v) for x in v] for p in momenta]
    force = []
    for i, (x, speed, p) in enumerate(zip(q, v, momenta, strict=True)):
        turning = sum((p.diff(y) * w for y, w in zip(q, v, strict=True)), p.diff(t))
        force.append(L.diff(x) - turning + forces[i] - dissipation.diff(speed))
    energy = sum((p * w for p, w in zip(momenta, v, strict=True)), -L)
    return Motion(t, q, v, vdot, mass, force, holonomic, nonholonomic, energy)


def _without_velocities(entry: Expression, v: Sequence[Symbol]) -> Expression:
    """Return an entry of the mass matrix, which must not depend on velocities."""
    if entry.free_symbols.isdisjoint(v):
        return entry
    entry = sp.simplify(entry)
    if entry.free_symbols.isdisjoint(v):
        return entry
    fault = "lagrangian is not quadratic in the velocities: its second derivative depends on them"
    raise InvalidOptionError("from_lagrangian", [fault])


def callbacks(o: Motion) -> dict[str, Table]:
    """Derive all that a `Mechanism` can be given, by the names of its callbacks."""
    t, q, v, n = o.t, o.q, o.v, len(o.q)
    g, k = o.holonomic, o.nonholonomic
    lam = [sp.Symbol(f"lam[{i}]", real=True) for i in range(len(g))]
    psi = [sp.Symbol(f"psi[{i}]", real=True) for i in range(len(k))]
    mass: Places = {(i, j): o.mass[i][j] for i in range(n) for j in range(n) if o.mass[i][j] != 0}
    found = {"mass": Table((n, n), mass), "force": _vector(o.force)}
    G, K = _jacobian(g, q), _jacobian(k, v)
    if g:
        rate = _along(g, t, q, v)
        found |= {
            "holonomic": _vector(g),
            "holonomic_jacobian": G,
            "holonomic_rate": _vector(rate),
            "holonomic_acceleration": _vector(_along(rate, t, q, v)),
        }
    if k:
        found |= {
            "nonholonomic": _vector(k),
            "nonholonomic_jacobian": K,
            "nonholonomic_gradient": _jacobian(k, q),
            "nonholonomic_acceleration": _vector(_along(k, t, q, v)),
        }
    imbalance = [-x for x in o.force]
    for (i, j), entry in mass.items():
        imbalance[i] += entry * o.vdot[j]
    for J, multipliers in ((G, lam), (K, psi)):
        for (i, j), entry in J.entries.items():
            imbalance[j] += entry * multipliers[i]
    found["stiffness"] = _smooth(_jacobian(imbalance, q))
    found["damping"] = _smooth(_jacobian(imbalance, v))
    return found


def _vector(entries: Sequence[Expression]) -> Table:
    return Table((len(entries),), {(i,): x for i, x in enumerate(entries) if x != 0})


def _jacobian(functions: Sequence[Expression], by: Sequence[Symbol]) -> Table:
    """Return derivatives, taken only where a symbol occurs."""
    entries: Places = {}
    for i, function in enumerate(functions):
        present = function.free_symbols
        for j, x in enumerate(by):
            if x in present and (entry := function.diff(x)) != 0:
                entries[i, j] = entry
    return Table((len(functions), len(by)), entries)


def _along(
    functions: Sequence[Expression], t: Symbol, q: Sequence[Symbol], v: Sequence[Symbol]
) -> list[Expression]:
    """Return derivatives by time along a motion, at constant velocity."""
    G, rates = _jacobian(functions, q), [x.diff(t) for x in functions]
    for (i, j), entry in G.entries.items():
        rates[i] += entry * v[j]
    return rates


def _smooth(table: Table) -> Table:
    """Leave out what a jump adds to a derivative: Newton's matrix cannot hold it."""
    entries = {
        key: x.replace(sp.DiracDelta, lambda *arguments: sp.S.Zero)
        for key, x in table.entries.items()
    }
    return Table(table.shape, {key: x for key, x in entries.items() if x != 0})
