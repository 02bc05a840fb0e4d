"""The solver classes: schemes of the generalized-alpha family inside Assimulo."""

from __future__ import annotations

from genalpha.assimulo.base import GenAlphaSolver
from genalpha.assimulo.solver_options import ChungHulbertOptions, HHTOptions

__all__ = ["HHTI2", "GenAlphaI3", "GenAlphaSOI2"]


class GenAlphaI3(ChungHulbertOptions, GenAlphaSolver):
    """Index-3 generalized-alpha scheme of Arnold and Brüls (2007), as an Assimulo solver.

    Position constraints hold as accurately as Newton's iteration solves (`newton_accuracy`);
    velocities drift from theirs by O(h^2) and do not accumulate. The cheapest of the three classes
    per step.

    Parameters
    ----------
    problem : Implicit_Problem, Overdetermined_Problem or Explicit_Problem
        Made by ``Mechanism.problem``, or any other of the layout y = [q, v, lam, psi]; see
        `genalpha.assimulo.mechanism_from_problem`. The mu of "ggl2" is ignored and reported as 0.

    Notes
    -----
    It is called as any solver of Assimulo. Options are properties: `rho_inf` or `coefficients`,
    `h` (fixed steps) or `atol` and `rtol` (adaptive ones), and those of `SolverOptions`.
    """

    scheme = "GenAlphaI3"


class GenAlphaSOI2(ChungHulbertOptions, GenAlphaSolver):
    """Generalized-alpha SOI2 of Jay and Negrut (2008), as an Assimulo solver.

    Position and velocity constraints, holonomic and nonholonomic ones together, hold as accurately
    as Newton's iteration solves (`newton_accuracy`). The one to start with.

    Parameters
    ----------
    problem : Implicit_Problem, Overdetermined_Problem or Explicit_Problem
        See `GenAlphaI3`.

    Notes
    -----
    Options as for `GenAlphaI3`.
    """

    scheme = "GenAlphaSOI2"


class HHTI2(HHTOptions, GenAlphaSolver):
    """Extended HHT scheme, index 2, of Jay and Negrut (2007), as an Assimulo solver.

    Position and velocity constraints, either holonomic or nonholonomic ones, hold as accurately as
    Newton's iteration solves (`newton_accuracy`).

    Parameters
    ----------
    problem : Implicit_Problem, Overdetermined_Problem or Explicit_Problem
        See `GenAlphaI3`.

    Notes
    -----
    Options: `alpha` (or `coefficients`), `b`, `variant`, and those of `SolverOptions`.
    """

    scheme = "HHTI2"
