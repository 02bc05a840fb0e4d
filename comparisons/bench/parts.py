"""What the parts of a step cost when they run alone: callbacks, factorizations, solutions.

Nothing of genalpha's own work is inside these times: callbacks are the functions that the
mechanism was given, without the checks around them; dense systems are LAPACK's getrf and getrs,
whatever the package uses. Only sparse systems go through `genalpha.numerics.linear.factorize`,
because which sparse LU it takes is its own choice.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dgetrf, dgetrs

from comparisons.bench.timing import call_seconds, clock
from genalpha import Mechanism, Solution
from genalpha.numerics.interpolation import Knot
from genalpha.numerics.linear import factorize

Array = np.ndarray

#: How many of t, q, v, vdot, lam, psi a callback takes; those of a reaction differ.
_ARGUMENTS = {
    "mass": 2,
    "holonomic": 2,
    "holonomic_jacobian": 2,
    "stiffness": 6,
    "damping": 6,
}
_OF_REACTION = ("reaction", "reaction_jacobian")
#: States of the solution at which callbacks are timed.
STATES = 5


def arguments_of(name: str, state: Knot) -> tuple[Any, ...]:
    """Return what a callback of this name is called with."""
    if name in _OF_REACTION:
        return (state.t, state.q, state.v, state.lam, state.psi)
    return tuple(state)[: _ARGUMENTS.get(name, 3)]


def sampled_states(solution: Solution, count: int = STATES) -> list[Knot]:
    """Return states spread over the steps of a solution."""
    chosen = np.linspace(0, solution.steps.size - 1, count).round().astype(int)
    knots = (solution(float(solution.steps[i])) for i in chosen)
    return [Knot(k.t, k.q, k.v, k.vdot, k.lam, k.psi) for k in knots]


def given_callback(mechanism: Mechanism, name: str) -> Callable[..., Any]:
    """Return the function that the user gave, without the package's wrapper around it."""
    given = getattr(mechanism, "_arguments", {}).get(name)
    return given if callable(given) else getattr(mechanism, name)


def callback_seconds(
    mechanism: Mechanism, names: list[str], states: list[Knot], repeats: int
) -> dict[str, float]:
    """Return the median time of one call of each callback alone, over the states."""
    found = {}
    for name in names:
        function = given_callback(mechanism, name)
        times = [call_seconds(function, arguments_of(name, s), repeats) for s in states]
        found[name] = statistics.median(times)
    return found


def saddle_matrix(mechanism: Mechanism, state: Knot, h: float) -> Any:
    """Return the matrix of a step: inertia and h^2/4 stiffness beside the constraints' gradients.

    Dense in Fortran order, or sparse in CSC, as the mechanism is. The scaling of the schemes
    is left out; it changes no pattern.
    """
    o, s = mechanism, state
    every = tuple(s)
    A = o.mass(s.t, s.q) + 0.25 * h**2 * o.stiffness(*every) + 0.5 * h * o.damping(*every)
    G, K = o.holonomic_jacobian(s.t, s.q), o.nonholonomic_jacobian(s.t, s.q, s.v)
    if o.is_sparse:
        J = sparse.vstack([G, K], format="csc")
        return sparse.block_array([[A, J.T], [J, None]], format="csc")
    J = np.vstack([G, K])
    zero = np.zeros((J.shape[0], J.shape[0]))
    return np.asfortranarray(np.block([[A, J.T], [J, zero]]))


class LinearAlgebra(NamedTuple):
    """Seconds of one factorization and of one solution."""

    factorize: float
    solve: float


def linear_algebra_seconds(matrix: Any, repeats: int) -> LinearAlgebra:
    """Time LAPACK, or the package's sparse LU, on one matrix."""
    right = np.linspace(1.0, 2.0, matrix.shape[0])
    if sparse.issparse(matrix):
        solve = factorize(matrix.copy())
        return LinearAlgebra(
            call_seconds(factorize, (matrix,), repeats), call_seconds(solve, (right,), repeats)
        )
    lu, pivots, _ = dgetrf(matrix)
    return LinearAlgebra(
        _dense_factorization(matrix, repeats), call_seconds(dgetrs, (lu, pivots, right), repeats)
    )


def _dense_factorization(matrix: Array, repeats: int) -> float:
    """Return the median time of getrf in place; the copies are made before the clock runs."""
    times = []
    for _ in range(repeats):
        copies = [matrix.copy(order="F") for _ in range(500)]
        begin = clock()
        for copy in copies:
            dgetrf(copy, overwrite_a=True)
        times.append((clock() - begin) / len(copies))
    return statistics.median(times)
