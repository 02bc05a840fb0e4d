"""Overhead: the time of a step over the time inside callbacks and linear algebra.

How often each callback is called is counted in a run of its own on a mechanism that counts; what
one call costs is measured alone in tight loops at states of the solution; the product is the
time inside callbacks. Factorizations and solutions are treated alike, with the solver's own
counters. The total is that of whole integrations with one output point, start included, on the
mechanism as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

from comparisons.bench.parts import (
    callback_seconds,
    linear_algebra_seconds,
    saddle_matrix,
    sampled_states,
)
from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row
from comparisons.bench.timing import seconds
from comparisons.counting import counted_mechanism
from genalpha import Mechanism, Solution, integrate
from genalpha.mechanisms import catalogue
from genalpha.schemes import SCHEMES


class Case(NamedTuple):
    """A mechanism, its step size, the number of steps, and the largest ratio wanted."""

    name: str
    make: Callable[[], Mechanism]
    h: float
    steps: int
    target: float


class Round(NamedTuple):
    """Seconds of one integration: the whole, and its parts as they are when alone.

    They are measured one after the other, so that a slow moment of the machine slows them alike.
    """

    total: float
    callbacks: float
    linear: float


CASES = (
    Case("point pendulum", catalogue()["simple_pendulum"], 1e-3, 1000, 2.0),
    Case("Andrews", catalogue()["andrews_squeezer"], 3e-5, 500, 1.6),
    Case("chain of 100", partial(catalogue()["chain"], links=100), 1e-3, 200, 1.3),
)


def run(plan: Plan) -> Iterator[Row]:
    """Measure all cases with all schemes."""
    for case in CASES:
        if plan.quick:
            case = case._replace(steps=case.steps // 4)
        for scheme in SCHEMES:
            plan.tell(f"overhead: {case.name}, {scheme}")
            yield measure(case, scheme, plan.repeats)


def measure(case: Case, scheme: str, repeats: int) -> Row:
    """Return the row of one mechanism and scheme, medians of rounds."""
    mechanism = case.make()
    solution, calls = counted_run(mechanism, scheme, case)
    states = sampled_states(solution)
    matrix = saddle_matrix(mechanism, states[-1], case.h)
    cost = solution.statistics
    solutions = solutions_of(scheme, mechanism, cost.nniters, cost.nsteps)
    rounds = []
    for round_ in range(repeats + 1):
        each = callback_seconds(mechanism, sorted(calls), states, 1)
        alone = linear_algebra_seconds(matrix, 1)
        found = Round(
            total=seconds(lambda: _integrate(mechanism, scheme, case)),
            callbacks=sum(calls[name] * each[name] for name in calls),
            linear=cost.nlus * alone.factorize + solutions * alone.solve,
        )
        if round_:  # the first one fills caches
            rounds.append(found)
    values = _values(rounds, cost.nsteps)
    values |= {"it/step": cost.nniters / cost.nsteps, "target": case.target}
    note = _most(calls, each, cost.nsteps)
    return Row("overhead", (case.name, scheme), values, {"ratio": case.target}, note)


def _values(rounds: Sequence[Round], steps: int) -> dict[str, float | str | None]:
    """Return medians; that of the ratio is of the ratios of each round."""
    total = median(x.total for x in rounds)
    callbacks, linear = (median(part) for part in list(zip(*rounds, strict=True))[1:])
    return {
        "µs/step": 1e6 * total / steps,
        "callbacks µs": 1e6 * callbacks / steps,
        "LA µs": 1e6 * linear / steps,
        "callbacks %": 100.0 * callbacks / total,
        "LA %": 100.0 * linear / total,
        "ratio": median(x.total / (x.callbacks + x.linear) for x in rounds),
    }


def counted_run(mechanism: Mechanism, scheme: str, case: Case) -> tuple[Solution, Counter[str]]:
    """Integrate on a mechanism that counts; return the solution and the calls by name."""
    counted, calls = counted_mechanism(mechanism)
    solution = _integrate(counted, scheme, case)
    return solution, Counter(calls)


def solutions_of(scheme: str, mechanism: Mechanism, iterations: int, steps: int) -> int:
    """Return how many saddle-point systems were solved.

    A scheme that keeps the constraints of velocities too solves two in an iteration if there are
    holonomic ones, and one more at the end of the step; otherwise it is one.
    """
    if not SCHEMES[scheme].keeps_velocity or not mechanism.n_lam:
        return iterations
    return 2 * iterations + steps


def _integrate(mechanism: Mechanism, scheme: str, case: Case) -> Solution:
    t_end = mechanism.t0 + case.steps * case.h
    return integrate(mechanism, t_end, scheme, h=case.h, t_eval=[t_end])


def _most(calls: Counter[str], each: dict[str, float], steps: int) -> str:
    """Say which callbacks cost most: calls per step × microseconds."""
    dear = sorted(calls, key=lambda name: -calls[name] * each[name])[:2]
    return ", ".join(f"{name} {calls[name] / steps:.1f} × {1e6 * each[name]:.1f}" for name in dear)
