"""Forked processes: results as they come; errors, Ctrl-C and sudden ends leave nothing behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import pytest

from genalpha.driver.forks import POSSIBLE, is_safe, share_out

pytestmark = [
    pytest.mark.skipif(not POSSIBLE, reason="this system cannot fork"),
    # Python 3.12 and newer warn of threads that other tests have left behind
    pytest.mark.filterwarnings("default:.*multi-threaded.*:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _nothing_stays():
    before = set(multiprocessing.active_children())
    yield
    assert set(multiprocessing.active_children()) == before


def test_each_portion_once_in_other_processes():
    offset = 7  # of a closure, which could not be pickled
    found = list(share_out(lambda i: (i + offset, os.getpid()), range(20), 3))
    assert sorted(value for value, _ in found) == list(range(7, 27))
    pids = {pid for _, pid in found}
    assert os.getpid() not in pids and 1 <= len(pids) <= 3


class Odd(Exception):  # noqa: N818
    """It cannot be pickled."""

    def __init__(self, text):
        super().__init__(text)
        self.why = lambda: text


def test_what_is_raised_is_raised_here():
    def work(i):
        if i == 3:
            raise KeyError("three")
        return i

    with pytest.raises(KeyError, match="three") as raised:
        list(share_out(work, range(6), 2))
    assert 'raise KeyError("three")' in str(raised.value.__cause__)

    def odd(i):
        raise Odd("one")

    with pytest.raises(RuntimeError, match="Odd: one"):
        list(share_out(odd, range(2), 2))


def test_a_process_that_is_killed_is_named():
    with pytest.raises(RuntimeError, match=r"ended by itself.*SIGKILL"):
        list(share_out(lambda i: os.kill(os.getpid(), signal.SIGKILL), range(4), 2))


def test_interrupts_end_long_work():
    """Ctrl-C reaches all processes of a terminal: here this one and a worker."""

    def work(i):
        os.kill(os.getpid(), signal.SIGINT)  # which the worker must survive ...
        os.kill(os.getppid(), signal.SIGINT)  # ... until this one ends it
        time.sleep(60.0)

    begin = time.monotonic()
    # a shell starts what runs in its background with interrupts ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(share_out(work, [0], 1))
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 30.0


def test_what_nobody_wants_is_not_waited_for():
    begin = time.monotonic()
    results = share_out(lambda i: time.sleep(60.0 * i), [0, 1], 2)
    assert next(results) is None
    results.close()
    assert time.monotonic() - begin < 30.0


def test_not_safe_beside_other_threads():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not is_safe()
    finally:
        done.set()
        thread.join()
