"""Motions of many runs: written by whoever runs them, once, without copies on the way."""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import signal
import tracemalloc
from multiprocessing.connection import Connection

import numpy as np
import pytest

from genalpha import sweep
from genalpha.driver import motions as module
from genalpha.driver.forks import POSSIBLE, share_out
from genalpha.driver.motions import LITTLE, MOTION, Motions, SharedArrays
from genalpha.errors import InvalidOptionError
from genalpha.mechanisms import simple_pendulum
from genalpha.model import Mechanism

# Python 3.12 and newer warn before they fork if other tests have left threads behind
pytestmark = [
    pytest.mark.skipif(not POSSIBLE, reason="this system cannot fork"),
    pytest.mark.filterwarnings("default:.*multi-threaded.*:DeprecationWarning"),
]
BIG = LITTLE // 8  # numbers


def falling(g):
    return Mechanism(force=lambda t, q, v: np.array([-g]), q0=[0.0], v0=[0.0])


def open_files():
    return len(os.listdir("/proc/self/fd"))


def motion(rows, value=1.0):
    o = simple_pendulum()
    n = o.n_q
    return [np.full((rows, k), value) for k in (n, n, n, o.n_lam, o.n_psi, o.n_z)]


@pytest.mark.parametrize("shared", [False, True])
def test_what_is_not_reached_is_nan(shared):
    motions = Motions(3, 5, simple_pendulum(), shared)
    motions.put(1, motion(5, 2.0))
    motions.put(2, None)
    motions.put(0, motion(2, 3.0))
    for x in motions.filled():
        assert x.shape[:2] == (3, 5)
        assert (x[1] == 2.0).all() and np.isnan(x[2]).all()
        assert (x[0, :2] == 3.0).all() and np.isnan(x[0, 2:]).all()


@pytest.mark.parametrize("mode", ["serial", "forks", "threads"])
def test_runs_of_another_kind_are_named(mode):
    def made(constrained):
        return simple_pendulum() if constrained else falling(1.0)

    with pytest.raises(InvalidOptionError, match="run 1 has 1 of what run 0 has 2 of"):
        sweep(made, {"constrained": [True, False]}, 0.1, h=0.01, mode=mode, workers=2)


@pytest.mark.parametrize("size", [10, BIG])
def test_processes_write_and_only_this_one_has_it(size):
    shared = SharedArrays([(2, size), (2, 0), (2, 3)])

    def work(i):
        shared.arrays[0][i], shared.arrays[2][i] = i + 1.0, i + 10.0

    list(share_out(work, [0, 1], 2))
    found = shared.filled()
    assert [x.shape for x in found] == [(2, size), (2, 0), (2, 3)]
    np.testing.assert_array_equal(found[0], np.repeat([[1.0], [2.0]], size, axis=1))
    np.testing.assert_array_equal(found[2], np.repeat([[10.0], [11.0]], 3, axis=1))

    def spoil(i):
        found[0][:] = np.nan
        return bool(np.isnan(found[0]).all())

    assert list(share_out(spoil, [0], 1)) == [True]
    assert not np.isnan(found[0]).any()  # a fork's changes stay in the fork
    found[0][0] = 7.0  # and results can be changed as others can
    assert (found[0][0] == 7.0).all() and (shared.arrays[0][0] == 1.0).all()
    assert (pickle.loads(pickle.dumps(found))[0] == found[0]).all()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs files in memory")
def test_big_results_are_not_copied_and_nothing_stays():
    gc.collect()
    before = open_files()
    shared = SharedArrays([(BIG,)])
    shared.arrays[0][:] = 1.0
    found = shared.filled()
    assert isinstance(found[0].base, mmap.mmap)
    small = SharedArrays([(9,)]).filled()
    assert small[0].flags.owndata
    del shared
    gc.collect()
    assert (found[0] == 1.0).all() and open_files() == before + 1
    del found
    gc.collect()
    assert open_files() == before


def test_without_files_in_memory(monkeypatch):
    def refused(name):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(module.os, "memfd_create", refused, raising=False)
    shared = SharedArrays([(2, BIG)])
    list(share_out(lambda i: shared.arrays[0][i].fill(i), [0, 1], 2))
    found = shared.filled()
    assert found[0].flags.owndata and (found[0] == [[0.0], [1.0]]).all()


def test_motions_do_not_go_through_pipes(monkeypatch):
    """What the processes send back does not grow with what is kept."""
    read = []
    receive = Connection.recv

    def counting(self):
        found = receive(self)
        read.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(Connection, "recv", counting)
    sizes = {}
    for kept in (11, 1001):
        read.clear()
        times = np.linspace(0.0, 1.0, kept)
        runs = sweep(
            falling, {"g": [1.0, 2.0, 3.0]}, 1.0, t_eval=times, h=1e-3, mode="forks", workers=2
        )
        sizes[kept] = sum(read)
        assert len(read) == 3 and runs.q.shape == (3, kept, 1)
        np.testing.assert_allclose(runs.q[:, -1, 0], [-0.5, -1.0, -1.5], atol=1e-12)
    assert sizes[1001] == sizes[11] < 3000


def test_a_killed_process_leaves_nothing():
    gc.collect()
    before = open_files() if os.path.isdir("/proc/self/fd") else 0

    def made(g):
        if g == 2.0:
            os.kill(os.getpid(), signal.SIGKILL)
        return falling(g)

    with pytest.raises(RuntimeError, match="ended by itself"):
        sweep(made, {"g": [1.0, 2.0]}, 1.0, h=0.01, mode="forks", workers=2)
    gc.collect()
    assert not before or open_files() == before


def test_all_that_a_solution_has_is_kept():
    runs = sweep(falling, {"g": [1.0]}, 1.0, h=0.1, mode="serial")
    for key in MOTION:
        assert getattr(runs, key).shape[:2] == (1, 101)


def test_memory_grows_as_the_results():
    times = np.linspace(0.0, 1.0, 1001)

    def peak(count):
        tracemalloc.start()
        try:
            gs = np.linspace(1.0, 2.0, count)
            runs = sweep(falling, {"g": gs}, 1.0, t_eval=times, h=1e-3, mode="serial")
            return tracemalloc.get_traced_memory()[1], sum(getattr(runs, x).nbytes for x in MOTION)
        finally:
            tracemalloc.stop()

    peak(1)  # with what is made once
    (few, kept_of_few), (many, kept_of_many) = peak(10), peak(50)
    assert many - few < 1.2 * (kept_of_many - kept_of_few)
