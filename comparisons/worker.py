"""A process that runs jobs, one after another, and can be killed when one takes too long.

Solvers of other people may hang in Fortran, end the process, or print; none of that reaches the
harness. The process has one BLAS thread, so that CPU time is wall time and no solver gains from
cores that another does not use. It works from any parent: the command line, joblib, Dask.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, BinaryIO

from comparisons.measure import Job, make, measure, time_run
from comparisons.record import Record
from comparisons.solvers import SOLVERS

READY = "ready"
#: Wall time allowed for a second of CPU time, on a busy machine or for a solver that sleeps.
PATIENCE = 5.0
#: Exit code of a process that has used up its CPU time.
OUT_OF_TIME = -int(getattr(signal, "SIGPROF", 0)) or None
#: Seconds in which a mechanism must be made; one from formulas takes some.
MAKING = 60.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class JobFailedError(Exception):
    """The solver raised an exception; this is its message."""


class JobCrashedError(Exception):
    """The solver took the process down."""


class Worker:
    """The parent's end: sends jobs, waits, kills."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._made: set[str] = set()

    def measure(self, job: Job, limit: float) -> Record:
        """Return the record of a run of at most `limit` CPU seconds; see `measure.measure`."""
        self._make(job)
        return self._call(("measure", job), limit)

    def time_run(self, job: Job, repeats: int, budget: float, limit: float) -> dict[str, Any]:
        """Return times; see `measure.time_run`."""
        self._make(job)
        return self._call(("time_run", job, repeats, budget), limit)

    def _make(self, job: Job) -> None:
        """Let the process make a mechanism for the first time, which is no part of a run."""
        if job.key.mechanism not in self._made:
            self._call(("make", job), MAKING)
            self._made.add(job.key.mechanism)

    def close(self) -> None:
        """End the process."""
        self._made.clear()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout, self._errors):
                if pipe is not None:
                    pipe.close()
            self._process = self._errors = None

    def _call(self, request: tuple[Any, ...], limit: float) -> Any:
        """Send a request and wait for its answer, which may take `limit` seconds of CPU time.

        Raises
        ------
        JobFailedError, JobCrashedError, TimeoutError
        """
        process = self._started()  # not counted: imports take seconds on a busy machine
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def kill() -> None:
            late.set()
            process.kill()

        alarm = threading.Timer(PATIENCE * limit, kill)
        alarm.start()
        try:
            pickle.dump((limit, *request), process.stdin)
            process.stdin.flush()
            kind, answer = pickle.load(process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            code = process.wait()
            self.close()
            if code == OUT_OF_TIME or late.is_set():
                raise TimeoutError(f"stopped after {limit:g} s") from error
            raise JobCrashedError(f"the process ended with code {code}") from error
        except BaseException:
            self.close()  # its answer would be taken for the next one's
            raise
        finally:
            alarm.cancel()
        if kind == "failed":
            raise JobFailedError(answer)
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
            root = str(Path(__file__).parents[1])
            paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "comparisons.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is the parent's to handle
                env={
                    **os.environ,
                    **dict.fromkeys(THREADS, "1"),
                    "PYTHONPATH": os.pathsep.join(paths),
                },
            )
            self._wait_for_start(self._process)
        return self._process

    def _wait_for_start(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        try:
            started = pickle.load(process.stdout) == READY
        except EOFError:
            started = False
        if not started:
            assert self._errors is not None
            self._errors.seek(0)
            told = self._errors.read().decode(errors="replace").strip()
            self.close()
            raise RuntimeError(f"the worker process did not start:\n{told}")


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more (the child's end)."""
    functions: dict[str, Callable[..., Any]] = {
        "make": make,
        "measure": measure,
        "time_run": time_run,
    }
    pickle.dump(READY, answers)
    answers.flush()
    while True:
        try:
            limit, name, *arguments = pickle.load(requests)
        except EOFError:
            return
        _end_after(limit)
        try:
            answer: tuple[str, Any] = ("done", functions[name](*arguments))
        except Exception as error:
            answer = ("failed", f"{type(error).__name__}: {_one_line(error)}")
        _end_after(0.0)
        pickle.dump(answer, answers)
        answers.flush()


def _end_after(seconds: float) -> None:
    """Let the system end this process after so much CPU time, in whatever language; 0: never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    # solvers print to file descriptor 1; the answers get one of their own
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for solver in SOLVERS.values():
        solver.missing()  # imports what the solver needs, before any clock runs
    serve(sys.stdin.buffer, private)
