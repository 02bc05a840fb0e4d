"""A grid of runs: which are left to do, done one by one or side by side, each kept at once."""

from __future__ import annotations

import contextlib
import importlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from comparisons.cases import CASES
from comparisons.environment import same_code
from comparisons.measure import Job, blank_record
from comparisons.names import Form, Setting, Status
from comparisons.record import Key, Record, Series
from comparisons.reference import Samples, sampled_reference
from comparisons.solvers import SOLVERS
from comparisons.store import Store
from comparisons.worker import JobCrashedError, JobFailedError, Worker


@dataclass(frozen=True)
class Choice:
    """Which part of the grid; an empty tuple is everything.

    Attributes
    ----------
    values : Setting -> values of that setting, instead of the cases' own
    stride : only every so many-th value
    """

    mechanisms: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    values: dict[Setting, tuple[float, ...]] | None = None
    stride: int = 1

    def keys(self) -> list[Key]:
        """Return the runs, mechanism by mechanism."""
        found = []
        for case in CASES.values():
            if self.mechanisms and case.name not in self.mechanisms:
                continue
            for solver in SOLVERS.values():
                if (self.solvers and solver.name not in self.solvers) or solver.missing():
                    continue
                values = self._values(case.values(solver.setting), solver.setting)
                for form in solver.forms:
                    if not self.forms or form in self.forms:
                        found += [
                            Key(case.name, solver.name, form, solver.setting, x) for x in values
                        ]
        return found

    def _values(self, default: tuple[float, ...], setting: Setting) -> tuple[float, ...]:
        chosen = default if self.values is None else self.values.get(setting, ())
        return chosen[:: self.stride]


@dataclass(frozen=True)
class Plan:
    """How to run a grid.

    Attributes
    ----------
    output : Path
        Folder of records and cached references.
    limit : float
        Seconds of CPU time after which one run is stopped.
    repeats, budget
        See `comparisons.measure.time_run`; repeats = 0: no timing.
    jobs : int
        Processes for accuracy; timings are always serial.
    dask : str
        Address of a Dask scheduler to measure accuracy on; empty: here.
    any_code : bool
        Also keep records that another version of the code has made.
    plugins : tuple of str
        Modules that register solvers and mechanisms.
    """

    output: Path
    limit: float = 20.0
    repeats: int = 3
    budget: float = 1.0
    jobs: int = 1
    dask: str = ""
    any_code: bool = False
    plugins: tuple[str, ...] = ()

    @property
    def store(self) -> Store[Record]:
        """Where the records are."""
        return Store(self.output / "records.jsonl", Record)


#: Told of every run: what runs now, and the record when it is done.
Listener = Callable[[Key, Record | None], None]


def silent(key: Key, record: Record | None) -> None:
    """Listen to nothing."""


def run(plan: Plan, keys: Iterable[Key], listen: Listener = silent) -> list[Record]:
    """Run what is not done yet: accuracy first, then times; return all records of `keys`.

    Every record is written as soon as it is there, so that an interrupted run goes on later.
    """
    keys = list(keys)
    wanted = set(keys)
    usable = {r.key: r for r in plan.store.read() if r.key in wanted and _usable(r, plan.any_code)}
    todo = [key for key in keys if key not in usable]
    references = References(plan.output / "references")
    groups: dict[Series, list[Key]] = {}
    for key in todo:
        groups.setdefault(Series(*key[:4]), []).append(key)
    jobs = (
        [Job(key, references[key.mechanism], plan.plugins) for key in group]
        for group in groups.values()
    )
    with _spread(plan) as spread:
        for record in spread(jobs, listen):
            plan.store.append(record)
            usable[record.key] = record
            listen(record.key, record)
    if plan.repeats:
        untimed = [key for key in keys if usable[key].ok and usable[key].wall_time is None]
        for record in _timed(plan, [usable[key] for key in untimed], references, listen):
            plan.store.append(record)
            usable[record.key] = record
    return [usable[key] for key in keys]


def _usable(record: Record, any_code: bool) -> bool:
    return any_code or same_code(record.environment)


class References(dict[str, Samples]):
    """The true motions of mechanisms, each computed or read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, mechanism: str) -> Samples:
        self[mechanism] = sampled_reference(CASES[mechanism], self.folder)
        return self[mechanism]


def attempt(worker: Worker, job: Job, limit: float) -> Record:
    """Measure one run; whatever goes wrong becomes part of the record."""
    try:
        return worker.measure(job, limit)
    except JobFailedError as error:
        status, reason = Status.FAILED, str(error)
    except JobCrashedError as error:
        status, reason = Status.CRASHED, str(error)
    except TimeoutError as error:
        status, reason = Status.TIME_LIMIT, str(error)
    return replace(blank_record(job.key), status=status, reason=reason)


def attempt_series(
    worker: Worker, jobs: Sequence[Job], limit: float, listen: Listener = silent
) -> Iterator[Record]:
    """Measure a series, coarse to fine; what is finer than a run that took too long is not run."""
    too_long = ""
    for job in jobs:
        listen(job.key, None)
        if too_long:
            yield replace(blank_record(job.key), status=Status.TIME_LIMIT, reason=too_long)
            continue
        record = attempt(worker, job, limit)
        if record.status is Status.TIME_LIMIT:
            at = f"{job.key.setting.symbol} = {job.key.value:.1e}"
            too_long = f"not run: {record.reason} at {at}"
        yield record


def _timed(
    plan: Plan, records: list[Record], references: References, listen: Listener
) -> Iterator[Record]:
    worker = Worker()
    try:
        for record in records:
            listen(record.key, None)
            job = Job(record.key, references[record.mechanism], plan.plugins)
            limit = 3.0 * plan.limit + plan.budget
            try:
                times = worker.time_run(job, plan.repeats, plan.budget, limit)
            except (JobFailedError, JobCrashedError, TimeoutError):
                continue  # it went well before; it stays without times, to be tried again
            yield replace(record, **times)
    finally:
        worker.close()


Groups = Iterable[list[Job]]
Spread = Callable[[Groups, Listener], Iterator[Record]]


@contextlib.contextmanager
def _spread(plan: Plan) -> Iterator[Spread]:
    """Return the way in which series are run: serial, joblib or Dask."""
    if plan.dask:
        distributed = importlib.import_module("dask.distributed")  # optional, and untyped
        with distributed.Client(plan.dask) as client:
            yield lambda groups, listen: _on_dask(client, groups, plan.limit)
    elif plan.jobs > 1:
        yield lambda groups, listen: _on_joblib(plan.jobs, groups, plan.limit)
    else:
        worker = Worker()
        try:
            yield lambda groups, listen: itertools.chain.from_iterable(
                attempt_series(worker, jobs, plan.limit, listen) for jobs in groups
            )
        finally:
            worker.close()


def _on_joblib(processes: int, groups: Groups, limit: float) -> Iterator[Record]:
    joblib = importlib.import_module("joblib")
    parallel = joblib.Parallel(processes, return_as="generator_unordered", batch_size=1)
    for records in parallel(joblib.delayed(attempt_alone)(jobs, limit) for jobs in groups):
        yield from records


def _on_dask(client: Any, groups: Groups, limit: float) -> Iterator[Record]:
    futures = client.map(attempt_alone, list(groups), limit=limit, pure=False)
    for future in importlib.import_module("dask.distributed").as_completed(futures):
        yield from future.result()


def attempt_alone(jobs: list[Job], limit: float) -> list[Record]:
    """Measure a series in a process of joblib or Dask, with a worker of its own."""
    worker = Worker()
    try:
        return list(attempt_series(worker, jobs, limit))
    finally:
        worker.close()
