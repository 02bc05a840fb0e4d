"""Explicit problems within Assimulo's base class for implicit solvers, which half forgets them.

It calls `rhs` with switches if there are state events and without if there are none, whatever the
signature, and at events it hands yd to a `handle_result` that does not take it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from assimulo.problem import cExplicit_Problem

from genalpha.assimulo.residual import Residual


@contextmanager
def first_rhs(problem: Any, F: Residual) -> Iterator[None]:
    """Make `rhs` of an explicit problem answer the base class's one call of it."""
    if not isinstance(problem, cExplicit_Problem):
        yield
        return
    y0 = np.array(problem.y0, dtype=float).ravel()
    yd0 = -F(float(getattr(problem, "t0", 0.0)), y0, np.zeros(y0.size))
    with _replaced(problem, "rhs", lambda *arguments: yd0):
        yield


@contextmanager
def results_without_yd(problem: Any) -> Iterator[None]:
    """Make `handle_result` of an explicit problem take yd, and ignore it."""
    if not isinstance(problem, cExplicit_Problem):
        yield
        return
    handle = problem.handle_result
    with _replaced(problem, "handle_result", lambda solver, t, y, *yd: handle(solver, t, y)):
        yield


@contextmanager
def _replaced(problem: Any, name: str, function: Any) -> Iterator[None]:
    """Shadow a method for a while."""
    mine = vars(problem).get(name)
    setattr(problem, name, function)
    try:
        yield
    finally:
        if mine is None:
            delattr(problem, name)
        else:
            setattr(problem, name, mine)
