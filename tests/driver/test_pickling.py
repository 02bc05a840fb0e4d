"""Mechanisms, solutions and errors travel to other processes, and copies are independent."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from genalpha import Mechanism, integrate, mechanisms
from genalpha.errors import InvalidOptionError

from .support import SCHEMES, pendulum

#: A script of its own, as multiprocessing needs it: callbacks are found by their module's name.
MODEL = """\
import numpy as np
from genalpha import Mechanism, integrate

def force(t, q, v):
    return np.array([0.0, -9.81])

def rod(t, q):
    return np.array([q @ q - 1.0])

def floor(t, q, v):
    return q[1] + 0.9

def swing(start):
    return integrate(start, 0.5, h=0.01, events=[floor], t_eval=[0.0, 0.25, 0.5])

def starts():
    angles = np.linspace(0.2, 1.4, 4)
    return [Mechanism(force=force, holonomic=rod, q0=[np.cos(x), -np.sin(x)], v0=[0, 0])
            for x in angles]
"""
MAIN = """\
import multiprocessing, pickle, sys
import numpy as np
from genalpha import imports
import model

if __name__ == "__main__":
    assert imports.COMPILED == (sys.argv[1] == "compiled"), imports.MODE
    alone = [model.swing(x) for x in model.starts()]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        together = pool.map(model.swing, model.starts())
    for a, b in zip(alone, together):
        assert np.array_equal(a.q, b.q) and np.array_equal(a(0.123).lam, b(0.123).lam)
        assert np.array_equal(a.t_events[0], b.t_events[0])
        assert a.statistics == b.statistics
    print(len(together), sum(len(x.t_events[0]) for x in together))
"""


def wall(t, q, v):
    return q[0]


wall.impact = lambda t, q, v: -0.5 * v


def same(a, b) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("mode", ["compiled", "plain"])
def test_a_pool_of_processes(mode: str, tmp_path: Path) -> None:
    from genalpha import imports

    if mode == "compiled" and not imports.COMPILED:
        pytest.skip("nothing is compiled here")
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "main.py").write_text(MAIN)
    environment = {**os.environ, "GENALPHA_PLAIN": "1" if mode == "plain" else ""}
    run = subprocess.run(
        [sys.executable, tmp_path / "main.py", mode],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    solutions, events = map(int, run.stdout.split())
    assert solutions == 4 and events >= 2


def test_joblib_takes_closures_too() -> None:
    joblib = pytest.importorskip("joblib")
    starts = [pendulum(v0=[0.0, speed]) for speed in (0.0, 1.0)]
    jobs = [joblib.delayed(integrate)(start, 0.2, h=0.01) for start in starts]
    found = joblib.Parallel(n_jobs=2)(jobs)
    assert same([x.q for x in found], [integrate(start, 0.2, h=0.01).q for start in starts])


@pytest.mark.parametrize("t_eval", [None, [0.1, 0.2]])
@pytest.mark.parametrize("scheme", [*SCHEMES, "StabilizedRK2"])
def test_a_solution_comes_back(scheme: str, t_eval) -> None:
    solution = integrate(mechanisms.simple_pendulum(), 0.3, scheme, h=0.01, t_eval=t_eval)
    for again in (pickle.loads(pickle.dumps(solution)), copy.deepcopy(solution)):
        assert type(again) is type(solution)
        assert same(again(0.123), solution(0.123))
        assert same(
            [again.t, again.q, again.a, again.lam],
            [solution.t, solution.q, solution.a, solution.lam],
        )
        assert again.statistics == solution.statistics
        assert again.mechanism.name == "simple_pendulum"


def test_redundant_constraints_and_impacts_come_back() -> None:
    closed = integrate(mechanisms.closed_chain(), 0.02, h=0.005)
    assert same(pickle.loads(pickle.dumps(closed))(0.011), closed(0.011))
    bounced = integrate(mechanisms.simple_pendulum(angle0=1.5), 0.8, events=[wall])
    again = pickle.loads(pickle.dumps(bounced))
    assert len(bounced.impulses) == 1
    assert same(again.impulses[0], bounced.impulses[0])
    t = bounced.t_events[0][0]
    assert same(again(t, side="before"), bounced(t, side="before"))


@pytest.mark.parametrize("name", mechanisms.catalogue())
def test_the_catalogue(name: str) -> None:
    """References are closures; a mechanism of the catalogue is pickled by how it was made."""
    o = mechanisms.catalogue()[name]()
    other = o.replace(q0=o.q0 + 1e-3, name="moved")
    for original in (o, other):
        again = pickle.loads(pickle.dumps(original))
        assert again.name == original.name
        assert same([again.q0, again.v0], [original.q0, original.v0])
        state = (0.1, o.q0, o.v0, o.z0) if o.n_z else (0.1, o.q0, o.v0)
        assert np.array_equal(again.force(*state), original.force(*state), equal_nan=True)
        assert (again.reference is None) == (original.reference is None)


def test_a_mechanism_has_its_own_data() -> None:
    """A start that is changed in a loop does not reach mechanisms made from it before."""
    start = np.array([1.0, 0.0])
    first = pendulum(q0=start)
    start[:] = [0.0, -1.0]
    for again in (first.replace(), copy.deepcopy(first), copy.copy(first)):
        assert isinstance(again, Mechanism)
        assert again.q0.tolist() == [1.0, 0.0]


def test_errors_come_back() -> None:
    with pytest.raises(InvalidOptionError) as caught:
        integrate(pendulum(), 1.0, rtol=-1.0, no_such_option=3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.faults == caught.value.faults
