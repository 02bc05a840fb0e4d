"""The callbacks of a mechanism, declared once: name, arguments, shape, and what each is for.

Everything that must know all of them (checks of arguments, first calls, audits, blame, redundant
rows, solver options) reads this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Callback:
    """One callback.

    Attributes
    ----------
    name : str
    arguments : str
        Names of its arguments, see `State`.
    shape : str
        Letters for the sizes of what it returns: n coordinates, m and l constraints, c = m + l; of
        a mechanism with states also s of them, and w = 2 n + s.
    needs : str
        The callback without which it makes no sense; missing ones are differenced from that.
    role : {"equation", "newton", "jacobian", "audit"}
        What it serves: the equations themselves; Newton's iteration matrix only; the matrix, and
        through reactions the equations; nothing that is solved.
    """

    name: str
    arguments: str
    shape: str
    needs: str = ""
    role: str = "equation"

    @property
    def is_matrix(self) -> bool:
        """Whether it returns a matrix, and may be given as a constant one."""
        return len(self.shape) == 2

    @property
    def is_optional(self) -> bool:
        """Whether it may be left out (a mass is the identity then)."""
        return self.name not in ("force", "mass")


TABLE: dict[str, Callback] = {
    x.name: x
    for x in (
        Callback("mass", "t q", "nn"),
        Callback("force", "t q v", "n"),
        Callback("holonomic", "t q", "m"),
        Callback("holonomic_jacobian", "t q", "mn", "holonomic", "jacobian"),
        Callback("holonomic_rate", "t q v", "m", "holonomic"),
        Callback("holonomic_acceleration", "t q v", "m", "holonomic"),
        Callback("nonholonomic", "t q v", "l"),
        Callback("nonholonomic_jacobian", "t q v", "ln", "nonholonomic", "jacobian"),
        Callback("nonholonomic_gradient", "t q v", "ln", "nonholonomic", "newton"),
        Callback("nonholonomic_acceleration", "t q v", "l", "nonholonomic"),
        Callback("reaction", "t q v lam psi", "n"),
        Callback("reaction_jacobian", "t q v lam psi", "nc", "reaction", "jacobian"),
        Callback("stiffness", "t q v vdot lam psi", "nn", "", "newton"),
        Callback("damping", "t q v vdot lam psi", "nn", "", "newton"),
    )
}
#: What makes sense only together with something else.
NEEDS = {x.name: x.needs for x in TABLE.values() if x.needs}
#: What may also be given as a constant matrix; a mass is none of the optional ones.
MATRICES = frozenset(x.name for x in TABLE.values() if x.is_matrix and x.is_optional)
#: Derivatives that serve Newton's iteration only, and those that enter reactions as well.
FOR_NEWTON = frozenset(x.name for x in TABLE.values() if x.role == "newton")
JACOBIANS = frozenset(x.name for x in TABLE.values() if x.role == "jacobian")


def arguments_of(
    name: str, state: Mapping[str, Any], table: Mapping[str, Callback] = TABLE
) -> tuple[Any, ...]:
    """Return the arguments of a callback out of a state t, q, v, vdot, lam, psi; arrays copied."""
    values = (state[key] for key in table[name].arguments.split())
    return tuple(np.copy(x) if np.ndim(x) else x for x in values)


def shape_of(name: str, n: int, m: int, l: int) -> tuple[int, ...]:  # noqa: E741
    """Return the shape of what a callback returns."""
    sizes = {"n": n, "m": m, "l": l, "c": m + l}
    return tuple(sizes[letter] for letter in TABLE[name].shape)
