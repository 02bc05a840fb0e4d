"""Mechanisms from formulas: what a step costs in machine code, and Exudyn's own bodies beside it.

The time of a short run is subtracted from that of a long one, so that the start does not count as
steps; it has a column of its own. Exudyn's chain is made of its rigid bodies and revolute joints in
C++: 3 N absolute coordinates and 2 N constraints, as ours, with the same step size; it runs with
full and with modified Newton, and the faster one counts. Its assembly is not timed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row
from comparisons.bench.timing import interleaved
from comparisons.solvers import SOLVERS
from genalpha import Mechanism, integrate
from genalpha.mechanisms import lagrangians
from genalpha.numerics.counters import Counters

#: The last one has no target: it is in machine code for the runs of `error=...`.
SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")
#: A run of one step, which is subtracted.
SHORT = 1
#: The bodies of `lagrangians.chain`.
LENGTH, MASS, GRAVITY = 0.5, 0.5, 9.81
#: Of Exudyn's time per step. GenAlphaI3 is of index 3 as Exudyn is; GenAlphaSOI2 does more.
TARGET = 0.7
#: Ends of the two chains may differ by this: they are the same scheme.
AGREEMENT = 1e-6


class Case(NamedTuple):
    """A mechanism, its step size, steps of the long run, microseconds wanted of the schemes."""

    name: str
    make: Callable[[], Mechanism]
    h: float
    steps: int
    targets: tuple[float, ...] = ()
    links: int = 0


CASES = (
    Case("point pendulum", lagrangians.simple_pendulum, 1e-3, 10000, (1.5, 3.0)),
    Case("Andrews", lagrangians.andrews_squeezer, 3e-5, 2000, (8.0, 15.0)),
    *(
        Case(f"chain of {links}", partial(lagrangians.chain, links), 1e-3, steps, (), links)
        for links, steps in ((1, 4000), (5, 2000), (20, 500), (100, 100))
    ),
)


def run(plan: Plan) -> Iterator[Row]:
    """Measure all cases, those of the chain beside Exudyn where it is installed."""
    missing = SOLVERS["Exudyn"].missing()
    for case in CASES[:-1] if plan.quick else CASES:
        plan.tell(f"formulas: {case.name}")
        yield from measure(case, plan.repeats, with_peer=missing is None)


def measure(case: Case, repeats: int, with_peer: bool) -> Iterator[Row]:
    """Return the rows of one mechanism."""
    o = case.make()
    costs: dict[str, Counters] = {}
    ends: dict[str, np.ndarray] = {}

    def ours(scheme: str, steps: int) -> None:
        t_end = o.t0 + steps * case.h
        found = integrate(o, t_end, scheme, h=case.h, t_eval=[t_end])
        costs[scheme], ends[scheme] = found.statistics, found.q[-1] - o.q0

    works: dict[str, Callable[[], object]] = {
        f"{scheme} {steps}": partial(ours, scheme, steps)
        for steps in (SHORT, case.steps)  # the long ones last: their costs stay
        for scheme in SCHEMES
    }
    if case.links and with_peer:
        works |= {
            f"Exudyn {kind}": _exudyn(case, ends, kind == "modified")
            for kind in ("full", "modified")
        }
    times = interleaved(works, repeats)
    peers = [x for key, x in times.items() if key.startswith("Exudyn")]
    peer = 1e6 * min(peers) / case.steps if peers else None
    if peer is not None:
        _check(ends)
    for i, scheme in enumerate(SCHEMES):
        long, short = times[f"{scheme} {case.steps}"], times[f"{scheme} {SHORT}"]
        step = 1e6 * (long - short) / (case.steps - SHORT)
        yield row(case, scheme, step, 1e3 * short, costs[scheme], peer, i)


def row(
    case: Case, scheme: str, step: float, start: float, cost: Counters, peer: float | None, i: int
) -> Row:
    """Return the row of one scheme; `step` and `peer` are microseconds, `start` milliseconds."""
    values: dict[str, float | str | None] = {
        "h": case.h,
        "µs/step": step,
        "start-up ms": start,
        "it/step": cost.nniters / cost.nsteps,
    }
    targets = {}
    if i < len(case.targets):
        values["target"] = targets["µs/step"] = case.targets[i]
    if peer is not None:
        values |= {"Exudyn µs": peer, "ratio": step / peer}
        if scheme != SCHEMES[-1]:
            values["target"] = targets["ratio"] = TARGET
    note = "Exudyn is not installed" if case.links and peer is None else ""
    return Row("formulas", (case.name, scheme), values, targets, note)


def _check(ends: dict[str, np.ndarray]) -> None:
    """Speeds of different chains are no comparison."""
    ours = ends["GenAlphaI3"]
    for name, end in ends.items():
        if name.startswith("Exudyn") and not np.abs(end - ours).max() <= AGREEMENT:
            raise ArithmeticError(
                f"{name}: its chain ends elsewhere, by {np.abs(end - ours).max()}"
            )


def _exudyn(case: Case, ends: dict[str, np.ndarray], modified: bool) -> Callable[[], None]:
    """Return a run of Exudyn's chain, assembled."""
    exu, items = (importlib.import_module(x) for x in ("exudyn", "exudyn.itemInterface"))
    mbs = exu.SystemContainer().AddSystem()
    _build(mbs, items, case.links)
    settings = exu.SimulationSettings()
    steps = settings.timeIntegration
    steps.numberOfSteps, steps.endTime = case.steps, case.steps * case.h
    steps.generalizedAlpha.spectralRadius = 0.8
    steps.newton.useModifiedNewton = modified
    steps.verboseMode = 0
    settings.solution.file.write = False
    if case.links > 10:
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse

    def work() -> None:
        if not mbs.SolveDynamic(settings):
            raise ArithmeticError("Exudyn's SolveDynamic failed")
        ends[f"Exudyn {modified}"] = np.array(mbs.systemData.GetODE2Coordinates())

    return work


def _build(mbs: Any, items: Any, links: int) -> None:
    """Assemble a chain that is released straight and level."""
    add = mbs.AddMarker
    last = add(items.MarkerBodyPosition(bodyNumber=mbs.AddObject(items.ObjectGround())))
    for i in range(links):
        start = [LENGTH * (i + 0.5), 0.0, 0.0]
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=start))
        body = mbs.AddObject(
            items.ObjectRigidBody2D(nodeNumber=node, mass=MASS, inertia=MASS * LENGTH**2 / 12.0)
        )
        whole = add(items.MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=whole, loadVector=[0, -GRAVITY, 0]))
        left, right = (
            add(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0]))
            for x in (-LENGTH / 2.0, LENGTH / 2.0)
        )
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[last, left]))
        last = right
    mbs.Assemble()
