"""Exudyn with Python user functions on the point pendulum, against ours.

Both run with the callbacks of the catalogue's mechanism, as in the comparisons, and with functions
as users write them for speed, plain numbers in and out; like is compared with like. Exudyn runs
with full and with modified Newton; the faster one counts. Only the integration is timed,
not the assembly.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from comparisons.bench.plan import Plan
from comparisons.bench.rows import Row
from comparisons.bench.timing import seconds
from comparisons.names import Form
from comparisons.solvers import SOLVERS, Task
from genalpha import Mechanism, integrate
from genalpha.mechanisms import catalogue
from genalpha.schemes import SCHEMES

STEP = 1e-3
STEPS, QUICK_STEPS = 2000, 500
TARGET = 1.0
#: The gravity of `simple_pendulum`; its mass and length are 1.
GRAVITY = 9.81
#: The kinds of functions.
CALLBACKS, PLAIN = "mechanism's callbacks", "plain functions"
#: How far everybody may be from the true position: it is the same pendulum.
AGREEMENT = 1e-4

Array = np.ndarray
Label = tuple[str, str]


class End(NamedTuple):
    """How a run ends: iterations per step, and the position."""

    iterations: float
    q: Array


class Known(NamedTuple):
    """Iterations per step, and the error of the position at the end."""

    iterations: float
    error: float


#: Makes a run afresh, which is not timed.
Prepare = Callable[[], Callable[[], End]]


def run(plan: Plan) -> Iterator[Row]:
    """Measure ours and Exudyn's in rounds."""
    steps = QUICK_STEPS if plan.quick else STEPS
    mechanism = catalogue()["simple_pendulum"]()
    works: dict[Label, Prepare] = {
        (scheme, functions): _ours(of, scheme, steps)
        for functions, of in ((CALLBACKS, mechanism), (PLAIN, plain_mechanism(mechanism)))
        for scheme in SCHEMES
    }
    missing = SOLVERS["Exudyn"].missing()
    if missing is None:
        works.update(_theirs(mechanism, steps))
    times: dict[Label, list[float]] = {key: [] for key in works}
    ends: dict[Label, End] = {}
    for round_ in range(plan.repeats + 1):
        for key, prepare in works.items():
            plan.tell(f"exudyn: {', '.join(key)}, {round_} of {plan.repeats}")
            work = prepare()
            elapsed = seconds(lambda key=key, work=work: ends.update({key: work()}))  # type: ignore[misc]
            if round_:  # the first one fills caches
                times[key].append(elapsed / steps)
    medians = {key: statistics.median(values) for key, values in times.items()}
    yield from rows(medians, _checked(ends, mechanism, steps), missing)


def _checked(ends: dict[Label, End], mechanism: Mechanism, steps: int) -> dict[Label, Known]:
    """Return iterations and error of everybody.

    Raises
    ------
    ArithmeticError
        Somebody's pendulum ends elsewhere: speeds of different pendulums are no comparison.
    """
    assert mechanism.reference is not None
    true = mechanism.reference.motion(mechanism.t0 + steps * STEP).q
    known = {}
    for key, end in ends.items():
        error = float(np.abs(end.q - true).max())
        if not error <= AGREEMENT:
            raise ArithmeticError(f"{', '.join(key)}: the pendulum ends at {end.q}, not {true}")
        known[key] = Known(end.iterations, error)
    return known


def rows(
    times: dict[Label, float], known: dict[Label, Known], missing: str | None
) -> Iterator[Row]:
    """Return a row per solver; ours have ratios to the fastest of Exudyn's with such functions."""
    for key, found in times.items():
        peers = (t for k, t in times.items() if k[0] == "Exudyn" and k[1].startswith(key[1]))
        fastest = min(peers, default=None)
        values: dict[str, float | str | None] = {
            "µs/step": 1e6 * found,
            "it/step": known[key].iterations,
            "error": known[key].error,
        }
        targets = {}
        if key[0] != "Exudyn" and fastest is not None:
            values["ratio"] = found / fastest
            if key[0] == next(iter(SCHEMES)):
                values["target"] = targets["ratio"] = TARGET
        yield Row("exudyn", key, values, targets)
    if missing is not None:
        yield Row("exudyn", ("Exudyn", "–"), {}, {}, missing)


def _ours(mechanism: Mechanism, scheme: str, steps: int) -> Prepare:
    t_end = mechanism.t0 + steps * STEP

    def work() -> End:
        solution = integrate(mechanism, t_end, scheme, h=STEP, t_eval=[t_end])
        cost = solution.statistics
        return End(cost.nniters / cost.nsteps, solution.q[-1])

    return lambda: work


def _theirs(mechanism: Mechanism, steps: int) -> dict[Label, Prepare]:
    """Return Exudyn's variants."""
    times = np.array([mechanism.t0, mechanism.t0 + steps * STEP])
    task = Task(mechanism, Form.MECHANISM, STEP, times)
    found: dict[Label, Prepare] = {}
    for functions, build in ((CALLBACKS, None), (PLAIN, plain_system)):
        for newton in ("full", "modified"):

            def prepare(
                build: Callable[[Mechanism], Any] | None = build, newton: str = newton
            ) -> Callable[[], End]:
                system, settings = SOLVERS["Exudyn"].prepare(task)
                settings.timeIntegration.newton.useModifiedNewton = newton == "modified"
                system = build(mechanism) if build else system
                return lambda: _solve(system, settings, steps)

            found["Exudyn", f"{functions}, {newton} Newton"] = prepare
    return found


def _solve(system: Any, settings: Any, steps: int) -> End:
    if not system.SolveDynamic(settings):
        raise ArithmeticError("Exudyn's SolveDynamic failed")
    iterations = float(system.sys["dynamicSolver"].it.newtonStepsCount) / steps
    return End(iterations, np.array(system.systemData.GetODE2Coordinates()))


def plain_mechanism(mechanism: Mechanism) -> Mechanism:
    """Return the pendulum with functions of plain numbers, the same ones as in `plain_system`."""

    def constraint(t: float, q: Any) -> list[float]:
        x, y = q.tolist()
        return [0.5 * (x * x + y * y - 1.0)]

    def rate(t: float, q: Any, v: Any) -> list[float]:
        (x, y), (vx, vy) = q.tolist(), v.tolist()
        return [x * vx + y * vy]

    def stiffness(t: float, q: Any, v: Any, vdot: Any, lam: Any, psi: Any) -> list[list[float]]:
        tension = float(lam[0])
        return [[tension, 0.0], [0.0, tension]]

    return Mechanism(
        mass=np.eye(2),
        force=lambda t, q, v: [0.0, -GRAVITY],
        q0=mechanism.q0,
        v0=mechanism.v0,
        holonomic=constraint,
        holonomic_jacobian=lambda t, q: [q.tolist()],
        holonomic_rate=rate,
        stiffness=stiffness,
        damping=lambda t, q, v, vdot, lam, psi: np.zeros((2, 2)),
        name="plain pendulum",
    )


def plain_system(mechanism: Mechanism) -> Any:
    """Return the pendulum with user functions of plain numbers, the fastest that Exudyn takes."""
    exu, items = (importlib.import_module(x) for x in ("exudyn", "exudyn.itemInterface"))
    mbs = exu.SystemContainer().AddSystem()
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0, 0.0],
            initialCoordinates=mechanism.q0,
            initialCoordinates_t=mechanism.v0,
            numberOfODE2Coordinates=2,
        )
    )
    mbs.AddObject(
        items.ObjectGenericODE2(
            nodeNumbers=[node],
            massMatrix=_matrix(exu, np.eye(2)),
            forceUserFunction=lambda mbs, t, item, q, v: [0.0, -GRAVITY],
        )
    )
    ground = mbs.AddNode(items.NodePointGround())
    markers = [mbs.AddMarker(items.MarkerNodeCoordinates(nodeNumber=x)) for x in (ground, node)]

    def constraint(mbs: Any, t: float, item: int, q: Any, v: Any, rate: bool) -> list[float]:
        if rate:
            return [q[0] * v[0] + q[1] * v[1]]
        return [0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)]

    def gradient(mbs: Any, t: float, item: int, q: Any, v: Any, rate: bool) -> Any:
        return _matrix(exu, [[q[0], q[1]]])

    mbs.AddObject(
        items.CoordinateVectorConstraint(
            markerNumbers=markers,
            scalingMarker0=[],
            scalingMarker1=np.zeros((1, 2)),
            constraintUserFunction=constraint,
            jacobianUserFunction=gradient,
        )
    )
    mbs.Assemble()
    return mbs


def _matrix(exu: Any, values: Any) -> Any:
    made = exu.MatrixContainer()
    made.SetWithDenseMatrix(values, useDenseMatrix=True)
    return made
