"""The runs of a race: each solver and formulation climbs from coarse to fine until it is there."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from comparisons.bench.reach import Point, Reach, needed, time_to_reach
from comparisons.bench.timing import seconds
from comparisons.cases import CASES, Case
from comparisons.measure import Job
from comparisons.names import Form, Setting, Status, Variable
from comparisons.record import Key, Record
from comparisons.reference import Samples
from comparisons.runner import attempt
from comparisons.solvers import SOLVERS
from comparisons.worker import Worker

PLUGINS = ("comparisons.bench.race_cases",)
TOLERANCES = tuple(10.0**-i for i in range(1, 10))
#: Step sizes halve so often.
LEVELS = 11
#: A series ends after so many failures in a row.
PATIENCE = 3


@dataclass
class Climb:
    """The runs of one solver on one formulation, coarse to fine, and their times.

    Attributes
    ----------
    solver, form
        What runs.
    records : list of Record
        All runs, failures too.
    times : index in `good` -> seconds of each timed run
    """

    solver: str
    form: Form
    records: list[Record]
    times: dict[int, list[float]] = field(default_factory=dict)

    @property
    def good(self) -> list[Record]:
        """The runs that went well."""
        return [record for record in self.records if record.ok]

    @property
    def errors(self) -> list[float]:
        """The errors of the good runs."""
        return [_error(record) for record in self.good]

    @property
    def cut_off(self) -> bool:
        """Whether the time limit ended it before it was there."""
        return self.records[-1].status is Status.TIME_LIMIT

    @property
    def label(self) -> str:
        """The solver, and how it runs."""
        if self.form is Form.MECHANISM:
            fixed = SOLVERS[self.solver].setting is Setting.STEP
            return f"{self.solver}, fixed steps" if fixed else self.solver
        return f"{self.solver}, {self.form}"

    def reach(self, target: float) -> Reach | None:
        """Return the time to an error, from the medians of the timed runs."""
        points = [
            Point(error, statistics.median(self.times[i]))
            for i, error in enumerate(self.errors)
            if i in self.times
        ]
        return time_to_reach(points, target)

    def timed_record(self, index: int) -> Record:
        """Return a good run with its median time."""
        times = self.times[index]
        return replace(self.good[index], cpu_time=statistics.median(times), repeats=len(times))


def _error(record: Record) -> float:
    error = record.relative_error(Variable.Q)
    return float("inf") if error is None else error


def values(
    case: Case, setting: Setting, tolerances: tuple[float, ...] = TOLERANCES
) -> tuple[float, ...]:
    """Return the ladder of a setting: tolerances by decades, steps by halves from a coarse one."""
    if setting is Setting.TOLERANCE:
        return tolerances
    span = case.t_final - case.make().t0
    return tuple(span / (max(case.steps // 8, 5) * 2**i) for i in range(LEVELS))


class Runner:
    """Runs each run in a process apart, which it may hang or crash; times what went well here.

    Times are not taken in that process: the timer that ends it (ITIMER_PROF) makes Linux count
    CPU time in ticks of 4 ms.

    Parameters
    ----------
    case : Case
    reference : Samples
        The true motion at the sample times.
    limit : float
        Seconds of CPU time of one run, which may be changed; Assimulo's solvers, which run twice to
        show their steps, have twice of it.
    """

    def __init__(self, case: Case, reference: Samples, limit: float) -> None:
        self._case, self._reference, self.limit = case, reference, limit
        self._worker = Worker()

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def climb(
        self,
        solver: str,
        form: Form,
        finest: float,
        tolerances: tuple[float, ...] = TOLERANCES,
    ) -> Climb:
        """Run from coarse to fine until the error is below `finest`, or it makes no sense."""
        setting = SOLVERS[solver].setting
        limit = self.limit * (1.0 if form is Form.MECHANISM else 2.0)
        records: list[Record] = []
        for value in values(self._case, setting, tolerances):
            key = Key(self._case.name, solver, form, setting, value)
            record = attempt(self._worker, self._job(key), limit)
            records.append(record)
            if record.status is Status.TIME_LIMIT or (record.ok and _error(record) <= finest):
                break
            if len(records) >= PATIENCE and not any(r.ok for r in records[-PATIENCE:]):
                break
        return Climb(solver, form, records)

    def time(self, climb: Climb, index: int) -> float:
        """Return the CPU time of a good run, run once more."""
        solver, mechanism = SOLVERS[climb.solver], self._case.make()
        task = self._job(climb.good[index].key).task(mechanism)
        prepared = solver.prepare(task)
        return seconds(lambda: solver.solve(task, prepared))

    def _job(self, key: Key) -> Job:
        return Job(key, self._reference, PLUGINS)


def series(solvers: Sequence[str]) -> Iterator[tuple[str, Form]]:
    """Return solvers and formulations that can run here."""
    for name in solvers:
        if SOLVERS[name].missing() is None:
            for form in SOLVERS[name].forms:
                yield name, form


def time_all(
    runner: Runner, climbs: Sequence[Climb], targets: Sequence[float], repeats: int
) -> None:
    """Time every run that decides about a target, in rounds, so that all see the same machine."""
    for _ in range(repeats):
        for climb in climbs:
            for index in needed(climb.errors, targets):
                climb.times.setdefault(index, []).append(runner.time(climb, index))


def warm_up(runner: Runner, climbs: Sequence[Climb]) -> None:
    """Run the coarsest good run of each climb, so that nobody is timed while it is loaded."""
    for climb in climbs:
        if climb.good:
            runner.time(climb, 0)


def case_of(name: str) -> Case:
    """Return a case of the comparisons or of the race."""
    if name not in CASES:
        importlib.import_module(PLUGINS[0])
    return CASES[name]
