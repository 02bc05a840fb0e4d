"""Problems and classes that the tests of this directory share."""

from __future__ import annotations

import importlib.util
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from genalpha import mechanisms
from genalpha.schemes import SCHEMES

NAMES = tuple(SCHEMES)
GRAVITY = 13.7503671


@pytest.fixture(params=NAMES)
def solver_class(request):
    import genalpha

    if importlib.util.find_spec("assimulo") is None:
        pytest.skip("needs Assimulo")
    return getattr(genalpha, request.param)


@pytest.fixture
def make(solver_class):
    """Return a function that makes a quiet solver with fixed steps."""

    def of(problem, h=1e-2, **options):
        solver = solver_class(problem)
        solver.verbosity, solver.h = 50, h
        for name, value in options.items():
            setattr(solver, name, value)
        return solver

    return of


@cache
def pendulum():
    return mechanisms.catalogue()["assimulo_pendulum"]()


@pytest.fixture
def mechanism():
    return pendulum()


@pytest.fixture
def problem(mechanism):
    return mechanism.problem("ind3")


def residual(t, y, yd):
    """Assimulo's pendulum, index 3, as a user writes it."""
    return np.array(
        [
            yd[0] - y[2],
            yd[1] - y[3],
            yd[2] + y[4] * y[0],
            yd[3] + y[4] * y[1] + GRAVITY,
            y[0] ** 2 + y[1] ** 2 - 1.0,
        ]
    )


def jacobian(c, t, y, yd):
    """dF/dy + c dF/dyd of `residual`."""
    J = np.diag([c, c, c, c, 0.0])
    J[0, 2] = J[1, 3] = -1.0
    J[2, 0] = J[3, 1] = y[4]
    J[2:4, 4] = y[:2]
    J[4, :2] = 2.0 * y[:2]
    return J


def sparse_jacobian(c, t, y, yd):
    return sparse.csc_matrix(jacobian(c, t, y, yd))


START = ([1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -GRAVITY, 0.0])


@pytest.fixture
def plain():
    """Return a function that makes a plain implicit problem of the pendulum."""
    from assimulo.problem import Implicit_Problem

    def of(res=residual, jac=None, sw0=None, t0=0.0, **attributes):
        made = Implicit_Problem(res, *START, t0=t0, sw0=sw0, name="plain pendulum")
        if jac is not None:
            made.jac = jac
        for name, value in attributes.items():
            setattr(made, name, value)
        return made

    return of
