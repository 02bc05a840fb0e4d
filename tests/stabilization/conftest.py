"""Mechanisms that the tests of this directory share, and starts off their constraints."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from genalpha import consistent_initial_values, mechanisms
from genalpha.stabilization.options import StabilizedOptions
from genalpha.stabilization.run import run_stabilized
from genalpha.stabilization.system import StabilizedSystem

#: Step sizes with which a few hundred steps cover much of the motion.
STEPS = {
    "assimulo_pendulum": 4e-3,
    "driven_pendulum": 4e-3,
    "slider_crank": 2e-4,
    "andrews_squeezer": 1e-5,
    "andrews_absolute": 1e-5,
    "knife_edge": 5e-3,
    "chaplygin_sleigh": 2e-3,
    "rolling_disk": 5e-3,
    "jay_negrut_test": 2e-3,
}


@cache
def called(name):
    return mechanisms.catalogue()[name]()


@cache
def system_of(name, scheme, h, t_final):
    """The system with automatic gains, and so with a promise."""
    return StabilizedSystem(called(name), StabilizedOptions(scheme), h, t_final)


@pytest.fixture
def mechanism_called():
    return called


@pytest.fixture
def automatic():
    return system_of


@pytest.fixture
def run():
    def run(mechanism, t_final, scheme, h, **options):
        return run_stabilized(mechanism, t_final, scheme, h, None, options)

    return run


@pytest.fixture
def off_constraints():
    """Function that moves a mechanism's start to a given deviation (f, f_dot, f')."""

    def moved(o, target):
        m = o.n_lam
        f, f_dot, k = np.split(np.asarray(target, dtype=float), [m, 2 * m])
        changes = {}
        if m:
            changes["holonomic"] = lambda t, q: o.holonomic(t, q) - f
            changes["holonomic_rate"] = lambda t, q, v: o.holonomic_rate(t, q, v) - f_dot
        if o.n_psi:
            changes["nonholonomic"] = lambda t, q, v: o.nonholonomic(t, q, v) - k
        start = consistent_initial_values(o.replace(**changes))
        return o.replace(q0=start.q, v0=start.v)

    return moved
