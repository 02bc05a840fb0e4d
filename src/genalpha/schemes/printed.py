"""The equations of a step as a paper prints them, for tests.

Beside its fast step, every scheme states these in plain NumPy. Tests put the numbers of a step
into them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from genalpha.model import Mechanism

Array = np.ndarray


class Equation(NamedTuple):
    """Terms whose sum should be zero.

    Attributes
    ----------
    level : {"position", "velocity", "acceleration", "constraint"}
        In whose units the terms are: that tells what rounding leaves of them. The residual of a
        constraint is its only term.
    terms : tuple of (k,) array
    """

    level: str
    terms: tuple[Any, ...]

    def residual(self) -> float:
        """Return the sum relative to the largest term; of a constraint, the residual itself."""
        largest = max(float(np.max(np.abs(term), initial=0.0)) for term in self.terms)
        scale = 1.0 if self.level == "constraint" else max(largest, 1e-300)
        return float(np.max(np.abs(sum(self.terms)), initial=0.0) / scale)


Printed = dict[str, Equation]


def position(*terms: Array) -> Equation:
    """Return an equation in the units of positions."""
    return Equation("position", terms)


def velocity(*terms: Array) -> Equation:
    """Return an equation in the units of velocities."""
    return Equation("velocity", terms)


def acceleration(*terms: Array) -> Equation:
    """Return an equation in the units of accelerations, or of forces."""
    return Equation("acceleration", terms)


def constraint(value: Array) -> Equation:
    """Return an equation that says that a constraint, or its rate, is zero."""
    return Equation("constraint", (value,))


def solved(o: Mechanism, t: float, q: Array, force: Array) -> Array:
    """Return M(t, q)^-1 force."""
    mass = o.mass(t, q)
    return np.linalg.solve(mass.toarray() if o.is_sparse else mass, force)
