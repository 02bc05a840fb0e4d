"""What is true: the motion by another integrator, from equations that share no line with genalpha.

SciPy's DOP853 on the index-reduced equations, with the derivatives that the model has by hand,

    [ M  J^T ] [ x''     ]   [  f       ]
    [ J   0  ] [ lam psi ] = [ -J' x' ... ],   J = [G; K].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import solve_ivp

from tests.fuzz.models import CONDITION, Model

Array = np.ndarray

#: How exact the truth is, and how exact the motion that shows how errors grow.
EXACT, ROUGH = 1e-10, 1e-7
#: The start of that motion is moved by this.
MOVED = 1e-4
#: Errors that grow more than this make any comparison worthless.
GROWTH = 100.0
SIZE = 30.0
#: Both motions together need some hundreds of calls.
CALLS = 20_000


class NoTruthError(Exception):
    """The model's motion cannot be judged: ill-conditioned, or sensitive."""


@dataclass
class Truth:
    """The motion of a model."""

    model: Model
    dense: object
    t_end: float
    growth: float
    size: float

    def at(self, t: float) -> tuple[Array, Array, Array, Array, Array]:
        """Return x, x', x'', lam, psi; rows that depend on others have no multiplier."""
        n = self.model.n
        y = self.dense(t)  # type: ignore[operator]
        return y[:n], y[n:], *accelerations(self.model, t, y[:n], y[n:])


def accelerations(o: Model, t: float, x: Array, v: Array) -> tuple[Array, Array, Array]:
    """Solve for acceleration and multipliers."""
    free = o.m - o.redundant
    J = np.vstack([o.G(t, x)[:free], o.K(x)])
    c = np.concatenate([o.g_acc(t, x, v)[:free], o.k_acc(t, x, v)])
    matrix = np.block([[o.mass(t, x), J.T], [J, np.zeros((len(J), len(J)))]])
    solution = np.linalg.solve(matrix, np.concatenate([o.force(t, x, v), -c]))
    return solution[: o.n], solution[o.n : o.n + free], solution[o.n + free :]


def truth_of(o: Model, t_end: float) -> Truth:
    """Return the motion from 0 to `t_end`, which may be negative.

    Raises
    ------
    NoTruthError
        The constraints come near a singularity, or errors grow too much.
    """
    n, rates = o.n, _rates(o, CALLS)
    start = np.concatenate([o.x0, o.v0])
    options = {"method": "DOP853", "dense_output": True}
    try:
        _check_condition(o, o.x0, 0.0)
        run = solve_ivp(rates, (0.0, t_end), start, rtol=EXACT, atol=EXACT, **options)
        if not run.success or np.abs(run.y).max() > SIZE:
            raise NoTruthError
        for t, y in zip(run.t, run.y.T, strict=True):
            _check_condition(o, y[:n], t)
            if np.abs(o.g(t, y[:n])).max(initial=0.0) > 1e-7:
                raise NoTruthError
        aside = MOVED * np.cos(np.arange(2.0 * n))
        near = solve_ivp(rates, (0.0, t_end), start + aside, rtol=ROUGH, atol=ROUGH, **options)
    except np.linalg.LinAlgError as error:
        raise NoTruthError from error
    times = np.linspace(0.0, t_end, 20)
    growth = np.abs(near.sol(times) - run.sol(times)).max() / MOVED
    if not growth < GROWTH:
        raise NoTruthError
    return Truth(o, run.sol, t_end, max(1.0, float(growth)), float(np.abs(run.y).max()))


def more_exactly(truth: Truth, exact: float) -> Truth:
    """Return the same motion, computed once more."""
    o = truth.model
    start, until = np.concatenate([o.x0, o.v0]), (0.0, truth.t_end)
    rates = _rates(o, math.inf)
    run = solve_ivp(rates, until, start, "DOP853", dense_output=True, rtol=exact, atol=exact)
    return replace(truth, dense=run.sol)


def _rates(o: Model, most: float) -> Callable[[float, Array], Array]:
    """Return the right-hand side of the equations of first order, for so many calls at most."""
    n, calls = o.n, itertools.count()

    def rates(t: float, y: Array) -> Array:
        if next(calls) > most:  # near a singularity, steps shrink for ever
            raise NoTruthError
        return np.concatenate([y[n:], accelerations(o, t, y[:n], y[n:])[0]])

    return rates


def _check_condition(o: Model, x: Array, t: float) -> None:
    """Refuse models whose rows nearly depend on each other, or whose mass is nearly singular."""
    free = o.m - o.redundant
    rows = np.vstack([o.G(t, x)[:free], o.K(x)])
    lengths = np.linalg.norm(rows, axis=1)
    if lengths.size and (
        lengths.min() < 0.1 or np.linalg.cond(rows / lengths[:, None]) > CONDITION
    ):
        raise NoTruthError
    if np.linalg.eigvalsh(o.mass(t, x))[0] < 0.1:
        raise NoTruthError
