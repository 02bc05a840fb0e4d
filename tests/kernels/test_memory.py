"""Arrays are given out again: never while somebody holds them, or has changed what they are."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from genalpha import imports
from genalpha.kernels import plus, zeros

pytestmark = pytest.mark.skipif(not imports.COMPILED, reason="nothing is compiled here")
MANY = 1000
ONE = np.ones(3)


def made():
    return plus(ONE, 1.0, ONE)


def test_memory_is_used_again():
    """What was given out last comes back first once it has been let go: it is still in the cache.

    As long as an array is remembered, no new one can have its identity.
    """
    last = id(zeros(9))
    assert {id(zeros(9)) for _ in range(10)} == {last}
    kept = [zeros(9) for _ in range(10)]
    assert len({id(x) for x in kept}) == 10
    last = id(kept[-1])
    del kept
    assert id(zeros(9)) == last


@pytest.mark.parametrize("size", [0, 1, 3, 31, 32, 33, 100])
def test_arrays_that_are_kept_stay_what_they_are(size):
    one = np.ones(size)
    kept = [plus(float(i) * one, 1.0, one) for i in range(MANY)]
    for i, x in enumerate(kept):
        assert x.shape == (size,)
        assert np.all(x == i + 1.0)


@pytest.mark.parametrize("held", [lambda x: x[1:], memoryview, lambda x: x.reshape(3, 1)])
def test_views_hold_too(held):
    views = [held(made()) for _ in range(MANY)]
    for _ in range(MANY):
        zeros(3)
    assert all(np.all(np.asarray(view) == 2.0) for view in views)


def locked(x):
    x.flags.writeable = False


def reshaped(x):
    x.shape = (3, 1)


def reread(x):
    x.dtype = np.int64


@pytest.mark.parametrize("change", [locked, reshaped, reread])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_was_changed_is_not_given_out_again(change):
    for _ in range(MANY):
        change(made())
    for _ in range(MANY):
        x = zeros(3)
        assert x.shape == (3,)
        assert x.dtype == float
        assert x.flags.writeable


FEW_REFERENCES = """
import weakref
from genalpha.kernels import zeros
references = [weakref.ref(zeros(7)) for _ in range(5)]
given_out = {id(zeros(7)) for _ in range(1000)}
still_there = {id(reference()) for reference in references if reference() is not None}
assert still_there
assert not still_there & given_out
"""


def test_a_weak_reference_never_sees_other_values():
    # in a process of its own: arrays that other tests hold would push these out of the memory
    subprocess.run([sys.executable, "-c", FEW_REFERENCES], check=True)
