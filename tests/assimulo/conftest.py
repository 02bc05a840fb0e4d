"""Mechanisms and exact states that the tests of this directory share."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from genalpha.model import Motion
from tests.stabilization.conftest import called, mechanism_called, off_constraints, run

__all__ = ["mechanism_called", "off_constraints", "run"]  # fixtures

NAMES = (
    "jay_negrut_test",
    "jay_test",
    "hht_test",
    "pendulum_jn",
    "rolling_disk",
    "assimulo_pendulum",
    "driven_pendulum",
    "prescribed_mass",
    "knife_edge",
    "four_bar",
    "n_four_bar",
)


@cache
def exact_motions(name: str) -> list[tuple[float, Motion]]:
    """Twenty random times with the exact motion there."""
    o = called(name)
    times = o.t0 + np.random.default_rng(20).uniform(0.0, 1.0, 20)
    return [(float(t), o.reference.motion(float(t))) for t in times]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def mechanism(name):
    return called(name)


@pytest.fixture
def motions(name):
    return exact_motions(name)


@pytest.fixture
def pendulum():
    return called("assimulo_pendulum")


@pytest.fixture
def linkage():
    return called("four_bar")


@pytest.fixture
def sparse_linkage(linkage):
    """The same linkage with sparse constraint Jacobians, and so sparse throughout."""
    return linkage.replace(
        holonomic_jacobian=lambda t, q: sparse.csc_array(linkage.holonomic_jacobian(t, q)),
        name="sparse four_bar",
    )
