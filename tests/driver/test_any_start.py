"""A thousand random pendulums: adaptive steps always end, and their errors keep to a bound.

Pendulums, because their motion is known exactly and costs nothing. Cases are drawn from a fixed
seed, in chunks that pytest may spread over processes.
"""

from __future__ import annotations

from math import hypot, sin
from typing import NamedTuple

import numpy as np
import pytest

from genalpha import integrate, mechanisms
from tests.driver.support import SCHEMES

CASES, CHUNKS = 1000, 20


class Case(NamedTuple):
    """A pendulum; rate and duration in units of sqrt(length / gravity), backwards if negative."""

    tol: float
    scheme: str
    length: float
    gravity: float
    angle: float
    rate: float
    t0: float
    duration: float


def draw(random) -> Case:
    while True:
        case = Case(
            tol=10.0 ** random.uniform(-7.0, -2.0),
            scheme=str(random.choice(SCHEMES)),
            length=10.0 ** random.uniform(-2.0, 2.0),
            gravity=10.0 ** random.uniform(-1.0, 2.0),
            angle=random.uniform(-3.1, 3.1),
            rate=random.uniform(-3.0, 3.0),
            t0=random.choice([0.0, random.uniform(-100.0, 100.0)]),
            duration=random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-2.0, 0.3),
        )
        # on the separatrix there is no solution by elliptic functions
        if abs(hypot(sin(0.5 * case.angle), 0.5 * case.rate) - 1.0) > 1e-3:
            return case


def check(case: Case) -> None:
    second = np.sqrt(case.length / case.gravity)
    o = mechanisms.simple_pendulum(
        length=case.length, gravity=case.gravity, angle0=case.angle, rate0=case.rate / second
    )
    end = case.t0 + case.duration * second
    speed = case.length / second
    atol = case.tol * np.array([case.length] * 2 + [speed] * 2 + [1.0])
    solution = integrate(o.replace(t0=case.t0), end, case.scheme, rtol=case.tol, atol=atol)
    assert solution.t[-1] == end
    sizes = np.diff(solution.steps) * np.sign(case.duration)
    assert sizes.min() > 1e-12 * max(abs(case.t0), abs(end))
    assert sizes.sum() == pytest.approx(abs(end - case.t0))
    exact = [o.reference.motion(t - case.t0) for t in solution.t]
    bound = 100.0 * case.tol ** (2 / 3)
    for name, scale in (("q", case.length), ("v", speed)):
        errors = getattr(solution, name) - [getattr(x, name) for x in exact]
        assert np.linalg.norm(errors, axis=1).max() < bound * scale, name


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_any_tolerance_start_and_length(chunk):
    """It always ends, with steps above rounding and an error below 100 tol^(2/3).

    In the problem's own scale: lengths in units of the pendulum's, times of sqrt(length / g).
    """
    random = np.random.default_rng([2006, chunk])
    for _ in range(CASES // CHUNKS):
        case = draw(random)
        try:
            check(case)
        except Exception as error:
            raise AssertionError(f"{case}") from error
