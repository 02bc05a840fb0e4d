"""Runs in machine code: the same as by the general way, up to what Newton's iteration leaves."""

from __future__ import annotations

import ctypes
import subprocess
import threading
from itertools import pairwise

import numpy as np
import pytest
from scipy import LowLevelCallable

from genalpha import Mechanism, integrate
from genalpha.errors import GenAlphaError
from genalpha.formulas import libraries
from genalpha.imports import COMPILED
from genalpha.mechanisms import lagrangians
from genalpha.schemes import native

pytest.importorskip("sympy", reason="needs the extra [symbolic]")
pytestmark = pytest.mark.skipif(not COMPILED, reason="there is no compiled code")

SCHEMES = ("GenAlphaI3", "GenAlphaSOI2", "HHTI2")
NUMBER, NUMBERS, ANY = ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p


def both(monkeypatch, o, t_final, scheme, **options):
    """Integrate in machine code and by the general way."""
    fast = integrate(o, t_final, scheme, **options)
    with monkeypatch.context() as patch:
        patch.setattr(native, "COMPILED", False)
        return fast, integrate(o, t_final, scheme, **options)


def assert_same(fast, slow, accuracy=1e-7):
    np.testing.assert_allclose(fast.t, slow.t, rtol=4e-16)
    for name in ("q", "v", "vdot", "a", "lam", "psi"):
        x, y = getattr(fast, name), getattr(slow, name)
        assert x.shape == y.shape
        assert np.abs(x - y).max(initial=0.0) <= accuracy * (1.0 + np.abs(y).max(initial=0.0)), name


#: HHTI2 needs an invertible mass, and in machine code no nonholonomic constraint.
WITHOUT_HHTI2 = ("slider_crank", "rolling_disk")


def each(*names):
    """Return schemes and mechanisms that go together."""
    return [
        (scheme, name)
        for scheme in SCHEMES
        for name in names
        if scheme != "HHTI2" or name not in WITHOUT_HHTI2
    ]


@pytest.mark.parametrize(
    ("scheme", "name"), each("driven_pendulum", "chain", "slider_crank", "rolling_disk")
)
def test_same_motion_at_the_same_cost(monkeypatch, scheme, name):
    """The last step is shorter than the others."""
    o = getattr(lagrangians, name)()
    fast, slow = both(monkeypatch, o, 0.3004, scheme, h=1e-3)
    assert_same(fast, slow)
    a, b = fast.statistics, slow.statistics
    assert (a.nsteps, a.h_min, a.h_max) == (b.nsteps, b.h_min, b.h_max)
    assert abs(a.nniters - b.nniters) < 0.05 * b.nniters
    assert abs(a.njacs - b.njacs) < 0.2 * b.njacs + 3
    assert a.calls.keys() == b.calls.keys()
    assert abs(a.calls["force"] - b.calls["force"]) < 0.05 * b.calls["force"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_second_order(scheme):
    """With steps of machine code only, on a run that is long enough."""
    o = lagrangians.driven_pendulum()
    times = np.linspace(0.1, 1.0, 10)
    runs = [integrate(o, 1.0, scheme, h=h, t_eval=times) for h in (4e-3, 2e-3, 1e-3, 2.5e-4)]
    for name in ("q", "v", "lam"):
        best = getattr(runs[-1], name)
        errors = [np.abs(getattr(run, name) - best).max() for run in runs[:-1]]
        assert all(3.2 < a / b < 5.5 for a, b in pairwise(errors)), errors


@pytest.mark.parametrize("scheme", SCHEMES)
def test_goes_on_where_it_ended(monkeypatch, scheme):
    o = lagrangians.four_bar()
    whole = integrate(o, 0.4, scheme, h=1e-3)
    longer = integrate(o, 0.2, scheme, h=1e-3).continued(0.4)
    assert_same(longer, whole, 1e-6)
    backward, slow = both(monkeypatch, o, -0.2, scheme, h=1e-3, t_eval=[-0.05, -0.1])
    assert_same(backward, slow)


def in_c(vectors):
    """Return a decorator that makes a C function pointer out of a Python function."""
    return ctypes.CFUNCTYPE(None, NUMBER, *[NUMBERS] * (vectors + 1), ANY)


@in_c(1)
def g(t, q, out, data):
    out[0] = 0.5 * (q[0] ** 2 + q[1] ** 2 - 1.0)


@in_c(1)
def G(t, q, out, data):
    out[0], out[1] = q[0], q[1]


@in_c(2)
def rate(t, q, v, out, data):
    out[0] = q[0] * v[0] + q[1] * v[1]


ROD = {"holonomic": g, "holonomic_jacobian": G, "holonomic_rate": rate}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_counted_is_called_and_tangents_are_differenced(monkeypatch, scheme):
    calls = 0

    @in_c(2)
    def force(t, q, v, out, data):
        nonlocal calls
        calls += 1
        out[0], out[1] = -3.0 * v[0] * abs(v[0]) - 50.0 * q[0], -9.81

    o = Mechanism(force=force, q0=[0.6, 0.8], v0=[0.0, 0.0], **ROD)
    calls = 0
    fast = integrate(o, 0.3, scheme, h=1e-3)
    assert calls == fast.statistics.calls["force"]
    with monkeypatch.context() as patch:
        patch.setattr(native, "COMPILED", False)
        slow = integrate(o, 0.3, scheme, h=1e-3)
    assert_same(fast, slow)
    assert fast.statistics.nfcnjacs == 3 * fast.statistics.njacs > 0


@pytest.mark.parametrize("bad", [float("nan"), 1e300])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_failures_are_told_as_ever(monkeypatch, scheme, bad):
    """With the motion up to there."""

    @in_c(2)
    def force(t, q, v, out, data):
        out[0], out[1] = bad if t > 0.2005 else 0.0, -9.81

    o = Mechanism(force=force, q0=[0.6, 0.8], v0=[0.0, 0.0], **ROD)
    told = []
    for compiled in (True, False):
        monkeypatch.setattr(native, "COMPILED", compiled)
        with pytest.raises(GenAlphaError) as caught:
            integrate(o, 1.0, scheme, h=1e-3)
        told.append(caught.value)
    fast, slow = told
    assert type(fast) is type(slow)
    assert str(fast).split(":")[:2] == str(slow).split(":")[:2]
    assert "t = 0.2 " in str(fast)
    assert fast.solution.t[-1] == slow.solution.t[-1] == pytest.approx(0.2)


WAITING = """
void force(double t, const double *q, const double *v, double *out, void *data) {
    volatile double *at = data;
    if (t > 0.5) { at[0] = 1.0; for (long i = 0; i < 20000000000 && at[1] == 0.0; i++); }
    out[0] = 0.0; out[1] = -9.81;
}
"""


@pytest.mark.skipif(not libraries.compiler(), reason="no C compiler")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_steps_do_not_hold_the_gil(tmp_path, scheme):
    """The force waits for an answer of another thread, which Python must let run meanwhile."""
    source, made = tmp_path / "waiting.c", tmp_path / "waiting.so"
    source.write_text(WAITING)
    subprocess.run(
        [*libraries.compiler(), "-O1", "-shared", "-fPIC", "-o", made, source], check=True
    )
    flags = (ctypes.c_double * 2)()
    force = ctypes.CDLL(str(made)).force
    force.restype, force.argtypes = None, [NUMBER, *[NUMBERS] * 3, ANY]
    given = LowLevelCallable(force, ctypes.cast(flags, ANY))
    o = Mechanism(force=given, q0=[0.6, 0.8], v0=[0.0, 0.0])

    def answer():
        while not flags[0]:
            pass
        flags[1] = 1.0

    other = threading.Thread(target=answer, daemon=True)
    other.start()
    integrate(o, 0.6, scheme, h=1e-3, t_eval=[0.6])
    other.join(timeout=10.0)
    assert not other.is_alive() and flags[1] == 1.0


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 0.1, 37)])
@pytest.mark.parametrize(
    ("scheme", "name"), each("simple_pendulum", "four_bar", "slider_crank", "rolling_disk")
)
def test_many_steps_at_once_are_those_one_by_one(scheme, name, t_eval):
    """The slider-crank has coordinates without mass, which only constraints accelerate."""
    solution = integrate(getattr(lagrangians, name)(), 0.1, scheme, h=1e-3, t_eval=t_eval)
    right = np.arange(0) if t_eval is None else solution._right_of_all(t_eval)
    at_once, alone = solution._at_once(t_eval, right), solution._one_by_one(t_eval)
    assert at_once is not None
    for x, y in zip(at_once, alone, strict=True):
        assert x.shape == y.shape
        assert np.abs(x - y).max(initial=0.0) <= 1e-11 * (1.0 + np.abs(y).max(initial=0.0))
