"""Work shared out among processes that are forked from this one.

A forked process has all that this one has: nothing is imported anew, nothing has to be picklable
but results, and a script needs no `if __name__ == "__main__":`.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Portion = TypeVar("Portion")
Result = TypeVar("Result")

#: Whether the system can fork at all.
POSSIBLE = hasattr(os, "fork")


def is_safe() -> bool:
    """Tell whether a fork cannot leave a lock behind that nobody opens any more.

    Other threads of Python may hold one, those of a notebook for example. OpenBLAS ends its own
    threads before a fork; the libraries of macOS do not.
    """
    alone = threading.active_count() == 1 and not multiprocessing.current_process().daemon
    return POSSIBLE and sys.platform == "linux" and alone


def share_out(
    work: Callable[[Portion], Result], portions: Sequence[Portion], workers: int
) -> Generator[Result, None, None]:
    """Yield what `work` returns for each portion, in the order in which they are done.

    What it raises is raised here; then, at Ctrl-C, and if nobody wants the rest, the processes are
    ended at once.

    Raises
    ------
    RuntimeError
        A process has ended by itself, as one does in which a C function reads where it must not.
    """
    context: Any = multiprocessing.get_context("fork")
    processes: dict[Any, Any] = {}
    left = iter(portions)
    try:
        for portion in (next(left) for _ in range(min(workers, len(portions)))):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(work, theirs, [*processes, ours]), daemon=True
            )
            process.start()
            theirs.close()
            processes[ours] = process
            ours.send(portion)
        busy = list(processes)
        while busy:
            ready: list[Any] = wait(busy)
            for connection in ready:
                found, error = _received(connection, processes[connection])
                if error is not None:
                    raise error
                following = next(left, None)
                if following is None:
                    busy.remove(connection)
                    connection.close()  # the process ends while others are busy
                else:  # before anybody looks at what was found: the process need not wait
                    connection.send(following)
                yield found
    finally:
        for process in processes.values():
            process.terminate()
        for connection, process in processes.items():
            process.join()
            connection.close()


def _received(connection: Any, process: Any) -> tuple[Any, BaseException | None]:
    """Return what a process has found, and what it has raised."""
    try:
        found, error, where = connection.recv()
    except (EOFError, ConnectionResetError):
        process.join()
        said = f"a process has ended by itself, with exit code {process.exitcode}"
        if process.exitcode < 0:
            said += f" ({signal.Signals(-process.exitcode).name})"
        return None, RuntimeError(f"{said}; mode='serial' shows where")
    if error is not None:
        error.__cause__ = RuntimeError(f"in a forked process:\n{where}")
    return found, error


def _serve(work: Callable[[Any], Any], connection: Connection, others: list[Connection]) -> None:
    """Do portions as they come, until this process is ended, or nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who has forked this process ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()
    while True:
        try:
            portion = connection.recv()
        except (EOFError, ConnectionResetError):
            return
        answer: tuple[Any, BaseException | None, str]
        try:
            answer = (work(portion), None, "")
        except BaseException as error:
            answer = (None, _sendable(error), traceback.format_exc())
        try:
            connection.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            return


def _sendable(error: BaseException) -> BaseException:
    """Return an exception, or what can be said of it if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
