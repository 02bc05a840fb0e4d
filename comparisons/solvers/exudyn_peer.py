"""Exudyn, where it is installed: generalized-alpha, index 3, on the mechanism's own callbacks."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from comparisons.names import Counter, Form, Setting
from comparisons.solvers.base import Array, Outcome, Solver, Steps, Task, Trajectory, register


@register
class Exudyn(Solver):
    """Exudyn with Python user functions: the mechanism as one generic object and constraint.

    The parameters are those of genalpha's default, rho_inf = 0.8; Newton's iteration is Exudyn's
    modified one with its own tolerance.
    """

    name = "Exudyn"
    setting = Setting.STEP
    forms = (Form.MECHANISM,)
    order = 2
    color = "#222222"

    def missing(self) -> str | None:
        """Tell whether it is installed."""
        return None if importlib.util.find_spec("exudyn") else "exudyn is not installed"

    def prepare(self, task: Task) -> tuple[Any, Any]:
        """Return the assembled system and the settings."""
        if task.mechanism.n_psi:
            raise NotImplementedError("Exudyn has no nonholonomic constraint by user function")
        if task.mechanism.n_z:
            raise NotImplementedError("states by user functions are not entered here")
        exu, items = (importlib.import_module(x) for x in ("exudyn", "exudyn.itemInterface"))
        mbs = exu.SystemContainer().AddSystem()
        _build(task, mbs, exu, items)
        settings = exu.SimulationSettings()
        steps = settings.timeIntegration
        steps.startTime, steps.endTime = task.mechanism.t0, task.t_final
        steps.numberOfSteps = round((task.t_final - task.mechanism.t0) / task.value)
        steps.generalizedAlpha.spectralRadius = 0.8
        steps.newton.useModifiedNewton = True
        steps.verboseMode = 0
        settings.solution.file.write = False
        return mbs, settings

    def solve(self, task: Task, prepared: tuple[Any, Any]) -> None:
        """Integrate."""
        mbs, settings = prepared
        if not mbs.SolveDynamic(settings):
            raise ArithmeticError("Exudyn's SolveDynamic failed")

    def read(self, task: Task, prepared: tuple[Any, Any], raw: None) -> Outcome:
        """Integrate again and keep every step, which costs too much to be timed."""
        done = prepared[0].sys["dynamicSolver"].it
        mbs, settings = self.prepare(task)
        kept: list[tuple[float, Array, Array, Array, Array]] = []

        def keep(system: Any, t: float) -> bool:
            kept.append((t, *_state(system)))
            return True

        mbs.SetPreStepUserFunction(keep)
        self.solve(task, (mbs, settings))
        kept.append((task.t_final, *_state(mbs)))
        # the function is told the end of the step that begins: the times are those one before
        times = np.array([task.mechanism.t0, *(entry[0] for entry in kept[:-1])])
        q, v, vdot, lam = (np.array(part) for part in list(zip(*kept, strict=True))[1:])
        at = np.searchsorted(times, task.times - 1e-9 * task.t_final)
        psi = np.zeros((at.size, 0))
        samples = Trajectory(times[at], q[at], v[at], vdot[at], lam[at], psi)
        counters: dict[Counter, int | None] = {
            Counter.STEPS: times.size - 1,
            Counter.REJECTED: None,
            Counter.RESIDUALS: None,
            Counter.JACOBIANS: int(done.newtonJacobiCount),
            Counter.FACTORIZATIONS: int(done.newtonJacobiCount),
            Counter.ITERATIONS: int(done.newtonStepsCount),
        }
        return Outcome(samples, Steps(times, q, v), counters)


def _state(mbs: Any) -> tuple[Array, Array, Array, Array]:
    data = mbs.systemData
    return (
        np.array(data.GetODE2Coordinates()),
        np.array(data.GetODE2Coordinates_t()),
        np.array(data.GetODE2Coordinates_tt()),
        np.array(data.GetAECoordinates()),
    )


def _build(task: Task, mbs: Any, exu: Any, items: Any) -> None:
    """Enter the mechanism: one node with all coordinates, one object, one constraint."""
    o = task.mechanism
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=np.zeros(o.n_q),
            initialCoordinates=o.q0,
            initialCoordinates_t=o.v0,
            numberOfODE2Coordinates=o.n_q,
        )
    )

    def force(mbs: Any, t: float, item: int, q: Any, v: Any) -> Array:
        return o.force(t, np.array(q), np.array(v))

    def mass(mbs: Any, t: float, item: int, q: Any, v: Any) -> Any:
        return _matrix(exu, o.mass(t, np.array(q)))

    if o.constant_mass is not None:
        given = {"massMatrix": _matrix(exu, o.constant_mass)}
    else:
        given = {"massMatrixUserFunction": mass}
    mbs.AddObject(items.ObjectGenericODE2(nodeNumbers=[node], forceUserFunction=force, **given))
    if o.n_lam:
        _constrain(task, mbs, exu, items, node)
    mbs.Assemble()


def _constrain(task: Task, mbs: Any, exu: Any, items: Any, node: int) -> None:
    o = task.mechanism

    def constraint(mbs: Any, t: float, item: int, q: Any, v: Any, velocity_level: bool) -> Array:
        q = np.array(q)
        return o.holonomic_rate(t, q, np.array(v)) if velocity_level else o.holonomic(t, q)

    def gradient(mbs: Any, t: float, item: int, q: Any, v: Any, velocity_level: bool) -> Any:
        return _matrix(exu, o.holonomic_jacobian(t, np.array(q)))

    ground = mbs.AddNode(items.NodePointGround())
    markers = [mbs.AddMarker(items.MarkerNodeCoordinates(nodeNumber=x)) for x in (ground, node)]
    mbs.AddObject(
        items.CoordinateVectorConstraint(
            markerNumbers=markers,
            scalingMarker0=[],
            scalingMarker1=np.zeros((o.n_lam, o.n_q)),
            constraintUserFunction=constraint,
            jacobianUserFunction=gradient,
        )
    )


def _matrix(exu: Any, values: Any) -> Any:
    made = exu.MatrixContainer()
    dense = values.toarray() if hasattr(values, "toarray") else np.array(values)
    made.SetWithDenseMatrix(dense, useDenseMatrix=True)
    return made
