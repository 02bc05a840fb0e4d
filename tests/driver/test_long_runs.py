"""Very many steps: with `t_eval` memory does not grow with them, and nothing else changes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from genalpha import Mechanism, integrate, mechanisms
from genalpha.driver import record


def few(monkeypatch, rows=300):
    monkeypatch.setattr(record, "ROWS", rows)
    monkeypatch.setattr(record, "BYTES", 0)
    monkeypatch.setattr(record, "LARGEST", 64)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_what_is_let_go_changes_no_result(monkeypatch, seed, scheme):
    """Random output times, bounces, either direction of time: the same numbers."""
    rng = np.random.default_rng(seed)
    end = float(rng.choice([-3.0, 3.0]))
    t_eval = end * np.sort(rng.random(rng.integers(1, 40)))
    if seed % 2:
        o, events = mechanisms.simple_pendulum(), []
    else:
        o = Mechanism(force=lambda t, q, v: [-10.0], q0=[1.0], v0=[0.0])
        floor = lambda t, q, v: q[0]  # noqa: E731
        floor.impact = lambda t, q, v: -0.9 * v
        events = [floor]
        t_eval = np.append(t_eval, np.sign(end) * np.sqrt(0.2))  # at an impact, and not in order
    asked = {"scheme": scheme, "h": 1e-3, "t_eval": t_eval, "events": events}
    whole = integrate(o, end, **asked)
    few(monkeypatch)
    thinned = integrate(o, end, **asked)
    assert thinned.steps.size < 700 < 3000 < whole.steps.size
    for name in ("t", "vdot", "lam", "a"):
        np.testing.assert_array_equal(getattr(thinned, name), getattr(whole, name))
    # a whole record is interpolated all at once, in another order of operations: eps / h in v
    for name in ("q", "v"):
        np.testing.assert_allclose(getattr(thinned, name), getattr(whole, name), atol=1e-12)
    np.testing.assert_array_equal(thinned(end).q, whole(end).q)
    for t in t_eval:
        np.testing.assert_array_equal(thinned(t).q, whole(t).q)
    assert thinned.statistics.nsteps == whole.statistics.nsteps
    # between them there is either the motion, or an error that says why not
    missing = 0
    for t in np.linspace(0.0, end, 200):
        if thinned._right_of(t) in thinned.origin.gaps:
            missing += 1
            with pytest.raises(ValueError, match="Put this time into t_eval"):
                thinned(t)
        else:
            np.testing.assert_array_equal(thinned(t).q, whole(t).q)
    assert missing > 100


def test_a_thinned_run_goes_on(monkeypatch):
    o = mechanisms.simple_pendulum()
    asked = {"h": 1e-3, "t_eval": [0.5, 1.0]}
    whole = integrate(o, 2.0, **asked).continued(4.0)
    few(monkeypatch)
    longer = integrate(o, 2.0, **asked).continued(4.0)
    np.testing.assert_array_equal(longer(4.0).q, whole(4.0).q)
    np.testing.assert_array_equal(longer(1.0).q, whole(1.0).q)
    with pytest.raises(ValueError, match="let go"):
        longer(0.75)


@pytest.mark.parametrize("scheme", ["GenAlphaI3", "GenAlphaSOI2", "HHTI2"])
def test_memory_does_not_grow(monkeypatch, scheme):
    few(monkeypatch, 2000)
    o = mechanisms.simple_pendulum()
    used = []
    force = o.force

    def watched(t, q, v):
        if int(t) == len(used):
            used.append(tracemalloc.get_traced_memory()[0])
        return force(t, q, v)

    tracemalloc.start()
    try:
        integrate(o.replace(force=watched), 11.5, scheme, h=1e-3, t_eval=np.arange(12.0))
    finally:
        tracemalloc.stop()
    # steps of a second take 80 kB and more
    assert used[11] - used[4] < 20_000
