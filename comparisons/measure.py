"""What one run is worth: errors, drift, energy, work; and, apart from that, its time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from comparisons.cases import CASES
from comparisons.counting import counted_mechanism
from comparisons.names import Drift, Form, Status, Variable
from comparisons.plugins import load
from comparisons.record import Extent, Key, Record
from comparisons.reference import Samples
from comparisons.solvers import SOLVERS, Outcome, Steps, Task
from genalpha.model import Mechanism

Array = np.ndarray

#: Steps at which drift is measured, at most; evenly thinned out, the last one always kept.
MOST_STEPS = 2000
#: Points of the histories in a record.
MOST_POINTS = 120


@dataclass(frozen=True)
class Job:
    """A run as it is sent to a worker: names and numbers only.

    Parameters
    ----------
    key : Key
    reference : Variable -> array
        The true motion at the sample times.
    plugins : tuple of str
        Modules to import first: they register further solvers and mechanisms.
    """

    key: Key
    reference: Samples
    plugins: tuple[str, ...] = ()

    def task(self, mechanism: Mechanism) -> Task:
        """Return what the solver is asked."""
        case = CASES[self.key.mechanism]
        return Task(mechanism, Form(self.key.form), self.key.value, case.times(mechanism))


def make(job: Job) -> None:
    """Make the mechanism, so that what is kept of it for the next time is there."""
    _load(job)
    CASES[job.key.mechanism].make()


def measure(job: Job) -> Record:
    """Run once, on a mechanism that counts, and return the record, without times."""
    _load(job)
    mechanism = CASES[job.key.mechanism].make()
    counted, calls = counted_mechanism(mechanism)
    task, solver = job.task(counted), SOLVERS[job.key.solver]
    prepared = solver.prepare(task)
    calls.clear()
    raw = solver.solve(task, prepared)
    made = dict(calls)
    outcome = solver.read(task, prepared, raw)
    record = blank_record(job.key)
    fault = _fault(task, outcome)
    if fault:
        return replace(record, status=Status.FAILED, reason=fault, calls=made)
    drifts = _drifts(mechanism, outcome.steps)
    return replace(
        record,
        status=Status.OK,
        error=_errors(outcome, job.reference),
        scale={x: float(np.abs(values).max()) for x, values in job.reference.items()},
        drift={x: Extent(float(y.max()), float(y[-1])) for x, y in drifts.items()},
        energy=_energy_error(mechanism, outcome, job.reference),
        counters={x: None if n is None else int(n) for x, n in outcome.counters.items()},
        calls=made,
        history=_history(outcome.steps, drifts),
    )


def time_run(job: Job, repeats: int, budget: float) -> dict[str, Any]:
    """Return the median wall and CPU time of serial runs without counting.

    Parameters
    ----------
    job : Job
    repeats : int
        At most so many runs, at least one.
    budget : float
        Seconds after which no further run begins.
    """
    _load(job)
    wall: list[float] = []
    cpu: list[float] = []
    begin = time.perf_counter()
    while not wall or (len(wall) < repeats and time.perf_counter() - begin < budget):
        task, solver = job.task(CASES[job.key.mechanism].make()), SOLVERS[job.key.solver]
        prepared = solver.prepare(task)
        wall_0, cpu_0 = time.perf_counter(), time.thread_time()
        solver.solve(task, prepared)
        wall.append(time.perf_counter() - wall_0)
        cpu.append(time.thread_time() - cpu_0)
    return {
        "wall_time": statistics.median(wall),
        "cpu_time": statistics.median(cpu),
        "repeats": len(wall),
    }


def blank_record(key: Key) -> Record:
    """Return a record that says only what was to be run, here and now."""
    return Record(*key, t_final=CASES[key.mechanism].t_final, status=Status.FAILED)


def _load(job: Job) -> None:
    for plugin in job.plugins:
        load(plugin)


def _fault(task: Task, outcome: Outcome) -> str:
    """Return what is wrong with a result that the solver takes for good."""
    samples = outcome.samples
    if samples.t.shape != task.times.shape or not np.allclose(samples.t, task.times):
        return f"the result has {samples.t.size} of {task.times.size} sample times"
    for name, values in samples._asdict().items():
        if not np.isfinite(values).all():
            return f"the result is not finite: {name}"
    return ""


def _errors(outcome: Outcome, reference: Samples) -> dict[Variable, Extent]:
    errors = {}
    for variable, true in reference.items():
        error = np.abs(getattr(outcome.samples, str(variable)) - true).max(axis=1)
        errors[variable] = Extent(float(error.max()), float(error[-1]))
    return errors


def _drifts(mechanism: Mechanism, steps: Steps) -> dict[Drift, Array]:
    """Return the largest residual of each kind of constraint at the steps (thinned out)."""
    residuals: dict[Drift, Callable[..., Array]] = {}
    if mechanism.n_lam:
        residuals[Drift.G] = lambda t, q, v, *z: mechanism.holonomic(t, q)
        residuals[Drift.G_RATE] = lambda t, q, v, *z: mechanism.holonomic_rate(t, q, v)
    if mechanism.n_psi:
        residuals[Drift.K] = mechanism.nonholonomic
    known = steps if mechanism.n_z else steps[:3]
    states = [tuple(x[i] for x in known) for i in _thinned(len(steps.t), MOST_STEPS)]
    return {
        kind: np.array([np.abs(of(*state)).max() for state in states])
        for kind, of in residuals.items()
    }


def _energy_error(mechanism: Mechanism, outcome: Outcome, reference: Samples) -> Extent | None:
    if not mechanism.energy or Variable.Q not in reference or Variable.V not in reference:
        return None
    s, true = outcome.samples, zip(reference[Variable.Q], reference[Variable.V], strict=True)
    errors = [
        abs(mechanism.energy(t, q, v) - mechanism.energy(t, q_true, v_true))
        for t, q, v, (q_true, v_true) in zip(s.t, s.q, s.v, true, strict=True)
    ]
    return Extent(float(max(errors)), float(errors[-1]))


def _history(steps: Steps, drifts: dict[Drift, Array]) -> dict[str, list[float]]:
    """Thin out the run for a record: of each bin its last time, largest drift, smallest step."""
    measured = _thinned(len(steps.t), MOST_STEPS)
    times = steps.t[measured]
    sizes = np.diff(steps.t, prepend=2.0 * steps.t[0] - steps.t[1])[measured]
    bins = np.array_split(np.arange(len(times)), min(len(times), MOST_POINTS))
    series = {"t": [times[b[-1]] for b in bins], "h": [sizes[b].min() for b in bins]}
    series.update({str(kind): [values[b].max() for b in bins] for kind, values in drifts.items()})
    return {name: [float(f"{x:.4g}") for x in values] for name, values in series.items()}


def _thinned(size: int, most: int) -> Array:
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))
