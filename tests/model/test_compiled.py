"""Callbacks of Python compiled by numba: the same numbers, and plain words where that fails."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from genalpha import Mechanism
from genalpha.errors import UnsupportedProblemError
from genalpha.kernels import Native

pytest.importorskip("numba", reason="needs the extra [numba]")

M = np.diag([2.0, 3.0])


def square(x):
    return x * x


def force(t, q, v):
    return np.array([-0.1 * v[0], -9.81 + math.sin(t)])


def mass(t, q):
    return M + 0.1 * np.outer(q, q)


def rod(length):
    def g(t, q):
        return 0.5 * (
            square(q[0]) + square(q[1]) - length**2
        )  # a helper, and a number from outside

    return g


def G(t, q):
    return [[q[0], q[1]]]


def rate(t, q, v):
    x, y = q.tolist()
    return (x * v[0] + y * v[1],)


def stiffness(t, q, v, vdot, lam, psi):
    return lam[0] * np.eye(2)


def mechanism(**changes):
    given = {
        "mass": mass,
        "force": force,
        "holonomic": rod(1.3),
        "holonomic_jacobian": G,
        "holonomic_rate": rate,
        "stiffness": stiffness,
        "q0": [1.3, 0.0],
        "v0": [0.0, 0.5],
    }
    return Mechanism(**given | changes)


def test_same_numbers():
    """Arrays, lists, tuples and numbers as results; helpers and closures."""
    o = mechanism()
    c = o.compiled()
    state = 0.3, np.array([0.5, -1.2]), np.array([0.7, 0.1]), np.array([1.0, 2.0])
    state = (*state, np.array([0.4]), np.zeros(0))
    for name, count in (("mass", 2), ("force", 3), ("holonomic", 2), ("holonomic_jacobian", 2),
                        ("holonomic_rate", 3), ("stiffness", 6)):  # fmt: skip
        assert isinstance(getattr(c, name), Native)
        found, expected = (getattr(x, name)(*state[:count]) for x in (c, o))
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)
    assert c.compiled() is c


def writes(t, q, v):
    q[0] = 1.0
    return q


class Method:
    def force(self, t, q, v):
        return force(t, q, v)


@pytest.mark.parametrize(
    ("bad", "why", "instead"),
    [
        (writes, "setitem", "do not write to the arguments"),
        (Method().force, "is a method", "write it with def or lambda"),
        (lambda t, q, v: (q, v), "returns", "return an array of shape (2,)"),
    ],
)
def test_what_cannot_be_compiled_is_named(bad, why, instead):
    o = Mechanism(force=force, q0=[1.0, 0.0], v0=[0.0, 0.5])
    o._arguments["force"] = bad  # some of them cannot even be called
    with pytest.raises(UnsupportedProblemError) as caught:
        o.compiled()
    text = str(caught.value)
    assert text.startswith("force ") and why in text and instead in text and "\x1b" not in text


def test_partly_and_pickled():
    o = Mechanism(force=Method().force, mass=mass, q0=[1.0, 0.0], v0=[0.0, 0.0])
    with pytest.raises(UnsupportedProblemError, match="partly=True"):
        o.compiled()
    c = o.compiled(partly=True)
    for found in (c, pickle.loads(pickle.dumps(c))):
        assert isinstance(found.mass, Native) and not isinstance(found.force, Native)


def test_exceptions_and_wrong_sizes_are_no_numbers():
    """What a C function cannot raise is NaN, which a run stops at; not what was there before."""
    o = Mechanism(
        force=lambda t, q, v: np.ones(2 if t < 1.0 else 1), q0=[1.0, 0.0], v0=[0.0, 0.0]
    ).compiled()
    np.testing.assert_array_equal(o.force(0.0, np.zeros(2), np.zeros(2)), [1.0, 1.0])
    assert np.isnan(o.force(2.0, np.zeros(2), np.zeros(2))).all()


SCRIPT = """
import sys
import numpy as np
from genalpha import Mechanism
def make(g):
    def force(t, q, v):
        return np.array([g * q[0]])
    return force
LATER = float(sys.argv[1])
def of_global(t, q):
    return np.array([q[0] * LATER])
o = Mechanism(force=make(float(sys.argv[1])), holonomic=of_global, q0=[0.0], v0=[1.0]).compiled()
x = np.array([2.0])
print(o.force(0.0, x, x)[0], o.holonomic(0.0, x)[0])
"""


def test_kept_between_processes_and_never_stale(tmp_path):
    """The same file with other values of a closure and of a global."""
    script = tmp_path / "model.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    for value in ("3.0", "5.0"):
        done = subprocess.run(
            [sys.executable, str(script), value],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == [str(2.0 * float(value))] * 2
    kept = [x.name for x in (tmp_path / "kept").rglob("*.nbc")]
    assert any("force" in x for x in kept) and not any("of_global" in x for x in kept)
