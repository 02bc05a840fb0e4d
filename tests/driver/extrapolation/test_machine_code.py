"""To a wanted error with mechanisms from formulas: the same as by the general way, in less time."""

from __future__ import annotations

import numpy as np
import pytest

from genalpha import integrate
from genalpha.driver import Options, Stepper
from genalpha.driver.extrapolation.columns import Columns
from genalpha.driver.extrapolation.points import CLOSE, consistent, consistent_at
from genalpha.imports import COMPILED
from genalpha.mechanisms import catalogue, lagrangians
from genalpha.numerics.initial_values import accelerations
from genalpha.numerics.interpolation import Knot
from genalpha.schemes import native
from genalpha.schemes.native import native_states

pytest.importorskip("sympy", reason="needs the extra [symbolic]")
pytestmark = pytest.mark.skipif(not COMPILED, reason="there is no compiled code")


def generally(monkeypatch, work):
    """Return what something gives without machine code."""
    with monkeypatch.context() as patch:
        patch.setattr(native, "COMPILED", False)
        return work()


@pytest.mark.parametrize(
    ("scheme", "name", "t_final"),
    [
        ("GenAlphaI3", "slider_crank", 0.1),
        ("GenAlphaSOI2", "rolling_disk", 0.5),
        ("HHTI2", "four_bar", 0.3),
        ("HHTI2", "andrews_squeezer", 0.005),
        (None, "driven_pendulum", -0.5),
    ],
)
def test_same_result(monkeypatch, scheme, name, t_final):
    """Also at times between points, where the motion is put onto the constraints."""
    o = getattr(lagrangians, name)()
    times = np.linspace(0.0, t_final, 12)

    def run():
        return integrate(o, t_final, scheme, error=1e-6, t_eval=times)

    fast, slow = run(), generally(monkeypatch, run)
    assert [x.steps for x in fast.statistics.columns] == [x.steps for x in slow.statistics.columns]
    for kind in ("q", "v", "vdot", "lam", "psi"):
        x, y = getattr(fast, kind), getattr(slow, kind)
        assert np.abs(x - y).max(initial=0.0) <= 1e-6 * np.abs(y).max(initial=0.0), kind
    for x, y in zip(fast.error, slow.error, strict=True):
        # estimates of what Newton's iteration leaves, too
        assert np.abs(x - y).max(initial=0.0) <= 0.2 * np.abs(y).max(initial=0.0)
    for solution in (fast, slow):
        for t, q, v in zip(solution.t, solution.q, solution.v, strict=True):
            assert np.abs(o.holonomic(t, q)).max(initial=0.0) < 1e-14
            assert np.abs(o.holonomic_rate(t, q, v)).max(initial=0.0) < 1e-12


def test_all_steps_of_columns_are_machine_code(monkeypatch):
    """What is counted in Python does not grow with the number of steps."""
    o = lagrangians.four_bar()
    counts = []
    real = native.native_steps
    monkeypatch.setattr("genalpha.schemes.hhti2.native_steps", lambda *x: watched(real(*x), counts))
    solution = integrate(o, 0.3, "HHTI2", error=1e-6)
    assert sorted(counts) == sorted(x.steps for x in solution.statistics.columns)


def watched(steps, counts):
    class Watched:
        def __getattr__(self, name):
            return getattr(steps, name)

        def run(self, *arguments):
            counts.append(steps.run(*arguments))
            return counts[-1]

    return Watched()


@pytest.mark.parametrize("name", ["four_bar", "rolling_disk", "slider_crank"])
def test_states_near_the_constraints(name):
    o, random = getattr(lagrangians, name)(), np.random.default_rng(0)
    count = 5
    times = np.full(count, o.t0)
    q = o.q0 + 1e-7 * random.standard_normal((count, o.n_q))
    v = o.v0 + 1e-7 * random.standard_normal((count, o.n_q))
    known = native_states(o, times, q, v)
    for i in range(count):
        one_by_one = np.concatenate(accelerations(o, o.t0, q[i], v[i], *o.multiplier_guess()))
        assert np.abs(known[i] - one_by_one).max() <= 1e-10 * np.abs(one_by_one).max()
    for i, knot in enumerate(consistent_at(o, times, q, v)):
        alone = consistent(o, o.t0, q[i], v[i], *o.multiplier_guess())
        for x, y in zip(knot, alone, strict=True):
            assert np.abs(x - y).max(initial=0.0) <= 1e-10 * (1.0 + np.abs(y).max(initial=0.0))


def test_where_it_says_no():
    """States far away, callbacks of Python, redundant constraints."""
    o = lagrangians.four_bar()
    times, q, v = np.zeros(1), o.q0[None] + 0.3, o.v0[None].copy()
    assert native_states(o, times, q.copy(), v.copy(), CLOSE) is None
    assert native_states(o.replace(redundant="least"), times, q, v) is None
    assert native_states(catalogue()["four_bar"](), times, q, v) is None
    assert consistent_at(catalogue()["four_bar"](), times, o.q0[None], v) is None


def test_graded_steps_are_not_taken_for_equal_ones(monkeypatch):
    """Those at both ends are of the same size here."""
    o = lagrangians.simple_pendulum()
    start = Knot(o.t0, o.q0, o.v0, np.zeros(o.n_q), *o.multiplier_guess())

    def times(steps):
        x = np.arange(steps + 1) / steps
        t = x - 0.1 * np.sin(2.0 * np.pi * x) / np.pi
        return np.round(t * 2**40) / 2**40

    def run():
        return Columns(times, Stepper(o, Options("HHTI2", o)), start, True).run(16)

    sizes = np.diff(times(16))
    assert sizes[0] == sizes[-1] < 0.9 * sizes[8]
    fast, slow = run(), generally(monkeypatch, run)
    np.testing.assert_array_equal(fast.q, slow.q)
