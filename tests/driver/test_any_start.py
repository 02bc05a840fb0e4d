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
    assert error_of(case) < 100.0


def error_of(case: Case, inith: float = 0.0) -> float:
    """Run, check the steps, and return the largest error in q and v, in units of tol^(2/3).

    In the problem's own scale. `inith` is the first step, as a share of the interval.
    """
    second = np.sqrt(case.length / case.gravity)
    o = mechanisms.simple_pendulum(
        length=case.length, gravity=case.gravity, angle0=case.angle, rate0=case.rate / second
    )
    end = case.t0 + case.duration * second
    speed = case.length / second
    atol = case.tol * np.array([case.length] * 2 + [speed] * 2 + [1.0])
    first = inith * abs(end - case.t0)
    o_t0 = o.replace(t0=case.t0)
    solution = integrate(o_t0, end, case.scheme, rtol=case.tol, atol=atol, inith=first)
    assert solution.t[-1] == end
    sizes = np.diff(solution.steps) * np.sign(case.duration)
    assert sizes.min() > 1e-12 * max(abs(case.t0), abs(end))
    assert sizes.sum() == pytest.approx(abs(end - case.t0))
    exact = [o.reference.motion(t - case.t0) for t in solution.t]
    q = np.linalg.norm(solution.q - [x.q for x in exact], axis=1).max() / case.length
    v = np.linalg.norm(solution.v - [x.v for x in exact], axis=1).max() / speed
    return float(max(q, v) / case.tol ** (2 / 3))


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


def long_cases(count: int, seed: int) -> list[Case]:
    """Draw cases that last long enough for errors to gather."""
    random = np.random.default_rng([2006, seed])
    drawn: list[Case] = []
    while len(drawn) < count:
        case = draw(random)
        if abs(case.duration) > 0.5:
            drawn.append(case)
    return drawn


@pytest.mark.parametrize(("inith", "seed"), [(0.0, 100), (1.0, 101)])
def test_errors_are_as_large_as_the_tolerance_asks_for(inith, seed):
    """Median and 90 % quantile of error / tol^(2/3) over 200 cases.

    A bound that holds for every case cannot see whether errors are controlled at all: it is wide.
    Measured were medians of 0.59 and 0.80 and quantiles of 2.5 and 2.4, without `inith` and with a
    first step as long as the interval; the bounds leave a factor of two. What the test is for,
    tried by hand: an error norm divided by 10 has medians of 2.8 and 3.9, multiplied by 10 of 0.13
    and 0.18. A controller that accepts every step shows only with
    `inith` (median 144): without it, the sizes follow the errors of the accepted steps closely
    enough on motions as smooth as these.
    """
    errors = [error_of(case, inith) for case in long_cases(200, seed)]
    assert 0.3 < np.median(errors) < 1.4
    assert np.quantile(errors, 0.9) < 5.0
