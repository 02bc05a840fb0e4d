"""Many runs over parameters or starts, side by side: in processes, in threads, or by Dask."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import as_completed as completed
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genalpha.driver import forks
from genalpha.driver.motions import Motions
from genalpha.driver.solution import Solution
from genalpha.driver.task import Outcome, Portion, Task, Values, into
from genalpha.errors import InvalidOptionError
from genalpha.kernels import Native
from genalpha.model import Mechanism
from genalpha.model.callbacks import Constant
from genalpha.model.given import Given
from genalpha.model.table import TABLE

Array = np.ndarray

MODES = ("auto", "forks", "threads", "processes", "serial")
#: Times at which results are kept, if nobody says which.
TIMES = 101
#: Each worker gets its runs in about so many portions; where a portion is only numbers, in more.
PORTIONS, MANY = 16, 64
#: In the end a portion is this part of what each worker has left, so that all are done together.
LAST = 8


@dataclass(frozen=True)
class Sweep:
    """What came out of many runs; the first axis of all arrays is the run.

    Attributes
    ----------
    parameters : dict of str to (k, ...) array
        What was different in the runs.
    t : (s,) array
        Times, the same for all.
    q, v, vdot : (k, s, n) array
        Positions, velocities, accelerations; like the following, NaN from where a run has failed.
    lam, psi : (k, s, m), (k, s, l) array
        Multipliers of the holonomic and nonholonomic constraints.
    z : (k, s, r) array
        First-order states.
    values : (k, ...) array or None
        What `measure` has returned; NaN for runs that have failed.
    failures : dict of int to str
        Why runs have failed, by their numbers.
    mode : str
        How they ran: "forks", "threads", "processes", "serial" or "dask".
    """

    parameters: dict[str, Array]
    t: Array
    q: Array
    v: Array
    vdot: Array
    lam: Array
    psi: Array
    z: Array
    values: Array | None
    failures: dict[int, str] = field(repr=False)
    mode: str

    def __len__(self) -> int:
        return len(self.q)

    @property
    def succeeded(self) -> Array:
        """Which runs have not failed, shape (k,)."""
        good = np.ones(len(self), dtype=bool)
        good[list(self.failures)] = False
        return good


def sweep(
    mechanism: Mechanism | Callable[..., Mechanism],
    parameters: Mapping[str, ArrayLike],
    t_final: float | tuple[float, float],
    *,
    t_eval: ArrayLike | None = None,
    measure: Callable[[Solution], Any] | None = None,
    mode: str = "auto",
    workers: int | None = None,
    client: Any = None,
    progress: bool = False,
    **options: Any,
) -> Sweep:
    """Integrate a mechanism many times, over parameters or starts.

    Parameters
    ----------
    mechanism : Mechanism or callable(**values) -> Mechanism
        A mechanism from formulas gets the values by `with_parameters`, any mechanism a start
        ("q0", "v0", "z0", "t0") by `replace`; or a function makes it from the values.
    parameters : mapping of str to (k, ...) array_like
        Values for each of the k runs, by name.
    t_final : float or (float, float)
    t_eval : (s,) array_like, optional
        Times at which the motions are kept; default 101 from start to end.
    measure : callable(Solution) -> number or array, optional
        What else is to be kept of each run.
    mode : {"auto", "forks", "threads", "processes", "serial"}, optional
        "forks" are processes that are forked from this one, so that nothing has to be picklable;
        "processes" are started afresh, and get everything pickled; "threads" run side by side while
        steps are taken in machine code, with C functions and equal steps (`h`). "auto" (default):
        if the first mechanism's callbacks are C functions (from formulas, `compiled`, or the user's
        own), forks on Linux where no other thread of Python is running, and threads elsewhere;
        otherwise processes.
    workers : int, optional
        Default: one per core.
    client : distributed.Client or str, optional
        A Dask client, or the address of its scheduler, which then runs everything.
    progress : bool, optional
        Whether to show on standard error how many runs are done. Default False.
    **options
        Of `integrate`: scheme, h, rtol, ...

    Returns
    -------
    Sweep
        Runs that fail do not stop the others; see `Sweep.failures`.

    Raises
    ------
    InvalidOptionError
        All runs refuse the arguments, for the same reasons.

    Examples
    --------
    >>> import numpy as np
    >>> from genalpha import Mechanism, sweep
    >>> def pendulum(length):
    ...     return Mechanism(force=lambda t, q, v: np.array([0.0, -9.81]), q0=[length, 0],
    ...                      v0=[0, 0], holonomic=lambda t, q: q @ q - length**2)
    >>> runs = sweep(pendulum, {"length": [0.5, 1.0, 2.0]}, 1.0, h=0.01, mode="serial")
    >>> runs.q.shape
    (3, 101, 2)
    """
    given = Given("sweep")
    made: Any = mechanism
    measured: Any = measure
    if not isinstance(made, Mechanism) and not callable(made):
        given.fault("mechanism", mechanism, "a Mechanism, or a function that makes one")
    if measured is not None and not callable(measured):
        given.fault("measure", measure, "a function of a Solution")
    if mode not in MODES:
        given.fault("mode", mode, f"one of {', '.join(map(repr, MODES))}")
    elif mode == "forks" and not forks.POSSIBLE:
        given.fault("mode", mode, "another one: this system cannot fork")
    if workers is not None and not (isinstance(workers, int) and workers > 0):
        given.fault("workers", workers, "a positive whole number, or None")
    columns = _columns(given, parameters)
    given.check()
    count = len(next(iter(columns.values())))
    each = [{key: _plain(x[i]) for key, x in columns.items()} for i in range(count)]
    task = Task(mechanism, t_final, np.zeros(0), options, measure)
    first = task.made(each[0])
    times = _times(first, t_final, t_eval)
    task = Task(mechanism, t_final, times, options, measure)
    number = min(workers or os.cpu_count() or 1, count)
    mode = "dask" if client is not None else _mode(mode, number, first, task)
    motions = Motions(count, times.size, first, shared=mode == "forks")
    with _display(progress, count) as show:
        if client is not None:
            found = _by_dask(client, task, each, motions, show)
        else:
            found = _here(mode, number, task, each, motions, show)
    refused = {x.faults for x in found.values()}
    if len(refused) == 1 and () not in refused:  # by all runs alike: it is the call that is wrong
        raise InvalidOptionError("sweep", list(*refused))
    failures = {i: found[i].failure for i in sorted(found) if found[i].failure}
    q, v, vdot, lam, psi, z = motions.filled()
    return Sweep(columns, times, q, v, vdot, lam, psi, z, _measured(found), failures, mode)


def _columns(given: Given, parameters: Any) -> dict[str, Array]:
    """Return the values of all runs, by name; as many of each."""
    if not isinstance(parameters, Mapping) or not parameters:
        given.fault("parameters", parameters, "a mapping of names to values for each run")
        return {}
    columns = {str(key): np.asarray(x) for key, x in parameters.items()}
    lengths = {key: len(x) if x.ndim else 0 for key, x in columns.items()}
    if len(set(lengths.values())) > 1 or not all(lengths.values()):
        said = ", ".join(f"{key}: {length}" for key, length in lengths.items())
        given.faults.append(
            f"parameters need as many values of each, one for every run; there are {said} "
            "(np.meshgrid and ravel make all combinations)"
        )
    return columns


def _plain(x: Any) -> Any:
    """Return a value as a user would write it."""
    return x.item() if np.ndim(x) == 0 and isinstance(x, np.generic) else x


def _times(o: Mechanism, t_final: Any, t_eval: ArrayLike | None) -> Array:
    if t_eval is not None:
        return np.atleast_1d(np.asarray(t_eval, dtype=float))
    start, end = t_final if np.ndim(t_final) else (o.t0, t_final)
    return np.linspace(start, end, TIMES)


def is_native(o: Mechanism) -> bool:
    """Tell whether nothing of a mechanism is Python: all that is given are C functions."""
    given = [getattr(o, key) for key in TABLE if key in o.given or key in ("mass", "force")]
    return not o.n_z and all(isinstance(x, (Native, Constant)) for x in given)


def _mode(mode: str, workers: int, first: Mechanism, task: Task) -> str:
    """Return how to run here."""
    if workers == 1:
        return "serial"
    if mode != "auto":
        return mode
    if is_native(first):
        return "forks" if forks.is_safe() else "threads"
    try:
        pickle.dumps(task)
    except Exception as error:
        warnings.warn(
            f"sweep runs in one process, because its functions cannot be sent to others ({error}): "
            "define them at the top level of a module, or compile the mechanism"
            + (", or choose mode='forks'" if forks.is_safe() else ""),
            RuntimeWarning,
            stacklevel=3,
        )
        return "serial"
    return "processes"


def _here(
    mode: str,
    workers: int,
    task: Task,
    each: list[Values],
    motions: Motions,
    show: Callable[[int], None],
) -> dict[int, Outcome]:
    """Run on this machine."""
    found: dict[int, Outcome] = {}
    work = partial(task.run_into, motions, each)
    if mode == "serial":
        _collect(found, (work(range(i, i + 1)) for i in range(len(each))), show)
        return found
    if mode == "forks":
        numbers = _portions(range(len(each)), workers, MANY)
        with closing(forks.share_out(work, numbers, workers)) as done:
            _collect(found, done, show)
        return found
    with _executor(mode, workers) as pool:
        if mode == "threads":
            waiting = [pool.submit(work, x) for x in _portions(range(len(each)), workers, MANY)]
        else:
            portions = _portions(list(enumerate(each)), workers, PORTIONS)
            waiting = [pool.submit(task.run_all, x) for x in portions]
        results: Iterable[Portion] = (future.result() for future in completed(waiting))
        try:
            _collect(found, results if mode == "threads" else _put(motions, results), show)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _portions(all_of_them: Sequence[Any], workers: int, count: int) -> list[Any]:
    """Return parts of a sequence, at least `count` for each worker where it is long enough."""
    found, start = [], 0
    longest = len(all_of_them) // (workers * count)
    while left := len(all_of_them) - start:
        size = max(1, min(longest, left // (workers * LAST)))
        found.append(all_of_them[start : start + size])
        start += size
    return found


def _executor(mode: str, workers: int) -> Executor:
    if mode == "threads":
        return ThreadPoolExecutor(workers)
    # not fork: threads of BLAS do not survive it
    kind = "spawn" if sys.platform == "win32" else "forkserver"
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(kind))


def _by_dask(
    client: Any, task: Task, each: list[Values], motions: Motions, show: Callable[[int], None]
) -> dict[int, Outcome]:
    """Run where Dask's workers are."""
    distributed = importlib.import_module("distributed")
    own = isinstance(client, str)
    client = distributed.Client(client) if own else client
    found: dict[int, Outcome] = {}
    numbered = list(enumerate(each))
    workers = max(1, sum(client.nthreads().values()))
    portions = _portions(numbered, workers, PORTIONS)
    try:
        waiting = client.map(task.run_all, portions, pure=False)
        results = (future.result() for future in distributed.as_completed(waiting))
        _collect(found, _put(motions, results), show)
    finally:
        if own:
            client.close()
    return found


def _collect(
    found: dict[int, Outcome], results: Iterable[Portion], show: Callable[[int], None]
) -> None:
    for portion in results:
        found.update(portion)
        show(len(portion))


def _put(motions: Motions, results: Iterable[Portion]) -> Iterator[Portion]:
    """Put motions that were sent back where they belong."""
    for portion in results:
        yield [(i, into(motions, i, outcome)) for i, outcome in portion]


def _measured(found: dict[int, Outcome]) -> Array | None:
    """Return what was measured in all runs, as one array."""
    measured = {i: x.measured for i, x in found.items() if x.measured is not None}
    if not measured:
        return None
    values = np.full((len(found), *next(iter(measured.values())).shape), np.nan)
    for i, x in measured.items():
        values[i] = x
    return values


@contextmanager
def _display(wanted: bool, count: int) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many runs have just been done."""
    if not wanted:
        yield lambda more: None
        return
    try:
        tqdm = importlib.import_module("tqdm").tqdm
        # no thread that looks after the bar: beside one, processes cannot be forked safely
        quiet = type("Bar", (tqdm,), {"monitor_interval": 0})
        bar = quiet(total=count, desc="sweep", unit="run")
    except ImportError:
        done = 0

        def show(more: int) -> None:
            nonlocal done
            done += more
            print(f"\rsweep: {done} of {count} runs", end="", file=sys.stderr, flush=True)

        yield show
        print(file=sys.stderr, flush=True)
        return
    with bar:
        yield bar.update
