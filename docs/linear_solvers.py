"""Times of linear solvers on chains, and what rounding does there: tables of the Newton page."""

import timeit

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from genalpha import mechanisms
from genalpha.numerics.accuracy import EPS, scales
from genalpha.numerics.gradients import constraints, reactions
from genalpha.numerics.systems import Systems, klu

LENGTHS = (5, 12, 20, 40, 100, 1000)
#: Dense matrices of longer chains take too long to be worth a look.
LONGEST_DENSE = 100


def terms_of(o):
    """Mass, reactions and gradients of a mechanism's start, as terms of a saddle point system."""
    J, _ = constraints(o, o.t0, o.q0, o.v0, 0.0)
    lam, psi = o.multiplier_guess()
    return [(1.0, o.mass(o.t0, o.q0))], reactions(o, -1.0, o.t0, o.q0, o.v0, lam, psi, J), J


def best_of(function, seconds=0.2):
    """Shortest time of one call, in microseconds."""
    once = max(timeit.timeit(function, number=1), 1e-6)
    count = max(1, int(seconds / 5 / once))
    return 1e6 * min(timeit.repeat(function, number=count, repeat=5)) / count


def times(method, terms):
    """Microseconds to assemble and factorize, and to solve, as a cell of the table."""
    systems = Systems(method)
    for _ in range(2):  # the order of the columns is known from the second time on
        solve = systems.factorize("chain", *terms)
    right = np.ones(sum(block[0][1].shape[0] for block in (terms[0], *terms[2])))
    made = best_of(lambda: systems.factorize("chain", *terms))
    return f"{made:.0f} + {best_of(lambda: solve(right)):.3g}"


def plain_superlu(terms):
    """Microseconds of SciPy's `splu` with its defaults, on the same matrix."""
    (_, mass), (_, gradient) = terms[0][0], terms[2][0][0]
    whole = sparse.block_array([[mass, gradient.T], [gradient, None]], format="csc")
    lu, right = splu(whole), np.ones(whole.shape[0])
    return f"{best_of(lambda: splu(whole)):.0f} + {best_of(lambda: lu.solve(right)):.3g}"


def linear_solvers():
    """Rows of microseconds: assemble and factorize + solve."""
    rows = []
    methods = ["dense", "superlu", *(["klu"] if klu() else [])]
    for given, is_sparse in (("sparse", True), ("dense", False)):
        chains = {N: terms_of(mechanisms.chain(N, is_sparse=is_sparse)) for N in LENGTHS}
        for method in methods:
            dense = method == "dense" or not is_sparse
            cells = [
                "–" if dense and N > LONGEST_DENSE else times(method, chains[N]) for N in LENGTHS
            ]
            rows.append([given, f"`{method}`", *cells])
        if is_sparse:
            plain = [plain_superlu(chains[N]) for N in LENGTHS]
            rows.append([given, "SciPy's `splu` with its defaults, matrix ready", *plain])
    return ["blocks", "solver", *(f"N = {N}" for N in LENGTHS)], rows


def rounding_noise():
    """Rows of what rounding does to positions through the constraints, in units of eps."""
    rows = []
    for name, o in (
        ("point pendulum", mechanisms.simple_pendulum()),
        *((f"chain of {N}", mechanisms.chain(N)) for N in (10, 100, 1000)),
    ):
        A, R, J = terms_of(o)
        solve = Systems().factorize("x", A, R, J)
        rows.append(
            [name, f"{scales(o, A, [(0.0, A[0][1])], J, o.q0, 1.0, solve).noise / EPS:.2g}"]
        )
    return ["mechanism", "noise of the positions / eps"], rows
